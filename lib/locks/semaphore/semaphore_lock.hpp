#pragma once

#include "locks/fair/fair_lock.hpp"

#include <cstddef>
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

/// Throws system_error for a number of permits that the semaphore can never give.
void check_count(const semaphore_lock& lock, std::int32_t count);

// On the strand of the client.

/// The name of a permit node without its sequence number.
std::string lease_prefix(const semaphore_lock& lock, rules::node_id id);
/// The bytes of the node budget that one permit node uses.
std::size_t permit_bytes(const semaphore_lock& lock);
/// The same of all nodes of a call for so many permits, its node in the queue included.
std::size_t acquire_bytes(const semaphore_lock& lock, std::size_t count);

} // namespace paddock::detail
