#pragma once

#include "locks/mutex_impl.hpp"

#include <paddock/mutex.hpp>

#include <memory>
#include <vector>

namespace paddock::detail {

/// Lists a mutex's directory and reads every contender's node, all reads in one flight.
void find_contenders(std::shared_ptr<mutex_impl> of,
                     handler<void(error_code, std::vector<contender>)> h);

} // namespace paddock::detail
