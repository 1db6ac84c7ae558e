#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>

#include <memory>
#include <optional>

namespace paddock::detail {

/// Waits until the first in the queue is another than the one with this token.
void find_next_leader(std::shared_ptr<const fair_lock> of,
                      handler<void(error_code, std::optional<contender>)> h, fencing_token seen);

} // namespace paddock::detail
