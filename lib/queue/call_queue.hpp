#pragma once

#include "queue/node_terms.hpp"
#include "rules/contender.hpp"

#include <paddock/error.hpp>
#include <paddock/fencing_token.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace paddock::detail {

/// What waits in a queue. The queue calls it on the strand: either failed() or given_up(), and then
/// nothing more, or granted() and later perhaps lost(). It may do so from within
/// call_queue::join().
class queue_user {
public:
    virtual ~queue_user() = default;
    virtual void granted(const std::string& path, const fencing_token& token) = 0;
    virtual void given_up() = 0;
    virtual void failed(error_code why) = 0;
    virtual void lost(error_code why) = 0;
    virtual void revoke_requested() {} ///< another client asks for the lock back
    virtual void downgraded(const std::string& path) { (void)path; } ///< the path of the new node
    virtual void downgrade_refused(error_code why) { (void)why; }
    virtual void queue_changed() {} ///< only while lock_queue::observe()
};

/// How a contender joins the queue.
struct entry_terms {
    rules::contender_terms rules;
    bool fail_over_budget = false; ///< does not wait for the node budget
    bool bytes_reserved = false;   ///< by the caller; the queue returns them to the budget
    bool uses_path = true;         ///< false: its caller has a path_use of its own for it
    std::shared_ptr<const node_terms> nodes;
    std::chrono::system_clock::time_point since; ///< of the call, for the node's data
};

/// Where the calls of one client wait for a lock: in the lock queue, each as a contender of its
/// own, or in the line of a sticky lock, which is one contender for all of them. A call does not
/// know in which. Strand only.
class call_queue {
public:
    virtual ~call_queue() = default;

    /// Of a call that joins next: before join(), which may grant it the lock from within.
    virtual rules::contender_key next_key() = 0;
    virtual void join(rules::contender_key key, std::shared_ptr<queue_user> user,
                      entry_terms how) = 0;
    /// A call that was not granted leaves.
    virtual void quit(rules::contender_key key) = 0;
    /// A granted call gives the lock back. `passable`: the next one may have the same node.
    virtual void release(rules::contender_key key, bool passable) = 0;
    /// Whether something that is known is before this call; for a key that has not joined, before
    /// one that would join now with this role.
    virtual bool known_blocked(rules::contender_key key, rules::role as) const = 0;
};

} // namespace paddock::detail
