#pragma once

#include <paddock/znode.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace paddock::rules {

/// The bytes of the length before a text, or the number before a list, in ZooKeeper's
/// serialization.
inline constexpr std::size_t length_field = 4;

// The size of a serialized request, or a few bytes more. The server compares it with its
// jute.maxbuffer.

std::size_t request_bytes(std::string_view path, std::string_view data = {},
                          const acl& entries = {});
std::size_t request_bytes(std::span<const operation> steps); ///< of a multi

} // namespace paddock::rules
