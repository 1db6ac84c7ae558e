#pragma once

#include "rules/actions.hpp"
#include "rules/claims.hpp"
#include "rules/leftovers.hpp"
#include "rules/outcome.hpp"
#include "rules/revoke_requests.hpp"
#include "rules/session_state.hpp"
#include "rules/stuck.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <variant>
#include <vector>

namespace paddock::rules {

/// Identifies one call of lock() on a simple lock.
using caller_key = std::uint64_t;

/// The actions that a simple lock asks its driver for. The driver sends the requests in their
/// order, so a look shows the result of the race before it.
namespace simple_act {

using common_act::await_lease;
using common_act::lose;
using common_act::make_parents;
using common_act::pause;
using common_act::taint;
using common_act::why;

struct glance { ///< read whether the lock's node exists
    caller_key key;
};
/// Reserve the bytes of two nodes. Answered by reserved(), by crowded() and later reserved(), or by
/// too_large().
struct reserve {};
struct unreserve {}; ///< return that reservation, or stop waiting for it
struct race {        ///< create the marker and the lock's node in one multi, with this id in both
    node_id id;
};
struct look { ///< read the lock's node, with a watch if the budget allows one
    std::uint64_t number;
};
struct forget {};     ///< drop that watch
struct restore_data { ///< write the node's data again: a request has overwritten it
    node_id id;
    std::int32_t version;   ///< only while the node's data has this version
    std::int64_t requested; ///< when the first request came: see revoke_requests
};
struct sweep { ///< delete, retry until it is gone, release id and reservation, call swept()
    node_id id;
    bool both; ///< the marker and the lock's node in one multi; else the marker alone
};

// Results for the callers.
struct grant {
    caller_key key;
    node_id id; ///< the argument of release()
    std::int64_t czxid;
};
struct request_revoke {}; ///< another client asks the holder to give the lock back
struct give_up {          ///< the lock is taken, and the caller is immediate
    caller_key key;
};
struct fail {
    caller_key key;
    why reason;
    int code; ///< the ensemble's error code, if refused
};

} // namespace simple_act

using simple_action =
    std::variant<simple_act::glance, simple_act::reserve, simple_act::unreserve, simple_act::race,
                 simple_act::look, simple_act::forget, simple_act::make_parents,
                 simple_act::restore_data, simple_act::sweep, simple_act::taint, simple_act::pause,
                 simple_act::await_lease, simple_act::grant, simple_act::request_revoke,
                 simple_act::give_up, simple_act::fail, simple_act::lose>;

struct simple_terms {
    bool fail_on_expiry = false;   ///< does not race again in the next session
    bool fail_over_budget = false; ///< does not wait for room in the budget
};

/// A simple lock, as one object of this client sees it: at any time the object races for one of its
/// callers. It sends nothing itself: the driver reports each event, then calls take() and carries
/// out the actions in their order.
///
/// A race creates the lock's node and, beside it, a marker with a unique name. The look behind the
/// race shows the owner of the lock's node (the id in its data), and sets the watch that reports
/// its end. A node that this object has created, or may have created, is deleted in one multi with
/// its marker: the multi fails when the marker is gone, so it never deletes another owner's node.
class simple {
public:
    using action = simple_action;

    simple(claims& ids, simple_terms how) : ids_(ids), how_(how) {}

    // Calls of the application.
    void join(caller_key key, bool immediate); ///< immediate: gives up unless granted at once
    void quit(caller_key key);                 ///< a caller that is not granted leaves
    void release(node_id id);                  ///< the hold gives the lock back
    void gone(node_id id);                     ///< the hold has found its node deleted

    // Events of the session.
    void connected();
    void disconnected();
    void expired();
    /// As session_state::lease().
    void lease(bool fit) noexcept { session_.lease(fit); }
    void lease_renewed();
    void now(boot_clock::time_point t) noexcept { session_.now(t); }

    // The answers to the actions, and the watch's events.
    void glanced(caller_key key, outcome result, int code);
    void reserved();
    void crowded();   ///< the budget is used up now; reserved() comes later
    void too_large(); ///< the budget will never allow it
    void raced(node_id id, outcome result, int code);
    struct looked_answer {
        outcome result;
        int code = 0;
        bool own_data = false;   ///< the node's data is what the present race wrote
        bool of_session = false; ///< the node's ephemeral owner is this session
        std::int64_t czxid = 0;
        bool watched = true; ///< false: the budget allows no watch
        std::optional<revoke_request> revoke{};
    };
    void looked(std::uint64_t number, looked_answer answer);
    /// Behind looked(): see left_since().
    void owner_left(std::optional<std::int64_t> ctime);
    void parents_made(outcome result, int code);
    void swept(node_id id);
    void resume();
    void changed(bool deleted);

    void take(std::vector<action>& actions);

    // As in rules::queue; the holder may be another lock object of this client.
    bool perhaps_stuck() const noexcept {
        return own_node_ && known_blocked() && !callers_.empty() && !callers_.back().reported_stuck;
    }
    stuck_waiters stuck(boot_clock::duration patience);
    /// Whether a caller waits for the lock, or has it.
    bool in_use() const noexcept {
        return at_ == stage::holding || !callers_.empty() || !glances_.empty();
    }

    bool perhaps_leftover() const noexcept {
        return at_ == stage::watching && !callers_.empty() && !leftovers_.empty();
    }
    leftover_nodes leftover(boot_clock::duration patience);

    /// Whether a caller still waits for this race; false: the driver need not send it.
    bool wants(node_id id) const noexcept {
        return at_ == stage::racing && id == id_ && !callers_.empty();
    }

    /// Whether the lock was held, by this object or another owner, by the last answer.
    bool known_blocked() const noexcept { return at_ == stage::watching || at_ == stage::holding; }

private:
    friend struct state_of_rules; ///< of tests that look at every state
    enum class stage {
        idle,
        reserving,
        preparing, ///< creates the directory
        racing,    ///< the race, and the look behind it, are in flight
        unknown,   ///< their answers were lost
        watching,  ///< another owner has the node
        holding,
        leaving, ///< waits until the own nodes are deleted, so that other clients get a chance, too
    };
    struct caller {
        caller_key key;
        bool immediate;
        boot_clock::time_point since;
        bool reported_stuck = false;
    };

    void advance();
    void look();
    void no_caller_left();
    void give_up_immediate();
    void fail_all(simple_act::why reason, int code);
    void race_not_executed(const looked_answer& answer);
    void check_created(const looked_answer& answer);
    void check_foreign(const looked_answer& answer);
    void check_hold(const looked_answer& answer);
    void grant(std::int64_t czxid);
    void lose_node();
    void sweep(bool both);
    void update_own_node(bool this_client, std::int64_t czxid);
    void check_invariants() const;

    claims& ids_;
    simple_terms how_;
    session_state session_;
    std::deque<caller> callers_;   ///< in the order of their calls
    std::set<caller_key> glances_; ///< immediate callers whose glance is in flight
    stage at_ = stage::idle;
    node_id id_ = 0; ///< of the present race, of the hold, or of the nodes being swept
    outcome race_outcome_ = outcome::not_sent;
    int race_code_ = 0;       ///< the ensemble's error code
    std::int64_t czxid_ = 0;  ///< of the hold's node
    revoke_requests revokes_; ///< of the hold
    /// The lock's node, while this client owns it.
    struct own_node {
        std::int64_t czxid;
        boot_clock::time_point since; ///< when that became known here
    };
    std::optional<own_node> own_node_;
    leftovers leftovers_; ///< the lock's node, without a name
    std::uint64_t looks_sent_ = 0;
    bool look_in_flight_ = false;
    bool watched_ = false;
    std::vector<simple_action> actions_;
};

} // namespace paddock::rules
