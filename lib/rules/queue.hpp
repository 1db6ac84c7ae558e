#pragma once

#include "rules/actions.hpp"
#include "rules/claims.hpp"
#include "rules/leftovers.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/own_directories.hpp"
#include "rules/stuck.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::rules {

/// Identifies one contender of this client. Keys grow in the order of joining.
using contender_key = std::uint64_t;

/// The actions that the queue asks its driver for. The driver sends the requests in the order of
/// the actions, so a listing shows the node that was created just before it.
namespace queue_act {

using common_act::await_lease;
using common_act::make_parents;
using common_act::pause;
using common_act::why;

struct create { ///< create the contender's node, with this id in its name
    contender_key key;
    node_id id;
    bool with_directory = false; ///< and before it the directory, in the same transaction
};
struct list {    ///< list the directory
    bool settle; ///< behind a barrier, so that it shows which lost creates were executed
};
struct watch_blocker { ///< read a foreign node and watch it
    std::string name;
};
struct watch_own { ///< read a contender's own node and watch it
    contender_key key;
    node_id id;
    std::string name;
};
struct forget { ///< drop the watch on this node
    std::string name;
};
struct sweep { ///< delete an own node, retry until it is gone, then release its id
    contender_key key;
    node_id id;
    std::string name;
    bool exists = true;          ///< as far as is known
    bool with_directory = false; ///< and behind it the directory, in the same transaction
};
struct directory_refused { ///< the ensemble did not create the directory together with the node
    int code;
};
struct directory_shared {}; ///< other clients use the directory, or still do
struct directory_left {     ///< the last contender has left, and the directory remains
    made_here made;
};
struct downgrade { ///< atomically replace a node by one with the same sequence number
    contender_key key;
    node_id id; ///< of the new node
    std::string old_name;
    std::string name;
};
struct taint { ///< a lost create of this contender may still be executed in the directory
    contender_key key;
};
struct warn {}; ///< half of the directory's sequence numbers are used up

// Results for the contenders.
struct grant {
    contender_key key;
    std::string name;
    std::int64_t czxid;
};
struct give_up { ///< an immediate contender found the lock taken
    contender_key key;
};
struct fail {
    contender_key key;
    why reason;
    int code; ///< the ensemble's error code, if refused
};
struct request_revoke { ///< another client asks the granted contender to give the lock back
    contender_key key;
};
struct lose { ///< the node of a granted contender was deleted, or its session expired
    contender_key key;
    bool session_ended;
};
struct downgraded { ///< the contender shares the lock from now on
    contender_key key;
};
struct downgrade_refused { ///< the contender keeps the lock exclusively
    contender_key key;
    int code; ///< the ensemble's error code
};
struct out { ///< the contender has left the queue; the sweeper deletes what nodes it still has
    contender_key key;
};

} // namespace queue_act

using queue_action =
    std::variant<queue_act::create, queue_act::list, queue_act::make_parents,
                 queue_act::watch_blocker, queue_act::watch_own, queue_act::forget,
                 queue_act::sweep, queue_act::downgrade, queue_act::taint, queue_act::pause,
                 queue_act::await_lease, queue_act::warn, queue_act::grant, queue_act::give_up,
                 queue_act::fail, queue_act::request_revoke, queue_act::lose, queue_act::downgraded,
                 queue_act::downgrade_refused, queue_act::out, queue_act::directory_refused,
                 queue_act::directory_shared, queue_act::directory_left>;

/// How a contender takes part.
struct contender_terms {
    role as = role::exclusive;
    style names = style::curator;
    bool immediate = false;      ///< gives up unless it is granted at once
    bool fail_on_expiry = false; ///< does not join again in the next session
    bool passing = false;        ///< of a semaphore: its grant only lets it ask for permits
    bool own_directory = false;  ///< may make the directory together with its node
};

/// The fair queue of a lock as one client sees it: its contenders, their blockers, and the next
/// actions. It sends nothing itself: the driver reports each event, then calls take() and carries
/// out the actions in their order.
///
/// The table holds the nodes that are known to exist, in queue order. The blockers of a contender
/// are the nodes before it that do not share the lock with it. They are known once a listing that
/// was sent after its create has arrived; no contender can join before it later, so the set of its
/// blockers only shrinks. The exception is a downgrade, which replaces an exclusive node by a
/// shared one with the same sequence number: when a foreign exclusive node of a shared lock is
/// deleted, the exclusive contenders behind it need another listing. A foreign node leaves the
/// table by DELETED, NoNode, or a listing that lacks it; a local node also by our own release.
///
/// A listing is as long as the queue. So a contender that joins behind local waiters leaves its
/// listing to a later one, which comes as soon as half of the local waiters have none: a hand-off
/// costs the same however many wait. While as many creates are under way as may be, the others are
/// held back, so that a crowd's requests do not all use memory at one time, and a contender that
/// leaves early has cost none.
///
/// An own directory is made in the transaction that creates its first node, and deleted in the one
/// that deletes its last: see own_directories. Its first contender has no predecessor, so it needs
/// no listing.
class queue {
public:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    /// So many creates are under way at most.
    queue(naming names, claims& ids, std::size_t most_creates = unlimited)
        : names_(std::move(names)), ids_(ids), most_creates_(most_creates) {}

    // Calls of the application.
    void join(contender_key key, contender_terms how);
    void quit(contender_key key);       ///< a contender that is not granted leaves
    void release(contender_key key);    ///< a granted contender gives the lock back
    void watch_hold(contender_key key); ///< watch the node of a granted contender
    void downgrade(contender_key key);  ///< a granted contender asks to share the lock
    void watch_first(bool yes);         ///< whether to watch the first node of the queue, too
    void show_positions(bool yes);      ///< whether ahead_of() is wanted of every contender

    // Events of the session.
    void connected();
    void disconnected();
    void expired();
    /// Whether the lease lasts long enough for a grant. The driver sets it before every other call,
    /// because it changes with time.
    void lease(bool fit) noexcept { lease_fit_ = fit; }
    void lease_renewed();
    /// Whether the directory may be made, or deleted, together with a node. The driver sets it
    /// before every other call.
    void directory_free(bool yes) noexcept { directory_free_ = yes; }
    /// The driver sets the time before every other call, too.
    void now(boot_clock::time_point t) noexcept { now_ = t; }

    // The answers to the actions.
    struct created_answer {
        outcome result;
        int code = 0;
        std::string_view name{}; ///< with the sequence number
        std::int64_t czxid = 0;
    };
    void created(contender_key key, node_id id, const created_answer& answer);
    void listed(outcome result, int code, std::span<const std::string> names);
    void parents_made(outcome result, int code);
    void blocker_watched(std::string_view name, outcome result);
    void blocker_left(std::string_view name, std::int64_t ctime); ///< see left_since()
    struct own_answer {
        outcome result;
        std::int64_t czxid = 0;
        bool watched = true; ///< false: only read, because the budget allows no other watch
        bool revoke_requested = false; ///< the node's data is the revoke message
        std::optional<std::int64_t> left_since{};
    };
    void own_watched(contender_key key, node_id id, const own_answer& answer);
    void downgraded(contender_key key, node_id id, outcome result, int code = 0);
    void resume();

    void node_event(std::string_view name, bool deleted);

    std::vector<queue_action> take();

    // Contenders that may wait for their own client's hold: see stuck_waiters.
    /// A hold of this client that has no node in this queue, a semaphore's, begins or ends.
    void outside_hold(bool on);
    /// Whether a contender that was not reported yet may be stuck, or become so.
    bool perhaps_stuck() const noexcept;
    /// The contenders that have become stuck since the last call.
    stuck_waiters stuck(boot_clock::duration patience);
    bool perhaps_leftover() const noexcept { return waiting_ > 0 && !leftovers_.empty(); }
    leftover_nodes leftover(boot_clock::duration patience); ///< before present waiters

    /// How many known nodes block the contender; empty as long as its blockers are not known.
    std::optional<std::size_t> ahead_of(contender_key key) const;
    /// Whether a known node blocks this contender; a contender without a node would be the last.
    bool known_blocked(contender_key key, role as) const;
    /// The name of the contender's node; empty if it has none.
    std::string_view name_of(contender_key key) const;

    /// Whether this client has made the directory, and has had a node there since; or perhaps does
    /// so just now.
    bool made_directory() const noexcept;
    /// The nodes of this client, as far as their names are known.
    std::vector<std::string> own_nodes() const;

    /// Whether the queue has no contender and awaits no answer.
    bool idle() const noexcept {
        return contenders_.empty() && !listing_in_flight_ && !making_parents_;
    }

private:
    friend struct state_of_rules; ///< of tests that look at every state
    enum class stage : std::uint8_t { joining, creating, unknown, waiting, granted };
    enum class watching : std::uint8_t { no, later, asked, armed }; ///< later: after a pause
    struct contender;
    struct node {
        contender* local = nullptr;    ///< null for a foreign node
        watching watch = watching::no; ///< on a foreign node
        role as = role::exclusive;
    };
    using table = std::map<node_position, node>;
    /// Orders iterators of the table as the table orders its nodes.
    struct by_position {
        bool operator()(const table::iterator& a, const table::iterator& b) const noexcept {
            return a->first < b->first;
        }
    };
    using node_set = std::set<table::iterator, by_position>;
    struct contender {
        contender_key key = 0;
        contender_terms how;
        bool reported_stuck = false;
        boot_clock::time_point since{}; ///< when it entered the table, or was granted the lock
        node_id id = 0;
        stage at = stage::joining;
        bool quitting = false;       ///< has left while its create is in flight
        bool listed = false;         ///< its first listing has arrived: its blockers are known
        bool with_directory = false; ///< its create makes the directory, too
        bool revoke_requested = false;
        watching own_watch = watching::no;
        /// own_losses_ when own_watch was armed. If own_losses_ has grown since, the silent watch
        /// no longer proves that the node exists: see own_node_deleted().
        std::uint64_t losses_when_armed = 0;
        node_id downgrade_id = 0; ///< the id of the node that replaces the present one; 0: none
        std::uint64_t first_listing = 0; ///< the number of the first listing sent after its create
        std::int64_t czxid = 0;
        table::iterator node{};
    };
    struct listed_node {
        std::int32_t sequence;
        std::string_view name;
        role as;
        bool foreign;
        /// Negative if the known node is before the listed one, positive if it is behind it, zero
        /// if they are the same node.
        int compare(const node_position& known) const noexcept {
            if (known.sequence != sequence) return known.sequence < sequence ? -1 : 1;
            return known.name.compare(name);
        }
    };

    void start(contender& c);
    void start_joining();
    void start_held_back();
    void rejoin(contender& c);
    void drop(contender& c);
    void erase(contender& c);
    void fail(contender& c, queue_act::why reason, int code);
    void fail_waiting(int code);
    void need_parents(bool directory);
    void need_pause();
    void need_listing();
    void create_answered(contender& c, const created_answer& answer);
    void node_created(contender& c, const created_answer& answer);
    std::optional<std::int32_t> usable_sequence(std::string_view name);
    void withdraw_node(contender& c, std::string_view name);
    void directory_made(contender& c);
    static bool makes_directory(const contender& c) noexcept;
    void doubt_directory();
    void leave_directory();
    void sweep_node(const contender& c, std::string name);
    void send_listing();
    bool listing_due() const noexcept;
    void list_if_due();

    void report_company();
    void merge(std::span<const std::string> names);
    void match_listing(std::span<const listed_node> listing, std::vector<contender*>& lost);
    void add_foreign_node(const listed_node& listed);
    std::vector<listed_node> parse_listing(std::span<const std::string> names) const;
    void resolve_unknown(std::span<const std::string> names);
    void adopt(contender& c, std::string_view name);
    void own_node_deleted(contender& c);
    void send_downgrade(const contender& c);
    std::string name_after_downgrade(const contender& c) const;
    void become_shared(contender& c);
    void keep_exclusive(contender& c, int code);
    table::iterator insert_node(node_position where, node what);
    table::iterator remove_node(table::iterator it);
    void clear_table();
    void forget_foreign_nodes();
    void enter_table(contender& c, node_position where);
    void foreign_node_deleted(table::iterator gone);
    void relist_for_exclusive();
    void leave_table(contender& c);
    void rewatch_behind(table::iterator next, role as);
    void forget_if_unneeded(table::iterator it);
    bool watch_needed(table::iterator it) const;
    bool is_local_waiter(table::iterator it) const;
    table::iterator nearest_blocker(table::iterator it);
    table::iterator first_waiter_behind(table::iterator next, role as);
    void update_watches();
    void watch_next_waiters();
    void watch_blocker_of(table::iterator it);
    void watch_foreign(table::iterator it);
    void watch_own(contender& c);
    void advance(bool known_to_exist = false);
    void grant_shared(bool known_to_exist);
    bool grant(contender& c, bool known_to_exist);
    bool must_await_lease();
    void give_up_immediate();
    static bool holds(const contender& c) noexcept;
    void mark_stuck(contender& c);
    table::iterator find(std::string_view name);

    static constexpr contender_key none = std::numeric_limits<contender_key>::max();

    naming names_;
    claims& ids_;
    std::size_t most_creates_;
    std::map<contender_key, contender> contenders_;
    contender_key held_back_ = none; ///< the first contender that waits for the answers of others
    table table_;
    node_set exclusive_nodes_; ///< empty if the lock cannot be shared
    node_set waiting_shared_;  ///< local shared nodes that are not granted
    /// Foreign nodes that an event reported deleted; a listing may still show them.
    std::set<std::string, std::less<>> deleted_;
    /// How many reads of each foreign node are in flight.
    std::map<std::string, int, std::less<>> blocker_reads_;
    leftovers leftovers_;              ///< foreign nodes
    std::size_t entries_in_table_ = 0; ///< waiting or granted contenders
    std::size_t creating_ = 0;        ///< contenders whose create is under way, without a directory
    std::size_t waiting_ = 0;         ///< contenders in the table that are not granted
    std::size_t unlisted_ = 0;        ///< of these, those whose first listing has not arrived
    std::size_t unknown_creates_ = 0; ///< creates with an unknown outcome; no grant meanwhile
    std::size_t holders_ = 0;         ///< granted contenders that are not `passing`
    std::size_t reported_stuck_ = 0;  ///< contenders in the table that were reported as stuck
    int outside_holds_ = 0;           ///< see outside_hold()
    boot_clock::time_point outside_since_{}; ///< when outside_holds_ last changed
    boot_clock::time_point now_{};
    bool connected_ = false;
    bool listing_in_flight_ = false;
    bool listing_wanted_ = false; ///< behind the one in flight
    std::uint64_t listings_sent_ = 0;
    std::uint64_t own_losses_ = 0; ///< own nodes that ended though this client did not delete them
    bool making_parents_ = false;
    bool pausing_ = false;
    bool directory_free_ = false;
    bool making_directory_ = false; ///< by a create that is under way
    bool own_directory_ = false;    ///< made by this client, and not deleted
    bool perhaps_made_ = false;     ///< by a create that was lost
    bool keyed_ = false;            ///< a present contender may make the directory
    bool shared_reported_ = false;  ///< directory_shared, at least once
    bool lease_fit_ = true;
    bool awaiting_lease_ = false;
    bool warned_ = false;
    bool watch_first_ = false;
    bool show_positions_ = false;
    std::vector<queue_action> actions_;
};

} // namespace paddock::rules
