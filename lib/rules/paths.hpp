#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::rules {

/// Why ZooKeeper would refuse a node path; empty if it is valid. The rules are those of the
/// server's PathUtils.validatePath (3.8).
std::string path_fault(std::string_view path);

/// Why a name cannot be one component of a path; empty if it can.
std::string name_fault(std::string_view name);

/// The bytes of the first character of a text that is not empty; 0 if it is not UTF-8, or cannot
/// stand in a name.
std::size_t name_character(std::string_view text) noexcept;

/// Why a text is not UTF-8; empty if it is.
std::string utf8_fault(std::string_view text);

/// A fault from one of these functions without the place, which depends on the text: there are only
/// a few.
std::string_view without_place(std::string_view fault) noexcept;

/// The directory above: `/a/b` → `/a`, `/a` → `/`.
std::string_view parent(std::string_view path) noexcept;

/// A node in a directory: (`/a`, `b`) → `/a/b`, (`/`, `b`) → `/b`.
std::string child(std::string_view directory, std::string_view name);

/// The last component.
std::string_view name_of(std::string_view path) noexcept;

/// Whether a path is below a root, and not the root itself; below no root is every path.
bool is_below(std::string_view root, std::string_view path) noexcept;

/// A path below a root (which is empty or has no slash at its end).
std::string below(std::string_view root, std::string_view path);

/// The same path without the root.
std::string without(std::string_view root, std::string_view path);

} // namespace paddock::rules
