#pragma once

#include "support/lock_harness.hpp"

#include <vector>

// Helpers for the tests of sticky locks.

namespace paddock::test {

using codes = std::vector<std::int32_t>;

inline mutex_options lingering(std::chrono::milliseconds linger = 1min) {
    mutex_options options;
    options.linger = linger;
    return options;
}
inline mutex_options handing_on(std::uint32_t most = 1'000'000) {
    mutex_options options;
    options.max_local_handoffs = most;
    return options;
}

/// What the client has sent, but for the watch on the node of a hold that is older than 100 ms.
inline codes requests_of(const scene& s) {
    auto all = s.requests();
    std::erase(all, opcode::get);
    return all;
}

inline std::vector<lock_call> ask_often(mutex& m, int times) {
    std::vector<lock_call> all;
    all.reserve(static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i)
        all.push_back(ask(m));
    return all;
}

/// Waits until the client has listed the directory so many times.
inline asio::awaitable<void> until_listed(scene& s, std::size_t times) {
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::children2) >= times; });
}

/// The client has the lock, and knows that it is alone.
inline asio::awaitable<lock_call> take_alone(scene& s) {
    co_await s.zk.connect();
    s.proxy.forget_frames();
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await until_listed(s, 2);
    co_return a;
}

/// The lock is free, and lingers.
inline asio::awaitable<void> let_linger(scene& s) {
    const auto a = co_await take_alone(s);
    co_await unlocked(a);
    CHECK(s.queue().size() == 1);
}

} // namespace paddock::test
