#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::rules {

/// One attempt at the lock by this client. Keys grow in the order of joining.
using contender_key = std::uint64_t;

/// What the line wants done. Requests go out in the order of the actions: that is what makes a
/// listing show the node that was created just before it.
namespace act {

struct create { ///< create the contender's node, with this id in its name
    contender_key who;
    node_id id;
};
struct list {    ///< list the directory
    bool settle; ///< with a barrier before it, so that it shows what became of lost creates
};
struct make_parents {}; ///< create what is missing of the directory's path
struct watch_blocker {  ///< read a foreign node, and watch it
    std::string name;
};
struct watch_own { ///< read a contender's own node, and watch it
    contender_key who;
    node_id id;
    std::string name;
};
struct forget { ///< nobody needs the watch on this foreign node any more
    std::string name;
};
struct sweep { ///< delete a node of ours, whatever it takes, and then release its id
    contender_key who;
    node_id id;
    std::string name;
};
struct downgrade { ///< replace a node by another at the same place, in one step
    contender_key who;
    node_id id; ///< of the new one
    std::string old_name;
    std::string name;
};
struct taint { ///< a lost create of this contender may yet appear in the directory
    contender_key who;
};
struct pause {};       ///< call resume() after a while
struct await_lease {}; ///< call lease_renewed() once there is enough of it
struct warn {};        ///< half of the directory's sequence numbers are used up

// What becomes of the contenders.
struct grant {
    contender_key who;
    std::string name;
    std::int64_t czxid;
};
struct give_up { ///< an immediate contender found the lock taken
    contender_key who;
};
enum class why { refused, sequence_exhausted, session_expired, not_connected };
struct fail {
    contender_key who;
    why reason;
    int code; ///< of the ensemble, if refused
};
struct ask_back { ///< somebody asks the granted contender to give the lock back
    contender_key who;
};
struct lose { ///< the node of a granted contender was deleted, or its session is over
    contender_key who;
    bool session_over;
};
struct downgraded { ///< the contender shares the lock from now on
    contender_key who;
};
struct out { ///< the contender has left the line, with no node but those that are being swept
    contender_key who;
};

} // namespace act

using action = std::variant<act::create, act::list, act::make_parents, act::watch_blocker,
                            act::watch_own, act::forget, act::sweep, act::downgrade, act::taint,
                            act::pause, act::await_lease, act::warn, act::grant, act::give_up,
                            act::fail, act::ask_back, act::lose, act::downgraded, act::out>;

/// How a contender takes part.
struct terms {
    role as = role::exclusive;
    style names = style::curator;
    bool immediate = false;      ///< has the lock at once, or gives up
    bool fail_on_expiry = false; ///< does not queue again in the next session
};

/// The fair line of a lock as one client sees it: who is in it, what blocks whom, and what to do
/// next. It does nothing itself: tell it what happened, then take() the actions, and carry them
/// out in their order.
///
/// The table holds the living nodes that are known, in their order. Those before a contender that
/// do not share with it are its blockers, once a listing that was sent after its create has come:
/// no contender can appear before it later, so from then on they only become fewer. But for one:
/// who downgrades leaves another node in its place, so when a foreign exclusive node goes, and
/// there are some who share, the exclusive ones behind it need another listing. A foreign node
/// leaves the table by DELETED, NoNode, or a listing that lacks it; a local one also by our own
/// release.
class line {
public:
    line(naming names, claims& ids) : names_(std::move(names)), ids_(ids) {}

    // What the application wants.
    void join(contender_key who, terms how);
    void quit(contender_key who);      ///< a contender that was not granted leaves
    void release(contender_key who);   ///< a granted one gives the lock back
    void guard_own(contender_key who); ///< a hold wants to hear of the end of its node
    void downgrade(contender_key who); ///< a granted one shares the lock from now on
    void be_curious(bool yes);         ///< whether the first in the line is watched, too

    // What happens to the session.
    void connected();
    void disconnected();
    void expired();
    /// Whether the session is certainly alive for long enough to grant anything. To be said anew
    /// before anything else is, because it changes with time.
    void lease(bool fit) noexcept { lease_fit_ = fit; }
    void lease_renewed();

    // The answers to the actions.
    struct created_answer {
        outcome result;
        int code = 0;
        std::string_view name{}; ///< with the sequence number
        std::int64_t czxid = 0;
    };
    void created(contender_key who, node_id id, const created_answer& answer);
    void listed(outcome result, int code, std::span<const std::string> names);
    void parents_made(outcome result, int code);
    void blocker_watched(std::string_view name, outcome result);
    struct own_answer {
        outcome result;
        std::int64_t czxid = 0;
        bool watched = true;     ///< false: only read, because there is no room for another watch
        bool asked_back = false; ///< its data says so
    };
    void own_watched(contender_key who, node_id id, const own_answer& answer);
    void downgraded(contender_key who, node_id id, outcome result);
    void resume();

    /// A watch of ours fired.
    void node_event(std::string_view name, bool deleted);

    std::vector<action> take();

    /// How many living nodes that are known do not let the contender have the lock; nothing as
    /// long as its place is not known.
    std::optional<std::size_t> ahead_of(contender_key who) const;
    /// The name of the contender's node; empty if it has none.
    std::string_view name_of(contender_key who) const;

    /// Whether nothing is in the line, and no answer is awaited.
    bool idle() const noexcept { return contenders_.empty() && !listing_ && !making_parents_; }

private:
    enum class stage { joining, creating, unknown, waiting, granted };
    enum class watching { no, later, asked, armed }; ///< later: after a pause
    struct contender;
    struct node {
        contender* local = nullptr;    ///< null: somebody else's
        watching watch = watching::no; ///< of a foreign node
        role as = role::exclusive;
    };
    using table = std::map<place, node>;
    struct earlier {
        bool operator()(const table::iterator& a, const table::iterator& b) const noexcept {
            return a->first < b->first;
        }
    };
    using places = std::set<table::iterator, earlier>;
    struct contender {
        contender_key key = 0;
        terms how;
        node_id id = 0;
        stage at = stage::joining;
        bool quitting = false; ///< has left while its create is under way
        bool listed = false;   ///< a listing sent after its create has come: its blockers are known
        bool asked_back = false;
        watching own = watching::no;
        std::uint64_t sure = 0;  ///< of how many ends its armed watch would have told
        node_id downgrading = 0; ///< the id of the node that is to take the present one's place
        std::uint64_t needs = 0; ///< the first listing that was sent after its create
        std::int64_t czxid = 0;
        table::iterator node{};
    };
    struct sighting {
        std::int32_t sequence;
        std::string_view name;
        role as;
        bool foreign;
        /// Which of a known and a listed node comes first: negative the known, positive the listed.
        int compare(const place& known) const noexcept {
            if (known.sequence != sequence) return known.sequence < sequence ? -1 : 1;
            return known.name.compare(name);
        }
    };

    void start(contender& c);
    void start_joining();
    void back_to_joining(contender& c);
    void drop(contender& c);
    void erase(contender& c);
    void fail(contender& c, act::why reason, int code);
    void fail_waiting(int code);
    void need_parents();
    void need_pause();
    void need_listing();
    void placed(contender& c, const created_answer& answer);
    void send_listing();

    void merge(std::span<const std::string> names);
    void see(std::span<const sighting> seen, std::vector<contender*>& lost);
    void appear(const sighting& seen);
    std::vector<sighting> sightings(std::span<const std::string> names) const;
    void settle(std::span<const std::string> names);
    void adopt(contender& c, std::string_view name);
    void own_gone(contender& c);
    void send_downgrade(const contender& c);
    std::string name_after_downgrade(const contender& c) const;
    void share(contender& c);
    table::iterator put(place where, node what);
    table::iterator take_out(table::iterator it);
    void clear_table();
    void take_place(contender& c, place where);
    void foreign_gone(table::iterator gone);
    void list_again();
    void leave_table(contender& c);
    void behind_removed(table::iterator next, role as);
    void forget_if_idle(table::iterator it);
    bool needed(table::iterator it) const;
    bool waits_here(table::iterator it) const;
    table::iterator blocker_of(table::iterator it);
    table::iterator first_behind(table::iterator next, role as);
    void watch_duties();
    void look_ahead();
    void duties_of(table::iterator it);
    void look_at(table::iterator it);
    void watch_own(contender& c);
    void advance(bool known_to_exist = false);
    void grant_readers(bool known_to_exist);
    bool grant(contender& c, bool known_to_exist);
    bool lease_lacks();
    void give_up_immediates();
    table::iterator find(std::string_view name);

    naming names_;
    claims& ids_;
    std::map<contender_key, contender> contenders_;
    table table_;
    places writers_;                          ///< the exclusive nodes, where there are others
    places waiting_readers_;                  ///< the local nodes that share, and are not granted
    std::set<std::string, std::less<>> gone_; ///< by an event, and not yet missing in a listing
    std::map<std::string, int, std::less<>> looks_; ///< at foreign nodes, and not yet answered
    std::size_t waiting_or_granted_ = 0;            ///< contenders in the table
    std::size_t unknown_ = 0;                       ///< creates to be settled; no grant meanwhile
    bool connected_ = false;
    bool listing_ = false; ///< one is under way
    bool wanted_ = false;  ///< and another must follow
    std::uint64_t listings_ = 0;
    std::uint64_t ends_ = 0; ///< of own nodes, that were not ours to decide
    bool making_parents_ = false;
    bool pausing_ = false;
    bool lease_fit_ = true;
    bool awaiting_lease_ = false;
    bool warned_ = false;
    bool curious_ = false;
    std::vector<action> actions_;
};

} // namespace paddock::rules
