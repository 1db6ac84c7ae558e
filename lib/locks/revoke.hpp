#pragma once

#include "locks/line_lock.hpp"

#include <paddock/detail/initiate.hpp>

#include <memory>
#include <string>

namespace paddock::detail {

// One call of revoke(), and of kick(): for a node of this lock, whose path is without the root.
void ask_back(std::shared_ptr<const line_lock> lock, handler<void(error_code)> h, std::string path);
void kick(std::shared_ptr<const line_lock> lock, handler<void(error_code)> h, std::string path);

} // namespace paddock::detail
