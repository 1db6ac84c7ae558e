#pragma once

#include "support/environment.hpp"

#include <cstdint>

namespace paddock::test::sim {

using duration = boot_clock::duration;
using time_point = boot_clock::time_point;

/// Everything that is random in a history comes from here, and all of it from one seed.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

    std::uint64_t next() noexcept { // splitmix64
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    int below(int limit) noexcept {
        return static_cast<int>(next() % static_cast<std::uint64_t>(limit));
    }
    bool one_in(int n) noexcept { return below(n) == 0; }
    duration between(duration low, duration high) noexcept {
        const auto span = static_cast<std::uint64_t>((high - low).count()) + 1;
        return low + duration(static_cast<std::int64_t>(next() % span));
    }
    template <typename Container>
    auto& any_of(Container& from) noexcept {
        return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
    }

private:
    std::uint64_t state_;
};

} // namespace paddock::test::sim
