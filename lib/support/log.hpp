#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/log.hpp>

#include <chrono>
#include <cstdint>
#include <ratio>
#include <string>

namespace paddock {

/// How many enumerators `log_code` has; they count from one.
inline constexpr std::size_t log_codes = 25;

log_level level_of(log_code code) noexcept;

/// A duration as a line of the log has it: `40 ms`, `3.4 s`, `75 s`, `12 min`, `3 h`.
std::string in_words(boot_clock::duration time);

/// A time in milliseconds since 1970, as ZooKeeper has it: `2026-11-26 21:51:16 UTC`.
std::string date_in_words(std::int64_t milliseconds);

} // namespace paddock
