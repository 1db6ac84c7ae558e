#pragma once

#include "locks/fair/contenders.hpp"
#include "locks/semaphore/semaphore_lock.hpp"

#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/semaphore.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

/// Reads the permit nodes, the queue and the counter.
void find_state(std::shared_ptr<const semaphore_lock> of,
                handler<void(error_code, semaphore_state)> h);
/// The same, as one list, without the counter.
void find_contenders(std::shared_ptr<const semaphore_lock> of,
                     handler<void(error_code, std::vector<contender>)> h);
/// The permit nodes; every node in their directory counts.
contender_query permit_nodes(const semaphore_lock& of);
/// Finds the owner of the first permit node.
void find_holder(std::shared_ptr<const semaphore_lock> of,
                 handler<void(error_code, std::optional<contender>)> h);

} // namespace paddock::detail
