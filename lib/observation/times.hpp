#pragma once

#include "observation/counts.hpp"

#include <paddock/boot_clock.hpp>
#include <paddock/statistics.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace paddock::detail {

/// How many numbers of `counts` a histogram takes: its buckets, then the sum in nanoseconds.
inline constexpr std::size_t histogram_size = histogram::bounds.size() + 2;

inline std::size_t bucket_of(boot_clock::duration time) noexcept {
    const auto& bounds = histogram::bounds;
    std::size_t n = 0;
    while (n < bounds.size() && time > bounds[n])
        ++n;
    return n;
}

/// Adds a time to the histogram whose numbers begin there.
template <typename Change>
void add_time(Change& change, std::size_t begin, boot_clock::duration time) noexcept {
    const auto positive = std::max(time, boot_clock::duration::zero());
    change.add(begin + bucket_of(positive));
    change.add(begin + histogram_size - 1, static_cast<std::uint64_t>(positive.count()));
}

/// The histogram whose numbers begin there.
template <std::size_t Size>
histogram histogram_at(const std::array<std::uint64_t, Size>& numbers, std::size_t begin) noexcept {
    histogram out;
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(begin), out.counts.size(),
                out.counts.begin());
    out.sum = std::chrono::nanoseconds(numbers[begin + histogram_size - 1]);
    return out;
}

} // namespace paddock::detail
