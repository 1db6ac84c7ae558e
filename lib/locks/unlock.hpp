#pragma once

#include "locks/hold.hpp"

#include <paddock/detail/initiate.hpp>

#include <memory>

namespace paddock::detail {

/// Releases the hold, and completes when its node is gone.
void unlock(std::shared_ptr<hold> held, handler<void(error_code)> h);

} // namespace paddock::detail
