#pragma once

#include "support/program.hpp"

#include <paddock/paddock.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace paddock::test {

/// The calls by which one contender takes the lock. Calls that the lock does not have are empty.
struct way {
    /// How much of the limit it takes.
    int weight = 1;
    std::function<asio::awaitable<guard>()> wait{};
    std::function<asio::awaitable<guard>(std::chrono::milliseconds)> wait_for{};
    std::function<asio::awaitable<guard>()> at_once{};
    /// In two steps, or twice.
    std::function<asio::awaitable<guard>()> step_by_step{};
    /// Whether it can downgrade.
    bool downgrades = false;
};

/// The way of the contender with this number; throws if there is no such kind.
way way_of(const arguments& given, const client& zk, int number);

/// Takes the lock by all these calls, one after the other, and with cancelled waits. Empty if it
/// has given up.
asio::awaitable<guard> take(const way& how, int round);

asio::awaitable<void> pause(std::chrono::milliseconds time);

/// About as long as it takes to come to the head of the queue, so that some calls are granted in
/// time, and some are not.
inline constexpr std::chrono::milliseconds patience{5};

} // namespace paddock::test
