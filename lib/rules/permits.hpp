#pragma once

#include "rules/actions.hpp"
#include "rules/claims.hpp"
#include "rules/leftovers.hpp"
#include "rules/outcome.hpp"
#include "rules/revoke_requests.hpp"
#include "rules/session_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::rules {

/// The actions that one call of a semaphore asks its driver for. The driver sends the
/// requests in their order.
namespace permit_act {

using common_act::await_lease;
using common_act::lose;
using common_act::make_parents;
using common_act::pause;
using common_act::taint;
using common_act::why;

struct join_queue {}; ///< join the semaphore's queue
struct leave {};      ///< leave that queue, granted or not
struct create {       ///< create a permit node, with this id in its name
    node_id id;
};
struct list { ///< list the permit nodes, with a watch on their directory
    std::uint64_t number;
    bool settle; ///< behind a barrier, so that it shows which lost creates were executed
};
struct read_permits { ///< read the node that says how many permits there are, with a watch
    std::uint64_t number;
};
struct forget {};  ///< drop the watches on directory and counter
struct watch_own { ///< read an own permit node and watch it
    node_id id;
    std::string name;
};
struct look { ///< read another permit node: other_seen()
    std::string name;
};
struct restore_data { ///< write the data of an own permit node again: a request has overwritten it
    node_id id;
    std::string name;
    std::int32_t version;   ///< only while the node's data has this version
    std::int64_t requested; ///< when the first request came: see revoke_requests
};
struct sweep { ///< delete an own permit node, retry until it is gone, then release its id
    node_id id;
    std::string name;
};

// Results of the call.
struct grant {
    std::vector<std::string> names; ///< of its permit nodes
};
struct request_revoke {}; ///< another client asks for the permits back
struct give_up {};        ///< too few permits were free for an immediate call
struct fail {
    why reason;
    int code; ///< the ensemble's error code, if refused
};
struct out {}; ///< the call has ended; the sweeper deletes what nodes it still has

} // namespace permit_act

using permit_action =
    std::variant<permit_act::join_queue, permit_act::leave, permit_act::create, permit_act::list,
                 permit_act::read_permits, permit_act::make_parents, permit_act::forget,
                 permit_act::watch_own, permit_act::look, permit_act::restore_data,
                 permit_act::sweep, permit_act::taint, permit_act::pause, permit_act::await_lease,
                 permit_act::grant, permit_act::request_revoke, permit_act::give_up,
                 permit_act::fail, permit_act::lose, permit_act::out>;

struct permit_terms {
    std::size_t count = 1;
    std::optional<std::int32_t> permits{}; ///< empty: a counter node says how many there are
    bool immediate = false;                ///< gives up unless it is granted at once
    bool fail_on_expiry = false;           ///< does not join again in the next session
};

/// One call of a semaphore: its permit nodes (Curator calls them leases) and the next
/// actions. It sends nothing itself: the driver reports each event, then calls take() and carries
/// out the actions in their order.
///
/// The call joins a queue; at the front it creates its permit nodes and lists them. It is
/// granted when a listing shows all of its nodes, and no more nodes than there are permits: a
/// call that creates a node later counts these nodes in its own listing. So exclusion does
/// not depend on the queue, which only provides fairness, and prevents that two calls wait
/// for each other's permits.
class permits {
public:
    using action = permit_action;

    permits(claims& ids, permit_terms how) : ids_(ids), how_(how) {}

    // Calls of the application.
    void join();
    void quit();       ///< ends a call that is not granted
    void release();    ///< gives all permits back
    void watch_hold(); ///< watch the permit nodes of the hold

    // Events of the queue.
    void admitted();        ///< the queue has granted the call its turn
    void queue_node_lost(); ///< after that, its node in the queue was deleted
    void excluded();        ///< the queue will never grant its turn

    // Events of the session.
    void connected();
    void disconnected();
    void expired();
    /// As session_state::lease().
    void lease(bool fit) noexcept { session_.lease(fit); }
    void lease_renewed();
    void now(boot_clock::time_point t) noexcept { session_.now(t); }

    // The answers to the actions, and the watches' events.
    struct created_answer {
        outcome result;
        int code = 0;
        std::string_view name{}; ///< with the sequence number
    };
    void created(node_id id, const created_answer& answer);
    struct looked_answer {
        outcome result;
        int code = 0;
        bool watched = true;                    ///< false: the budget allows no other watch
        std::optional<revoke_request> revoke{}; ///< of an own permit node
    };
    void listed(std::uint64_t number, const looked_answer& answer,
                std::span<const std::string> names);
    void permits_read(std::uint64_t number, const looked_answer& answer, std::int32_t permits);
    void own_watched(node_id id, const looked_answer& answer);
    void other_seen(const std::string& name, outcome result, std::optional<std::int64_t> ctime);
    void parents_made(outcome result, int code);
    void resume();
    void directory_changed();
    void counter_changed();
    void own_changed(node_id id, bool deleted);

    void take(std::vector<action>& actions);

    /// Whether it has its turn, and the last complete listing showed too few free permits.
    bool lacks_permits() const noexcept { return at_ == stage::acquiring && too_few_free_; }

    // As in rules::queue. A listing does not show whose nodes it lists: after so long a wait the
    // call reads each of the others once.
    bool perhaps_leftover() const noexcept { return lacks_permits() && session_.is_connected(); }
    leftover_nodes leftover(boot_clock::duration patience);

private:
    friend struct state_of_rules; ///< of tests that look at every state
    enum class stage { outside, queued, acquiring, held, lost, ended };
    enum class presence { absent, creating, unknown, exists };
    enum class watching { no, later, asked, armed }; ///< later: after a pause
    struct permit_node {
        presence at = presence::absent;
        node_id id = 0;
        std::string name{};
        std::uint64_t first_listing = 0; ///< the number of the first listing sent after its create
        watching own_watch = watching::no;
        revoke_requests revokes{};
    };

    void send_missing();
    void start(permit_node& one);
    void unwanted_created(node_id id, const created_answer& answer);
    void apply_listing(std::uint64_t number, std::span<const std::string> names);
    void grant_or_wait();
    void grant();
    void fail(permit_act::why reason, int code);
    void give_up_nodes();
    void finish();
    void leave_when_clear();
    void need_listing();
    void need_permits();
    void look_at_others();
    void watch_own(permit_node& one);
    void revoke_seen(permit_node& at, const revoke_request& one);
    void lose();
    permit_node* find(node_id id);
    void check_invariants() const;

    claims& ids_;
    permit_terms how_;
    session_state session_;
    stage at_ = stage::outside;
    std::vector<permit_node> nodes_;
    std::set<node_id> unwanted_creates_; ///< in flight; their nodes will be swept
    std::size_t node_count_ = 0;         ///< in the directory, by the last listing
    std::int32_t permits_ = 0;
    /// The last listing shows all own nodes, and the directory has not changed since.
    bool complete_ = false;
    bool permits_known_ = false; ///< permits_ was read, and the counter has not changed since
    bool too_few_free_ = false;  ///< by the last complete listing
    bool directory_watched_ = false;
    bool counter_watched_ = false;
    bool listing_in_flight_ = false;
    bool listing_wanted_ = false; ///< behind the one in flight
    std::uint64_t listings_sent_ = 0;
    bool counter_read_in_flight_ = false;
    bool counter_read_wanted_ = false;
    std::uint64_t counter_reads_sent_ = 0;
    bool watch_nodes_ = false;
    std::int64_t first_revoke_ = 0; ///< when the first request came; 0: none
    bool out_sent_ = false;
    std::set<std::string> others_; ///< the permit nodes of the last listing that are not its own
    std::set<std::string> seen_;   ///< those that it has read, or does so just now
    leftovers leftovers_;
    boot_clock::time_point lacking_since_{};
    boot_clock::time_point next_looks_{}; ///< at permit nodes that are not its own
    std::vector<permit_action> actions_;
};

} // namespace paddock::rules
