#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::rules {

/// The limit of a key in bytes. A trade: a client keeps the key while it is in use, and what is
/// longer is rather data.
inline constexpr std::size_t longest_key = 4096;

/// The limit of the name of a key's node in bytes; longer ones are replaced by a hash. It leaves
/// the family 311 bytes of a path's 512, and is wire format: it cannot change.
inline constexpr std::size_t longest_key_name = 200;

/// Why a text cannot be a key; empty if it can.
std::string key_fault(std::string_view key);

/// The name of the node of a key without fault. The name is wire format: paddock/lock_family.hpp
/// describes it. It has no fault, and different keys have different names.
std::string node_name_of_key(std::string_view key);

/// What the name of a key's node tells of the key.
struct key_in_name {
    std::string key;
    bool complete; ///< false: only its beginning, because the name has a hash in place of the rest
};
/// The inverse of node_name_of_key(); empty for a name that no key has.
std::optional<key_in_name> key_of_node_name(std::string_view name);

} // namespace paddock::rules
