#pragma once

#include "locks/call/metadata.hpp"
#include "queue/lock_queue.hpp"
#include "rules/names.hpp"
#include "session/core.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace paddock {
class client;
}

namespace paddock::detail {

/// A lock over a queue, as its calls share it; it does not change.
struct fair_lock {
    std::shared_ptr<core> client;
    std::string directory; ///< below the client's root
    rules::naming names;
    rules::style style = rules::style::curator;
    metadata data; ///< of its nodes
    paddock::acl acl;
    bool persistent_parents = false;
    bool sync_first = false;
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

/// What mutex and its kin are made of; throws for arguments that are not acceptable.
std::shared_ptr<const fair_lock> make_fair_lock(const client& zk, std::string_view path,
                                                mutex_options options);

// What a call does with such a lock, on the strand.

std::shared_ptr<lock_queue> queue_of(const fair_lock& lock);

/// How a contender with this role joins its queue.
entry_terms terms_of(const fair_lock& lock, rules::role as, bool only_if_free);

/// The bytes that such a contender's node takes of the budget of nodes.
std::size_t entry_bytes(const fair_lock& lock, rules::role as);

/// The error that a listing's code means for a look at a directory; a directory that does not exist
/// is empty.
error_code look_problem(core& client, int code);

/// Whether the lock is free: what this client knows comes first, then a listing. Writes nothing.
/// May answer from within.
void look_first(std::shared_ptr<const fair_lock> lock, std::shared_ptr<lock_queue> at,
                rules::role as, unique_function<void(error_code, bool free)> done);

} // namespace paddock::detail
