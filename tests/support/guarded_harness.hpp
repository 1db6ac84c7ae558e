#pragma once

#include "lock_harness.hpp"

#include <boost/asio/steady_timer.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

// Helpers for the tests of guarded operations.

namespace paddock::test {

using journal = std::vector<std::string>;

inline asio::awaitable<void> for_an_hour() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    co_await timer.async_wait(asio::use_awaitable);
}

inline error_code code_in(std::exception_ptr failure) {
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const system_error& error) {
        return error.code();
    } catch (...) {
    }
    return {};
}

inline std::string text_in(std::exception_ptr failure) {
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

/// Goods of which a guarded operation takes three, and a record of its steps.
struct shelf {
    int goods = 10;
    fencing_token claimed{}, seen{};
    journal done;
    guarded_steps<int> steps{
        .claim = [this](fencing_token token) -> asio::awaitable<bool> {
            claimed = token;
            co_return true;
        },
        .record = [this]() -> asio::awaitable<int> {
            done.push_back("record");
            co_return goods;
        },
        .operate = [this](int&) -> asio::awaitable<void> { return take(); },
        .commit = [this](int&, fencing_token token) -> asio::awaitable<void> {
            done.push_back("commit");
            seen = token;
            co_return;
        },
        .restore = [this](int& before) -> asio::awaitable<void> {
            done.push_back("restore");
            goods = before;
            co_return;
        },
    };

    asio::awaitable<void> take() {
        done.push_back("operate");
        goods -= 3;
        co_return;
    }
};

/// A guarded operation under way.
struct guarding : pending<guarded_result> {
    guarded_result& end() { return std::get<0>(result); }
};

inline asio::awaitable<void> follow(std::shared_ptr<guarding> p, const guard& g,
                                    guarded_steps<int> steps) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    p->end() = co_await guarded(g, std::move(steps));
    ++p->times;
}

inline std::shared_ptr<guarding> begin(const asio::any_io_executor& executor, const guard& g,
                                       guarded_steps<int> steps) {
    const auto p = std::make_shared<guarding>();
    const auto ends = [](std::exception_ptr failure) { CHECK_FALSE(failure); };
    asio::co_spawn(executor, follow(p, g, std::move(steps)),
                   asio::bind_cancellation_slot(p->stop.slot(), ends));
    return p;
}

inline asio::awaitable<void> ended(std::shared_ptr<guarding> p) {
    co_await eventually([&] { return p->done(); });
}

inline void expect(const guarded_result& result, guarded_outcome what, error_code why) {
    CHECK(result.outcome == what);
    CHECK(static_cast<bool>(result) == (what == guarded_outcome::committed));
    CHECK(static_cast<bool>(result.reason) == (what != guarded_outcome::committed));
    CHECK_MESSAGE(code_in(result.reason) == why, text_in(result.reason));
    CHECK(static_cast<bool>(result.restore_failure) == (what == guarded_outcome::restore_failed));
}

} // namespace paddock::test
