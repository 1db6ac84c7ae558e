#pragma once

#include "locks/fair/fair_lock.hpp"

#include <cstdint>
#include <string>

namespace paddock::detail {

/// The description of a semaphore, which its calls share. It does not change.
struct semaphore_lock {
    fair_lock queue;          ///< the queue that every call joins first
    std::string directory;    ///< of the permit nodes
    std::int32_t permits = 0; ///< the number of permits, or the initial value of the counter
    std::string counter;      ///< path of the node with the number of permits; empty: fixed

    bool fixed() const noexcept { return counter.empty(); }
};

} // namespace paddock::detail
