#pragma once

#include "locks/line_lock.hpp"

#include <paddock/contender.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

/// Lists a lock's directory and reads every contender's node, all reads in one flight.
void find_contenders(std::shared_ptr<const line_lock> of,
                     handler<void(error_code, std::vector<contender>)> h);
/// The same, and says only who holds the lock; of several that share it, the first.
void find_holder(std::shared_ptr<const line_lock> of,
                 handler<void(error_code, std::optional<contender>)> h);

} // namespace paddock::detail
