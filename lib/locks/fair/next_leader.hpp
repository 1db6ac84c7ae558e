#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>

#include <memory>
#include <optional>

namespace paddock::detail {

/// Waits until the first node of the queue has another token than this.
void find_next_leader(std::shared_ptr<const fair_lock> of,
                      handler<void(error_code, std::optional<contender>)> h, fencing_token seen);

} // namespace paddock::detail
