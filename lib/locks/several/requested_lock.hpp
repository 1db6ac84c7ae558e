#pragma once

#include "locks/call/node_call.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/semaphore/semaphore_lock.hpp"
#include "session/reservation.hpp"

#include <paddock/guard.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace paddock::detail {

/// One of the locks of lock_all, and how the call takes it. Immutable.
struct requested_lock {
    std::shared_ptr<const fair_lock> lock; ///< or the queue of the semaphore
    rules::role as = rules::role::exclusive;
    std::shared_ptr<const semaphore_lock> permits_of{}; ///< empty unless it is for permits
    std::size_t permits = 0;

    const std::shared_ptr<core>& client() const noexcept { return lock->client; }
};

/// The sort key of a lock: the same order in all processes, and equal keys for the same lock. The
/// path, the lock's name, the servers.
using lock_position = std::tuple<std::string, std::string, std::vector<std::string>>;
lock_position position_of(const requested_lock& one);

/// The bytes of the node budget that all its nodes use. On the strand of its client.
std::size_t bytes_of(const requested_lock& one);

/// The call that takes the lock, with bytes from that reservation.
std::shared_ptr<node_call<guard>> make_call(const requested_lock& one,
                                            handler<void(error_code, guard)>&& done, bool immediate,
                                            std::shared_ptr<reservation> reserved);

} // namespace paddock::detail
