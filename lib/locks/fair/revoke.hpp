#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/detail/initiate.hpp>

#include <memory>
#include <string>

namespace paddock::detail {

// The calls revoke() and kick(), for a node of this lock; `path` is without the client's root.
void request_revoke(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
                    std::string path);
void kick(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h, std::string path);

} // namespace paddock::detail
