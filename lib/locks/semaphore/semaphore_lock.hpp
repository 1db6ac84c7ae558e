#pragma once

#include "locks/fair/fair_lock.hpp"

#include <cstdint>
#include <string>

namespace paddock::detail {

/// A semaphore, as its acquisitions share it; it does not change.
struct semaphore_lock {
    fair_lock queue;          ///< whoever acquires stands in this queue
    std::string directory;    ///< of the leases
    std::int32_t permits = 0; ///< how many there are, or the seed of their counter
    std::string counter;      ///< path of the node that says how many there are; empty: it is fixed

    bool fixed() const noexcept { return counter.empty(); }
};

} // namespace paddock::detail
