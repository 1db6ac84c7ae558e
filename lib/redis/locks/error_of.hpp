#pragma once

#include "redis/rules/obstacle.hpp"
#include "redis/rules/scripts.hpp"

#include <paddock/error.hpp>

namespace paddock::redis::detail {

/// Wraps the obstacle as the error of a call; none for those that heal by themselves.
error_code error_of(rules::obstacle what) noexcept;

/// None if the server has executed the script, whatever it found.
error_code error_of(const rules::answer& said) noexcept;

} // namespace paddock::redis::detail
