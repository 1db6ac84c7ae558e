#pragma once

#include "rules/stuck.hpp"

#include <paddock/boot_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <variant>
#include <vector>

namespace paddock::rules {

/// The options of a sticky lock.
struct sticky_terms {
    std::uint32_t max_local_handoffs = 0;
    boot_clock::duration linger{0};

    bool any() const noexcept { return max_local_handoffs > 0 || linger.count() > 0; }
    friend bool operator==(const sticky_terms&, const sticky_terms&) = default;
};

/// The actions that a sticky lock asks its driver for.
namespace sticky_act {

/// Identifies a waiter; 0 is none.
using waiter_id = std::uint64_t;

struct join { ///< join the queue with a contender, on the terms of this waiter
    waiter_id who;
    bool immediate;
};
struct quit {};    ///< the contender, which is not granted, leaves the queue
struct release {}; ///< the contender gives the lock back: its node is deleted
struct watch {};   ///< list the directory, and watch its children: listed()
struct keep {      ///< call tick() at `until` or later, and renew the lease until unkeep
    boot_clock::time_point until;
};
struct unkeep {}; ///< the lock is not free any more

// Results for the waiters.
struct grant { ///< as hold `count` of the node
    waiter_id who;
    std::uint32_t count;
};
struct busy { ///< the lock is taken, and the waiter does not wait
    waiter_id who;
};
struct fail { ///< with the error of failed(), lost() or disconnected()
    waiter_id who;
};

} // namespace sticky_act

using sticky_action = std::variant<sticky_act::join, sticky_act::quit, sticky_act::release,
                                   sticky_act::watch, sticky_act::keep, sticky_act::unkeep,
                                   sticky_act::grant, sticky_act::busy, sticky_act::fail>;

/// Decides how long a client keeps the node of a sticky lock, and to which of its waiters it gives
/// the lock. One contender of the lock's queue stands for all waiters of the line. The driver
/// reports each event, then calls take() and carries out the actions in their order.
///
/// A released lock is free while its node stays. It stays only if the client knows that the node
/// exists and who else waits: from a listing of the directory whose watch has been silent since.
/// (The deletion of the own node is an event of that watch, too.) Until the listing is answered, a
/// free lock waits for it.
class sticky {
public:
    using action = sticky_action;
    using waiter_id = sticky_act::waiter_id;

    /// The holds that a node has had at most, one less: tokens have 32 bits for their count.
    static constexpr auto last_count = std::numeric_limits<std::uint32_t>::max();

    /// `last` is for tests.
    explicit sticky(sticky_terms terms, std::uint32_t last = last_count) noexcept
        : terms_(terms), last_(last) {}

    // The present facts. The driver reports them before every other event.
    /// Whether the lease lasts long enough for another grant.
    void lease(bool fit) noexcept { fit_ = fit; }
    /// Whether the node was granted in its present term.
    void same_term(bool same) noexcept { same_term_ = same; }
    void now(boot_clock::time_point t) noexcept { now_ = t; }
    /// How much room the client's budgets have for nodes and watches.
    enum class room {
        plenty,
        scarce, ///< nodes that only linger must not take more of it
        wanted, ///< others of this client wait for some
    };
    void budgets(room r) noexcept { room_ = r; }

    // Calls of the application.
    /// An immediate waiter only takes a lock that is free.
    void join(waiter_id who, bool immediate);
    void quit(waiter_id who);
    /// The holder has released the lock. `passable`: its hold was valid until then, and the outcome
    /// of all its transactions is known.
    void released(bool passable);

    // Events of the contender.
    void granted();
    void given_up();
    void failed();
    /// Its node is gone, or the session. `fail_waiters`: they do not queue again.
    void lost(bool fail_waiters);
    void revoke_requested();
    /// Another local call does not wait for a lock that nobody has.
    void end_lingering();

    // Events of the session.
    void connected();
    void disconnected();
    /// The lease has lapsed while the lock was free.
    void lapsed();
    void look_at_room() { decide(); }
    void tick();

    /// The answer to `watch`.
    enum class listing {
        failed,  ///< or without a watch
        alone,   ///< only the own node
        company, ///< other contenders as well
        gone,    ///< the own node is not there
    };
    void listed(listing what);
    /// The watch has fired.
    void children_changed();

    /// The vector that the driver gives is used again: no hand-off allocates memory.
    void take(std::vector<action>& actions) noexcept {
        actions.clear();
        actions.swap(actions_);
    }

    // What the driver may ask.
    bool idle() const noexcept { return at_ == stage::idle; } ///< nobody waits, either
    bool held() const noexcept { return at_ == stage::held; }
    bool joining() const noexcept { return at_ == stage::joining; }
    /// Whether waiters are behind a hold of their own client, or were since the last stuck(): to
    /// stop a timer and start it again would cost more than a hand-off.
    bool perhaps_stuck() noexcept {
        return perhaps_stuck_ = perhaps_stuck_ || (held() && !waiters_.empty());
    }
    /// The waiters that have become stuck since the last call.
    stuck_waiters stuck(boot_clock::duration patience);

private:
    enum class stage {
        idle,    ///< without a contender
        joining, ///< the contender waits
        held,    ///< a waiter has been granted the lock
        free,    ///< the contender has the lock, but no waiter
    };
    /// What is known of the directory's children.
    enum class sight {
        none,
        asked,  ///< a listing is in flight
        stale,  ///< a listing is in flight, and its watch may have fired before
        armed,  ///< the watch is silent since the listing
        failed, ///< the directory cannot be watched
    };
    struct waiter {
        waiter_id id;
        bool immediate;
        boot_clock::time_point since;
        bool reported = false; ///< as stuck
    };

    void decide();
    bool handed_on_enough() const noexcept;
    void keep_lingering();
    bool may_linger() const noexcept;
    void look_if_wanted();
    void give_up_node();
    void leave_queue();
    void grant_next();
    template <typename How>
    void dismiss_immediate();
    void join_for_waiters();
    void fail_waiters();

    const sticky_terms terms_;
    const std::uint32_t last_;
    stage at_ = stage::idle;
    sight sight_ = sight::none;
    std::deque<waiter> waiters_; ///< in the order of their ids
    std::size_t immediate_ = 0;  ///< of them
    bool trying_ = false;        ///< the contender is immediate
    bool connected_ = false;
    bool fit_ = true;
    bool same_term_ = true;
    bool perhaps_stuck_ = false;
    room room_ = room::plenty;
    bool kept_ = false;            ///< the driver was asked to keep the free lock
    bool given_back_ = false;      ///< the node must not outlive the present hold
    bool company_ = false;         ///< others waited when the directory was listed
    std::uint32_t count_ = 0;      ///< the holds that the node had before this one
    std::uint32_t in_company_ = 0; ///< hand-offs while others waited
    boot_clock::time_point now_{};
    boot_clock::time_point held_since_{};  ///< by the present holder
    boot_clock::time_point last_linger_{}; ///< from then on the node does not linger
    boot_clock::time_point until_{};       ///< while free: the end of the lingering
    std::vector<action> actions_;
};

} // namespace paddock::rules
