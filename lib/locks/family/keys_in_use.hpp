#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>

#include <memory>
#include <vector>

namespace paddock::detail {

/// Finds the keys of a family whose directories have nodes. Any thread.
void find_keys(std::shared_ptr<const fair_lock> family,
               handler<void(error_code, std::vector<key_in_use>)> h);

} // namespace paddock::detail
