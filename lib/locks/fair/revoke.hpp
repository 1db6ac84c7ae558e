#pragma once

#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"

#include <paddock/detail/initiate.hpp>

#include <memory>
#include <string>

namespace paddock::detail {

/// The full path of a node that the query selects; empty if `path`, which is without the client's
/// root, is not one.
std::string node_in(const contender_query& query, const std::string& path);

// Write the request to release into this node, or delete the node; an empty path is refused.
void revoke_node(std::shared_ptr<core> client, handler<void(error_code)> h, std::string full_path);
void kick_node(std::shared_ptr<core> client, handler<void(error_code)> h, std::string full_path);

// The calls revoke() and kick(), for a node of this lock; `path` is without the client's root.
void request_revoke(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
                    const std::string& path);
void kick(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
          const std::string& path);

} // namespace paddock::detail
