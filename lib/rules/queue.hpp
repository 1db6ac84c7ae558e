#pragma once

#include "rules/claims.hpp"
#include "rules/contenders.hpp"
#include "rules/directory_state.hpp"
#include "rules/leftovers.hpp"
#include "rules/names.hpp"
#include "rules/node_table.hpp"
#include "rules/outcome.hpp"
#include "rules/queue_actions.hpp"
#include "rules/session_state.hpp"
#include "rules/stuck.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::rules {

/// The fair queue of a lock as one client sees it: its contenders, their blockers, and the next
/// actions. It sends nothing itself: the driver reports each event, then calls take() and carries
/// out the actions in their order.
///
/// A contender is granted the lock only if it knows all nodes before its own, those that exclude it
/// are gone, and its own still exists. Exclusion rests on that alone: nobody can come before it
/// later.
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
    using action = queue_action;

    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    /// So many creates are under way at most.
    queue(naming names, claims& ids, std::size_t most_creates = unlimited)
        : names_(std::move(names))
        , ids_(ids)
        , most_creates_(most_creates)
        , table_(names_.has_shared()) {}

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
    /// As session_state::lease().
    void lease(bool fit) noexcept { session_.lease(fit); }
    void lease_renewed();
    /// Whether the directory may be made, or deleted, together with a node. The driver sets it
    /// before every other call.
    void directory_free(bool yes) noexcept { directory_.free(yes); }
    void now(boot_clock::time_point t) noexcept { session_.now(t); }

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
        std::optional<revoke_request> revoke{};
        std::optional<std::int64_t> left_since{};
    };
    void own_watched(contender_key key, node_id id, const own_answer& answer);
    void downgraded(contender_key key, node_id id, outcome result, int code = 0);
    void resume();

    void node_event(std::string_view name, bool deleted);

    void take(std::vector<action>& actions);

    // Contenders that may wait for their own client's hold: see stuck_waiters.
    /// A hold of this client that has no node in this queue, a semaphore's, begins or ends.
    void outside_hold(bool on);
    /// Whether a contender that was not reported yet may be stuck, or become so.
    bool perhaps_stuck() const noexcept;
    /// The contenders that have become stuck since the last call.
    stuck_waiters stuck(boot_clock::duration patience);
    bool perhaps_leftover() const noexcept { return counts().waiting > 0 && !leftovers_.empty(); }
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
        return contenders_.empty() && !listing_in_flight_ && !session_.making_parents();
    }

private:
    friend struct state_of_rules; ///< of tests that look at every state
    using stage = contender::stage;
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

    const contender_counts& counts() const noexcept { return contenders_.counts(); }
    void start(contender& c);
    void start_joining();
    void start_held_back();
    void rejoin(contender& c);
    void forget_create(contender& c);
    void drop(contender& c);
    void erase(contender& c);
    void fail(contender& c, queue_act::why reason, int code);
    void fail_waiting(int code);
    void need_listing();
    void create_answered(contender& c, const created_answer& answer);
    void node_created(contender& c, const created_answer& answer);
    std::optional<std::int32_t> usable_sequence(std::string_view name);
    void withdraw_node(contender& c, std::string_view name);
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
    node_table::iterator remove_node(node_table::iterator it);
    void clear_table();
    void forget_foreign_nodes();
    void enter_table(contender& c, node_position where);
    void foreign_node_deleted(node_table::iterator gone);
    void relist_for_exclusive();
    void leave_table(contender& c);
    void rewatch_behind(node_table::iterator next, role as);
    void forget_if_unneeded(node_table::iterator it);
    bool watch_needed(node_table::iterator it) const;
    void update_watches();
    void watch_next_waiters();
    void watch_blocker_of(node_table::iterator it);
    void watch_foreign(node_table::iterator it);
    void watch_own(contender& c);
    void revoke_seen(contender& c, const revoke_request& one);
    void advance(bool known_to_exist = false);
    void grant_shared(bool known_to_exist);
    bool grant(contender& c, bool known_to_exist);
    void give_up_immediate();
    node_table::iterator find(std::string_view name);
    void check_invariants() const;

    static constexpr contender_key none = std::numeric_limits<contender_key>::max();

    naming names_;
    claims& ids_;
    std::size_t most_creates_;
    contenders contenders_;
    contender_key held_back_ = none; ///< the first contender that waits for the answers of others
    node_table table_;
    session_state session_;
    directory_state directory_;
    /// How many reads of each foreign node are in flight.
    std::map<std::string, int, std::less<>> blocker_reads_;
    leftovers leftovers_;                    ///< foreign nodes
    int outside_holds_ = 0;                  ///< see outside_hold()
    boot_clock::time_point outside_since_{}; ///< when outside_holds_ last changed
    bool listing_in_flight_ = false;
    bool listing_wanted_ = false; ///< behind the one in flight
    std::uint64_t listings_sent_ = 0;
    std::uint64_t own_losses_ = 0; ///< own nodes that ended though this client did not delete them
    bool warned_ = false;
    bool watch_first_ = false;
    bool show_positions_ = false;
    std::vector<queue_action> actions_;
};

} // namespace paddock::rules
