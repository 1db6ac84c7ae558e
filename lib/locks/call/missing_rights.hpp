#pragma once

#include <string>
#include <string_view>

namespace paddock::detail {

class core;

/// The rights of a contender: it creates, lists, reads and deletes nodes there.
std::string rights_in(std::string_view directories);

/// Logs that the ensemble has refused an operation of the lock at `path`, which needs these rights.
void tell_missing_rights(core& client, const std::string& path, std::string_view rights);

} // namespace paddock::detail
