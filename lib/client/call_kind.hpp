#pragma once

namespace paddock::detail {

/// Whether a lock call waits, or takes the lock only if it is free.
enum class call_kind { wait, immediate };

} // namespace paddock::detail
