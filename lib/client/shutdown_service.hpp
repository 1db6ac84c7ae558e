#pragma once

#include <memory>

namespace paddock::detail {

class client_base;

/// Shuts the client down when its execution context is destroyed, so that guards, mutexes and
/// clients may be destroyed later, for example in coroutine frames.
void end_with_context(const std::shared_ptr<client_base>& client);

} // namespace paddock::detail
