#pragma once

#include "locks/semaphore/semaphore_lock.hpp"

#include <paddock/detail/initiate.hpp>
#include <paddock/semaphore.hpp>

#include <memory>

namespace paddock::detail {

/// Reads the permit nodes, the queue and the counter.
void find_state(std::shared_ptr<const semaphore_lock> of,
                handler<void(error_code, semaphore_state)> h);

} // namespace paddock::detail
