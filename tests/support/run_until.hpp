#pragma once

#include "time_scale.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>

namespace paddock::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Runs the context until the predicate is true; false when it is not in time.
template <class Predicate>
bool run_until(asio::io_context& io, Predicate predicate, std::chrono::milliseconds limit = 10s) {
    const auto end = std::chrono::steady_clock::now() + scaled(limit);
    while (!predicate()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        io.restart();
        io.run_one_for(5ms);
    }
    return true;
}

} // namespace paddock::test
