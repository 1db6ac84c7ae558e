#include "systems/systems.hpp"

namespace paddock::detail {

open_system redis_system() { return {}; }

} // namespace paddock::detail
