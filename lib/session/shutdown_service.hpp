#pragma once

#include <memory>

namespace paddock::detail {

class core;

/// Has the core shut down when its execution context is destroyed, so that guards, mutexes and
/// clients may be destroyed later, in coroutine frames or elsewhere.
void end_with_context(const std::shared_ptr<core>& client);

} // namespace paddock::detail
