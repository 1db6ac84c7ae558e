#pragma once

#include "rules/claims.hpp"
#include "rules/outcome.hpp"

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

/// What one acquisition of a semaphore wants done. Requests go out in the order of the actions.
namespace lease_act {

struct enter {}; ///< queue for the place in the line of those who acquire
struct leave {}; ///< give that place back, or stop queueing
struct create {  ///< create a lease, with this id in its name
    node_id id;
};
struct list { ///< list the leases, with a watch
    std::uint64_t number;
    bool settle; ///< with a barrier before it, so that it shows what became of lost creates
};
struct read_permits { ///< read the counter, with a watch
    std::uint64_t number;
};
struct make_parents {}; ///< create what is missing of the directory's path
struct forget {};       ///< nobody needs the watches on directory and counter any more
struct watch_own {      ///< read a lease of ours, and watch it
    node_id id;
    std::string name;
};
struct sweep { ///< delete a lease of ours, whatever it takes, and then release its id
    node_id id;
    std::string name;
};
struct taint {};       ///< a lost create may yet appear in the directory
struct pause {};       ///< call resume() after a while
struct await_lease {}; ///< call session_renewed() once it is certainly alive for long enough

// What becomes of the acquisition.
struct grant {
    std::vector<std::string> names; ///< of its leases
};
struct give_up {}; ///< an immediate one found too few permits free
enum class why { refused, session_expired, not_connected };
struct fail {
    why reason;
    int code; ///< of the ensemble, if refused
};
struct lose { ///< a lease that was granted is gone, or its session is over
    bool session_over;
};
struct out {}; ///< it has nothing any more but what is being swept

} // namespace lease_act

using lease_action =
    std::variant<lease_act::enter, lease_act::leave, lease_act::create, lease_act::list,
                 lease_act::read_permits, lease_act::make_parents, lease_act::forget,
                 lease_act::watch_own, lease_act::sweep, lease_act::taint, lease_act::pause,
                 lease_act::await_lease, lease_act::grant, lease_act::give_up, lease_act::fail,
                 lease_act::lose, lease_act::out>;

struct lease_terms {
    std::size_t count = 1;
    std::optional<std::int32_t> permits{}; ///< nothing: a counter says how many there are
    bool immediate = false;                ///< has its leases at once, or gives up
    bool fail_on_expiry = false;           ///< does not queue again in the next session
};

/// One acquisition of a semaphore: how many leases it has, and what to do next. It does nothing
/// itself: tell it what happened, then take() the actions, and carry them out in their order.
///
/// It queues in a line; who is let in creates its leases, and looks. A listing that shows all of
/// its leases, and no more nodes than there are permits, is the grant: whoever creates a lease
/// later will find these in its own listing. So exclusion does not hang on the line, which only
/// keeps two from waiting for each other's leases, and makes it fair.
class leases {
public:
    leases(claims& ids, lease_terms how) : ids_(ids), how_(how) {}

    // What the application wants.
    void begin();
    void quit();      ///< one that was not granted wants no more
    void release();   ///< one that was granted gives everything back
    void guard_own(); ///< the hold wants to hear of the end of its leases

    // What happens in the line.
    void placed();    ///< it has been let in
    void displaced(); ///< its node there was deleted, after it was let in
    void barred();    ///< it will never be let in

    // What happens to the session.
    void connected();
    void disconnected();
    void expired();
    /// As rules::line::lease().
    void session_fit(bool fit) noexcept { session_fit_ = fit; }
    void session_renewed();

    // The answers to the actions, and the watches.
    struct created_answer {
        outcome result;
        int code = 0;
        std::string_view name{}; ///< with the sequence number
    };
    void created(node_id id, const created_answer& answer);
    struct looked_answer {
        outcome result;
        int code = 0;
        bool watched = true; ///< false: there is no room for another watch
    };
    void listed(std::uint64_t number, const looked_answer& answer,
                std::span<const std::string> names);
    void permits_read(std::uint64_t number, const looked_answer& answer, std::int32_t permits);
    void own_watched(node_id id, const looked_answer& answer);
    void parents_made(outcome result, int code);
    void resume();
    void directory_changed();
    void counter_changed();
    void own_changed(node_id id, bool deleted);

    std::vector<lease_action> take();

private:
    enum class stage { outside, queued, acquiring, held, lost, over };
    enum class presence { absent, creating, unknown, there };
    enum class watching { no, later, asked, armed }; ///< later: after a pause
    struct lease {
        presence at = presence::absent;
        node_id id = 0;
        std::string name{};
        std::uint64_t needs = 0; ///< the first listing that was sent after its create
        watching own = watching::no;
    };

    void go();
    void start(lease& one);
    void stray_created(node_id id, const created_answer& answer);
    void judge(std::uint64_t number, std::span<const std::string> names);
    void decide();
    void grant();
    void fail(lease_act::why reason, int code);
    void let_go();
    void finish();
    void leave_when_clear();
    void need_listing();
    void need_permits();
    void need_parents();
    void need_pause();
    void watch_own(lease& one);
    void lose();
    lease* find(node_id id);

    claims& ids_;
    lease_terms how_;
    stage at_ = stage::outside;
    std::vector<lease> leases_;
    std::set<node_id> strays_; ///< being created, and not wanted any more
    std::size_t nodes_ = 0;    ///< in the directory, by the last listing
    std::int32_t permits_ = 0;
    bool seen_ = false;          ///< that listing shows all of ours, and nothing has changed since
    bool permits_known_ = false; ///< and have not changed since
    bool directory_watched_ = false;
    bool counter_watched_ = false;
    bool connected_ = false;
    bool listing_ = false; ///< one is under way
    bool wanted_ = false;  ///< and another must follow
    std::uint64_t listings_ = 0;
    bool reading_ = false; ///< likewise, of the counter
    bool reading_wanted_ = false;
    std::uint64_t readings_ = 0;
    bool making_parents_ = false;
    bool pausing_ = false;
    bool session_fit_ = true;
    bool awaiting_session_ = false;
    bool guarded_ = false;
    bool out_ = false;
    std::vector<lease_action> actions_;
};

} // namespace paddock::rules
