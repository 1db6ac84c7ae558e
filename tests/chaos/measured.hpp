#pragma once

#include "support/co_test.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <vector>

// Measurements by the machine-wide clock, while the event loop runs.

namespace paddock::test {

inline double in_seconds(boot_clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

inline asio::awaitable<void> a_moment() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
}

/// How much validity a guard had left, each millisecond for so long; the least first.
inline asio::awaitable<std::vector<boot_clock::duration>>
validity_left(const guard& g, boot_clock::duration looked_at) {
    std::vector<boot_clock::duration> seen;
    const auto end = boot_clock::now() + looked_at;
    while (boot_clock::now() < end) {
        seen.push_back(g.valid_until() - boot_clock::now());
        co_await a_moment();
    }
    std::sort(seen.begin(), seen.end());
    co_return seen;
}

/// Waits until a guard is not valid any more, and returns until when it was.
inline asio::awaitable<boot_clock::time_point> end_of_validity(const guard& g) {
    boot_clock::time_point last{};
    for (;;) {
        const auto until = g.valid_until();
        if (!g.valid()) co_return last;
        last = std::max(last, until);
        co_await a_moment();
    }
}

} // namespace paddock::test
