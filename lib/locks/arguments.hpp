#pragma once

#include <paddock/znode.hpp>

#include <cstddef>
#include <string_view>

namespace paddock::detail {

/// Of the 1 MiB that a request may have, the path of a node must stay far below.
inline constexpr std::size_t longest_path = 512;

// What the constructors of locks throw for arguments that they do not take: system_error with
// errc::bad_argument and a text that begins with the argument's name.

void check_path(std::string_view argument, std::string_view path);
/// `options`: the name of the struct that they are members of.
void check_node(std::string_view options, const acl& entries, std::string_view label);

} // namespace paddock::detail
