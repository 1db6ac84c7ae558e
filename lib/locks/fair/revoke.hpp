#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/detail/initiate.hpp>

#include <memory>
#include <string>

namespace paddock::detail {

// One call of revoke(), and of kick(): for a node of this lock, whose path is without the root.
void request_revoke(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
                    std::string path);
void kick(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h, std::string path);

} // namespace paddock::detail
