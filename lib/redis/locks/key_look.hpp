#pragma once

#include "redis/locks/line_lock.hpp"

#include <paddock/redis/held_key.hpp>

#include <optional>
#include <string>

namespace paddock::redis::detail {

// The calls holder() and kick(), of the lock with this name. Any thread.
void find_holder(const line_lock& lock, std::string_view name,
                 handler<void(error_code, std::optional<held_key>)> h);
void kick(const line_lock& lock, std::string_view name, const held_key& target,
          handler<void(error_code, bool)> h);

} // namespace paddock::redis::detail
