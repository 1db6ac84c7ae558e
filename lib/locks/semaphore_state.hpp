#pragma once

#include "locks/lease_lock.hpp"

#include <paddock/detail/initiate.hpp>
#include <paddock/semaphore.hpp>

#include <memory>

namespace paddock::detail {

/// Looks at the leases, at the line of those who acquire, and at the counter.
void find_state(std::shared_ptr<const lease_lock> of, handler<void(error_code, semaphore_state)> h);

} // namespace paddock::detail
