#pragma once

#include <paddock/znode.hpp>

#include <string>
#include <string_view>

namespace paddock::detail {

// What the constructors of locks refuse; each throws a bad_argument that begins with `what`.

/// A lock's directory: a path that ZooKeeper takes, and does not use itself.
void check_lock_path(const std::string& what, std::string_view path);
void check_acl(const std::string& what, const acl& entries);
/// Something that others read: UTF-8, of a reasonable length.
void check_text(const std::string& what, std::string_view text);

} // namespace paddock::detail
