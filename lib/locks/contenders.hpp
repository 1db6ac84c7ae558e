#pragma once

#include "locks/line_lock.hpp"

#include <paddock/mutex.hpp>

#include <memory>
#include <vector>

namespace paddock::detail {

/// Lists a lock's directory and reads every contender's node, all reads in one flight.
void find_contenders(std::shared_ptr<const line_lock> of,
                     handler<void(error_code, std::vector<contender>)> h);

} // namespace paddock::detail
