#pragma once

#include "client/client_base.hpp"
#include "observation/lock_series.hpp"

#include <paddock/observer.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace paddock::detail {

/// The lock in its client's statistics: under `group`, the member of the struct `options`, or, if
/// that is empty, under its path. Throws system_error with errc::bad_argument for a group that is
/// not acceptable. Any thread.
std::shared_ptr<const counted_lock> count_lock(client_base& client, std::string_view options,
                                               std::string_view group, std::string_view path,
                                               lock_kind kind, std::string label = {});

} // namespace paddock::detail
