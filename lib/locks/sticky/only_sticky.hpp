#pragma once

#include "locks/fair/fair_lock.hpp"
#include "support/function.hpp"

#include <memory>

namespace paddock::detail {

/// Calls `done` with true if the lock has no contender, or only a sticky node of another client, so
/// that the lock may be free. Reads only; an answer that is lost counts as false. Strand only.
void when_only_sticky(const std::shared_ptr<const fair_lock>& lock,
                      unique_function<void(bool)> done);

} // namespace paddock::detail
