#pragma once

#include "hold_journal.hpp"

namespace paddock::test {

struct findings {
    /// What must not have happened, each with the holds that show it.
    std::vector<std::string> violations{};
    std::size_t acquisitions = 0;
    std::size_t lost = 0;
    /// Processes were killed while they held these, or are at it.
    std::size_t unfinished = 0;
    /// Between two grants, whatever the lock, and when that time began.
    boot_clock::duration longest_pause{};
    boot_clock::time_point pause_began{};
    /// Of each lock.
    std::map<std::string, std::size_t> grants{};
    /// How many were inside one lock at one time, at most.
    std::size_t together = 0;
};

/// Goes through the holds of all processes:
/// - Nobody is valid beside an exclusive holder, and no more permits are out than there are; until
///   the last moment that a guard was seen to be valid, and until the end that it promised, unless
///   it was given back before.
/// - A token is higher than all before it, but for those of readers among themselves; the permits
///   of a semaphore have no order.
findings check(std::vector<hold_record> holds, int permits);

} // namespace paddock::test
