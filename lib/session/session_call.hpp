#pragma once

#include "client/pending_call.hpp"
#include "session/core.hpp"

#include <memory>

namespace paddock::detail {

/// An application call of a client of ZooKeeper.
template <typename... Result>
using session_call = pending_call<core, Result...>;

template <typename... Result>
using session_call_ptr = std::shared_ptr<session_call<Result...>>;

} // namespace paddock::detail
