#pragma once

#include "client/hold_limit.hpp"

#include <paddock/options.hpp>
#include <paddock/znode.hpp>

#include <cstddef>
#include <string_view>

namespace paddock::detail {

class core;

/// The limit of a node's path in bytes, far below the 1 MiB of the largest request. A trade:
/// the budgets for nodes and watches have room for one or two thousand of this length.
inline constexpr std::size_t longest_path = 512;

/// The limit of text that other contenders read: all of them fetch it. With the next limit and a
/// path it fits into the smallest client_options::max_request_bytes.
inline constexpr std::size_t longest_text = 16 * 1024;

/// The limit of an access control list, as a request has it. Each create sends it.
inline constexpr std::size_t longest_acl = 16 * 1024;

// The argument checks of the locks' constructors. They throw system_error with errc::bad_argument
// and a text that begins with the argument's name.

void check_path(std::string_view argument, std::string_view path);
/// An access control list with which this client can make nodes.
void check_acl(const core& client, std::string_view argument, const acl& entries);
/// Text that other contenders read: UTF-8, at most 16 KiB.
void check_text(std::string_view argument, std::string_view text);
/// Checks the members `on_expiry` and `on_over_budget` of the struct `options`.
void check_choices(std::string_view options, on_expiry expired, on_over_budget full);
/// Checks the members `acl` and `label` of the struct `options`.
void check_node(const core& client, std::string_view options, const acl& entries,
                std::string_view label);

} // namespace paddock::detail
