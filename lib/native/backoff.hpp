#pragma once

#include "support/backoff.hpp"

namespace paddock::native {

using paddock::backoff;

} // namespace paddock::native
