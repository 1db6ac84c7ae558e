#pragma once

#include "rules/actions.hpp"
#include "rules/contender.hpp"
#include "rules/own_directories.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace paddock::rules {

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
struct restore_data { ///< write the data of an own node again: a request has overwritten it
    contender_key key;
    std::string name;
    std::int32_t version;   ///< only while the node's data has this version
    std::int64_t requested; ///< when the first request came: see revoke_requests
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
                 queue_act::sweep, queue_act::downgrade, queue_act::restore_data, queue_act::taint,
                 queue_act::pause, queue_act::await_lease, queue_act::warn, queue_act::grant,
                 queue_act::give_up, queue_act::fail, queue_act::request_revoke, queue_act::lose,
                 queue_act::downgraded, queue_act::downgrade_refused, queue_act::out,
                 queue_act::directory_refused, queue_act::directory_shared,
                 queue_act::directory_left>;

} // namespace paddock::rules
