#pragma once

#include <paddock/options.hpp>

#include <string_view>

namespace paddock::detail {

/// Checks the member `hold_limit` of the struct `options`; throws system_error with
/// errc::bad_argument and a text that begins with the argument's name.
void check_hold_limit(std::string_view options, const hold_limit& limit);

} // namespace paddock::detail
