#pragma once

#include "support/program.hpp"

#include <paddock/paddock.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace paddock::test {

/// How one contender takes what the others want too. What the lock does not have is left out.
struct way {
    /// How much of the limit it takes.
    int weight = 1;
    std::function<asio::awaitable<guard>()> wait{};
    std::function<asio::awaitable<guard>(std::chrono::milliseconds)> wait_for{};
    std::function<asio::awaitable<guard>()> at_once{};
    /// In two steps, or twice.
    std::function<asio::awaitable<guard>()> step_by_step{};
    /// Whether it can turn into a reader.
    bool downgrades = false;
};

/// The way of the contender with this number; throws if there is no such kind.
way way_of(const arguments& given, const client& zk, int number);

/// Takes it in all these ways, one after the other, and by changing its mind. Empty if it has given
/// up.
asio::awaitable<guard> take(const way& how, int round);

asio::awaitable<void> pause(std::chrono::milliseconds time);

/// About as long as it takes to come to the head of the line, so that both happens: that it is
/// granted in time, and that it is not.
inline constexpr std::chrono::milliseconds patience{5};

} // namespace paddock::test
