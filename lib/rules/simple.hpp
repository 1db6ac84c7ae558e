#pragma once

#include "rules/claims.hpp"
#include "rules/outcome.hpp"

#include <cstdint>
#include <deque>
#include <set>
#include <variant>
#include <vector>

namespace paddock::rules {

/// One call that asks for a simple lock.
using caller_key = std::uint64_t;

/// What a simple lock wants done. Requests go out in the order of the actions: that is what makes a
/// look show what became of the race before it.
namespace simple_act {

struct glance { ///< read whether the lock's node is there
    caller_key who;
};
struct reserve {};   ///< ask for room for two nodes in the budget: reserved(), now or later
struct unreserve {}; ///< it is not needed, or not waited for, any more
struct race {        ///< create the marker and the lock's node, or neither, with this id in both
    node_id id;
};
struct look { ///< read the lock's node, with a watch if there is room for one
    std::uint64_t number;
};
struct forget {};       ///< nobody needs that watch any more
struct make_parents {}; ///< create what is missing of the directory's path
struct sweep {          ///< delete, whatever it takes: swept(). Then release the id, and the room
    node_id id;
    bool both; ///< the marker and the lock's node, all or nothing; else the marker alone
};
struct taint {};       ///< a lost race may yet be executed
struct pause {};       ///< call resume() after a while
struct await_lease {}; ///< call lease_renewed() once there is enough of it

// What becomes of the callers.
struct grant {
    caller_key who;
    node_id id; ///< release() wants it
    std::int64_t czxid;
};
struct give_up { ///< an immediate one found the lock taken
    caller_key who;
};
enum class why { refused, session_expired, not_connected, over_budget };
struct fail {
    caller_key who;
    why reason;
    int code; ///< of the ensemble, if refused
};
struct lose { ///< the node of the hold was deleted, or its session is over
    bool session_over;
};

} // namespace simple_act

using simple_action =
    std::variant<simple_act::glance, simple_act::reserve, simple_act::unreserve, simple_act::race,
                 simple_act::look, simple_act::forget, simple_act::make_parents, simple_act::sweep,
                 simple_act::taint, simple_act::pause, simple_act::await_lease, simple_act::grant,
                 simple_act::give_up, simple_act::fail, simple_act::lose>;

struct simple_terms {
    bool fail_on_expiry = false;   ///< does not race again in the next session
    bool fail_over_budget = false; ///< does not wait for room in the budget
};

/// A simple lock, as one object of this client sees it: of those who ask that object for it, one
/// races at a time. It does nothing itself: tell it what happened, then take() the actions, and
/// carry them out in their order.
///
/// A race creates the lock's node and, beside it, its marker, whose name nobody uses again. The
/// look behind it shows whose node is there (by the id in its data), and sets the watch that tells
/// of its end, whether it is ours or another's. What has been made, or perhaps made, is deleted
/// together with its marker, so that no delete hits a stranger's node.
class simple {
public:
    simple(claims& ids, simple_terms how) : ids_(ids), how_(how) {}

    // What the application wants.
    void enter(caller_key who, bool immediate); ///< immediate: has the lock at once, or gives up
    void quit(caller_key who);                  ///< one that was not granted wants no more
    void release(node_id id);                   ///< the hold gives the lock back
    void gone(node_id id);                      ///< the holder has found its node gone

    // What happens to the session.
    void connected();
    void disconnected();
    void expired();
    /// As rules::line::lease().
    void lease(bool fit) noexcept { lease_fit_ = fit; }
    void lease_renewed();

    // The answers to the actions, and the watch.
    void glanced(caller_key who, outcome result, int code);
    void reserved();
    void crowded(); ///< there is no room now, so reserved() has to wait for it
    void raced(node_id id, outcome result, int code);
    struct looked_answer {
        outcome result;
        int code = 0;
        bool ours = false;       ///< what the present race wrote is in the node
        bool of_session = false; ///< its owner is this session
        std::int64_t czxid = 0;
        bool watched = true; ///< false: there is no room for a watch
    };
    void looked(std::uint64_t number, const looked_answer& answer);
    void parents_made(outcome result, int code);
    void swept(node_id id);
    void resume();
    void changed(bool deleted);

    std::vector<simple_action> take();

    /// Whether this race, which was not sent yet, is worth sending.
    bool wants(node_id id) const noexcept {
        return at_ == stage::racing && id == id_ && !callers_.empty();
    }

private:
    enum class stage {
        idle,
        reserving,
        preparing, ///< makes the directory
        racing,    ///< the race, and the look behind it, are under way
        unsure,    ///< their answers were lost
        watching,  ///< the node is another's
        holding,
        leaving, ///< waits until the own nodes are gone, so that others have a chance, too
    };
    struct caller {
        caller_key key;
        bool immediate;
    };

    void go_on();
    void look();
    void nobody_waits();
    void dismiss_immediates();
    void fail_all(simple_act::why reason, int code);
    void judge_race(const looked_answer& answer);
    void judge_made(const looked_answer& answer);
    void judge_watch(const looked_answer& answer);
    void judge_hold(const looked_answer& answer);
    void grant(std::int64_t czxid);
    void lose_node();
    void sweep(bool both);
    void need_pause();
    void await_lease();

    claims& ids_;
    simple_terms how_;
    std::deque<caller> callers_;    ///< in the order of their coming
    std::set<caller_key> glancing_; ///< immediate ones who do not take part yet
    stage at_ = stage::idle;
    node_id id_ = 0;                   ///< of the present race, or of the hold, or of what is left
    outcome made_ = outcome::not_sent; ///< what became of its nodes
    int refused_ = 0;                  ///< why they were not made
    std::int64_t czxid_ = 0;           ///< of the hold's node
    bool connected_ = false;
    std::uint64_t looks_ = 0;
    bool looking_ = false; ///< the last of them is under way
    bool watched_ = false;
    bool pausing_ = false;
    bool lease_fit_ = true;
    bool awaiting_lease_ = false;
    std::vector<simple_action> actions_;
};

} // namespace paddock::rules
