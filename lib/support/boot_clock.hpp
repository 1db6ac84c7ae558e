#pragma once

#include "support/environment.hpp"

namespace paddock {

/// The machine's boot_clock, for whoever has no environment: a guard's `valid()` is called on any
/// thread. Costs no system call.
boot_clock::time_point boot_time() noexcept;

} // namespace paddock
