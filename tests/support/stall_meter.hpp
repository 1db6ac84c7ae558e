#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace paddock::test {

/// How late a busy machine wakes a runnable thread: promises about time hold only as far as the
/// machine lets the library run. A thread of its own measures it.
///
///     const stall_meter stalls;
///     ...
///     CHECK(took < 150ms + stalls.allowance());
class stall_meter {
    using clock = std::chrono::steady_clock;
    static constexpr auto nap = std::chrono::milliseconds(1);

public:
    stall_meter() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

    /// Several threads and processes work on an answer, and each may be late.
    clock::duration allowance() const {
        return 4 * std::max(longest_.load(), clock::now() - woken_.load() - nap);
    }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(nap);
            const auto now = clock::now();
            longest_ = std::max(longest_.load(), now - woken_.load() - nap);
            woken_ = now;
        }
    }

    std::atomic<clock::duration> longest_{clock::duration::zero()};
    std::atomic<clock::time_point> woken_{clock::now()};
    std::jthread thread_; // last, so that it starts after the other members
};

} // namespace paddock::test
