#pragma once

#include "line/line.hpp"
#include "locks/line_lock.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>

#include <memory>

namespace paddock::detail {

/// The line of a lock.
std::shared_ptr<line> line_of(const line_lock& lock);

/// How one who wants the lock in this way enters its line.
entry_terms terms_of(const line_lock& lock, rules::role as, bool only_if_free);

/// What is wrong with a look at a directory; one that does not exist is empty.
error_code look_problem(core& client, int code);

/// Whether the lock is free: what this client knows comes first, then a listing. Nothing is
/// written. May answer from within.
void look_first(std::shared_ptr<const line_lock> lock, std::shared_ptr<line> at, rules::role as,
                unique_function<void(error_code, bool free)> done);

} // namespace paddock::detail
