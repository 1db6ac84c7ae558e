#pragma once

#include "locks/simple/simple_lock.hpp"

#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>

#include <memory>

namespace paddock::detail {

enum class holder_change {
    revoke, ///< writes the request to release
    kick,   ///< deletes the node and its marker
};

/// The calls revoke() and kick() of a simple_mutex, for the holder that a read has shown. Any
/// thread.
void change_holder(const std::shared_ptr<simple_lock>& lock, handler<void(error_code)> h,
                   const contender& holder, holder_change how);

} // namespace paddock::detail
