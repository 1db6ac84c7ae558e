#pragma once

#include "lock_harness.hpp"

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

namespace paddock::test {

/// How somebody who waits goes away.
enum class way_out { total, terminal, time_limit };
inline constexpr way_out ways_out[] = {way_out::total, way_out::terminal, way_out::time_limit};

/// It goes, and is told so. Who goes by its time limit was given one when it began.
inline asio::awaitable<void> leave(asking a, way_out how) {
    if (how == way_out::total) a->cancel(asio::cancellation_type::total);
    if (how == way_out::terminal) a->cancel(asio::cancellation_type::terminal);
    co_await finished(a);
    CHECK_FALSE(held(a));
    if (how == way_out::time_limit)
        CHECK_MESSAGE(!a->error, a->error.message());
    else
        CHECK(a->error == asio::error::operation_aborted);
}

} // namespace paddock::test
