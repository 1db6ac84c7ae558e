#pragma once

#include "session/request.hpp"

#include <paddock/error.hpp>
#include <paddock/znode.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace paddock::detail {

class core;

// Errors for arguments that ZooKeeper or its C client would refuse; each names the argument.
error_code fault(std::string_view path, std::string_view name = "path");
error_code fault(const core& client, const acl& entries, std::string_view name = "acl");
error_code fault(const core& client, const create_options& how);
error_code fault(const core& client, const std::vector<operation>& steps);
/// A request that is larger than this client may send.
error_code fault(const core& client, const request& what);

bool has_credentials(const core& client);

/// Puts the root before the paths of a multi's steps.
std::vector<operation> below(std::string_view root, std::vector<operation> steps);
/// Removes the root from the paths of a multi's results.
std::vector<operation_result> without(std::string_view root,
                                      std::span<const operation_result> results);

} // namespace paddock::detail
