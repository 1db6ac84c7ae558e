#pragma once

#include "queue/lock_queue.hpp"
#include "queue/node_terms.hpp"
#include "rules/names.hpp"
#include "rules/sticky.hpp"
#include "session/core.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {
class client;
}

namespace paddock::detail {

/// The description of a lock over a queue, which its calls share. Immutable.
struct fair_lock {
    std::shared_ptr<core> client;
    std::string directory; ///< begins with the client's root
    rules::naming names;
    rules::style style = rules::style::curator;
    std::shared_ptr<const node_terms> nodes;
    bool sync_first = false;
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit;
    bool own_directory = false; ///< see rules::own_directories
    bool turn_only = false;     ///< see rules::contender_terms
    rules::sticky_terms sticky{};
    std::shared_ptr<const counted_lock> counted; ///< of a family all have one
};

/// Makes the description of a mutex or recursive_mutex; throws for invalid arguments.
std::shared_ptr<const fair_lock> make_fair_lock(const client& zk, std::string_view path,
                                                mutex_options options,
                                                lock_kind kind = lock_kind::mutex);
/// The same of a shared_mutex or recursive_shared_mutex.
std::shared_ptr<const fair_lock> make_fair_lock(const client& zk, std::string_view path,
                                                shared_mutex_options options,
                                                lock_kind kind = lock_kind::shared_mutex);

template <typename Options>
std::shared_ptr<const node_terms> make_node_terms(const core& client, Options& options,
                                                  bool sticky = false) {
    return std::make_shared<const node_terms>(metadata(client.process(), options.label, sticky),
                                              std::move(options.acl), options.persistent_parents);
}

// For the lock's calls. Strand only.

std::shared_ptr<lock_queue> queue_of(const fair_lock& lock);

/// The terms of a contender with this role.
entry_terms terms_of(const fair_lock& lock, rules::role as, bool immediate);

/// The bytes of the node budget that the node of such a contender uses.
std::size_t entry_bytes(const fair_lock& lock, rules::role as);

/// The error of a listing with this code; a directory that does not exist counts as empty.
error_code listing_error(core& client, int code);

/// Checks whether the lock is free: first in this client's queue, then with a listing. Writes
/// nothing. May call `done` from within.
void check_if_free(std::shared_ptr<const fair_lock> lock, std::shared_ptr<lock_queue> queue,
                   rules::role as, unique_function<void(error_code, bool free)> done);

} // namespace paddock::detail
