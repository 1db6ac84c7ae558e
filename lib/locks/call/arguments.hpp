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
void check_acl(std::string_view argument, const acl& entries);
/// What others read: UTF-8, at most 16 KiB.
void check_text(std::string_view argument, std::string_view text);
/// Both, as members `acl` and `label` of the struct `options`.
void check_node(std::string_view options, const acl& entries, std::string_view label);

} // namespace paddock::detail
