#pragma once

#include "co_test.hpp"

#include <paddock/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

// Coroutines in the background of a test.

namespace paddock::test {

/// A coroutine that can be cancelled, and how it ended.
struct task {
    asio::cancellation_signal stop;
    std::optional<std::exception_ptr> end;

    /// The code of the exception that ended the coroutine.
    error_code error() const {
        REQUIRE(end);
        if (!*end) return {};
        try {
            std::rethrow_exception(*end);
        } catch (const system_error& e) {
            return e.code();
        }
    }
};

template <class Coroutine>
std::shared_ptr<task> spawn(asio::any_io_executor executor, Coroutine what) {
    const auto t = std::make_shared<task>();
    asio::co_spawn(executor, std::move(what),
                   asio::bind_cancellation_slot(
                       t->stop.slot(), [t](std::exception_ptr failure) { t->end = failure; }));
    return t;
}

inline asio::awaitable<void> ended(std::shared_ptr<task> t) {
    co_await eventually([&] { return t->end.has_value(); });
}

inline asio::awaitable<void> sleep_until_cancelled(asio::any_io_executor executor) {
    asio::steady_timer never(executor, 1h);
    co_await never.async_wait(asio::use_awaitable);
}

} // namespace paddock::test
