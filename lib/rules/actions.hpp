#pragma once

namespace paddock::rules {

/// The actions that several sets of rules share. session_state asks for the first three, which
/// rules_driver carries out. Each set adds its own in queue_act, permit_act, simple_act or
/// sticky_act.
namespace common_act {

struct make_parents { ///< create the missing components of the directory's path: parents_made()
    bool directory = true; ///< false: all but the directory itself
};
struct pause {};       ///< call resume() after a pause
struct await_lease {}; ///< call lease_renewed() once the lease lasts long enough for a grant
struct taint {};       ///< a lost create may still be executed in the directory
struct lose {          ///< a node of the hold was deleted, or its session expired
    bool session_ended;
};

/// Why a call fails. With `refused` comes the ensemble's error code.
enum class why { refused, sequence_exhausted, session_expired, not_connected, over_budget };

} // namespace common_act

} // namespace paddock::rules
