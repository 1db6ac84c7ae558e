#pragma once

#include "hold_journal.hpp"

namespace paddock::test {

struct findings {
    /// Violations, each with the holds that show it.
    std::vector<std::string> violations{};
    std::size_t holds = 0;
    std::size_t lost = 0;
    /// Holds whose process was killed, or is still running.
    std::size_t unfinished = 0;
    /// Between two grants, whatever the lock, and when that time began.
    boot_clock::duration longest_pause{};
    boot_clock::time_point pause_began{};
    /// Of each lock.
    std::map<std::string, std::size_t> grants{};
    /// The greatest number of holds of one lock at one time.
    std::size_t together = 0;
};

/// Goes through the holds of all processes:
/// - No hold is valid beside an exclusive one, and holds have no more permits than there are. A
/// hold
///   counts until the last moment that its guard was seen to be valid, and until the end that it
///   promised, unless it was released before.
/// - The token of an exclusive hold is higher than all before it.
findings check(std::vector<hold_record> holds, int permits);

} // namespace paddock::test
