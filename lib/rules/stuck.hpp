#pragma once

#include <paddock/boot_clock.hpp>

#include <cstddef>
#include <optional>

namespace paddock::rules {

/// Contenders that have long waited behind a hold of their own client: the caller may itself be
/// the holder, and then waits for ever. Each contender is reported once.
struct stuck_waiters {
    std::size_t count = 0;
    std::optional<boot_clock::time_point> next{}; ///< when the next contender may be stuck
};

/// Adds a contender that has waited since `since`. True if it is stuck now; else it moves `next`.
inline bool is_stuck(stuck_waiters& all, boot_clock::time_point since, boot_clock::time_point now,
                     boot_clock::duration patience) {
    const auto due = since + patience;
    if (due <= now) {
        ++all.count;
        return true;
    }
    if (!all.next || due < *all.next) all.next = due;
    return false;
}

} // namespace paddock::rules
