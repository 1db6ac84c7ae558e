#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "rules/node_table.hpp"
#include "rules/revoke_requests.hpp"

#include <paddock/boot_clock.hpp>

#include <cstdint>

namespace paddock::rules {

/// Identifies one contender of this client. Keys grow in the order of joining.
using contender_key = std::uint64_t;

/// How a contender takes part.
struct contender_terms {
    role as = role::exclusive;
    rules::style style = rules::style::curator;
    bool immediate = false;      ///< gives up unless it is granted at once
    bool fail_on_expiry = false; ///< does not join again in the next session
    bool turn_only = false;      ///< its grant is a turn, not the lock: a semaphore's
    bool own_directory = false;  ///< may make the directory together with its node
};

/// One contender of a queue.
struct contender {
    enum class stage : std::uint8_t { joining, creating, unknown, waiting, granted };

    contender_key key = 0;
    contender_terms how;
    bool reported_stuck = false;
    boot_clock::time_point since{}; ///< when it entered the table, or was granted the lock
    node_id id = 0;
    stage at = stage::joining;
    bool quitting = false;       ///< has left while its create is in flight
    bool listed = false;         ///< its first listing has arrived: its blockers are known
    bool with_directory = false; ///< its create makes the directory, too
    revoke_requests revokes{};
    watching own_watch = watching::no;
    /// queue::own_losses_ when own_watch was armed. If that has grown since, the silent watch no
    /// longer proves that the node exists: see queue::own_node_deleted().
    std::uint64_t losses_when_armed = 0;
    node_id downgrade_id = 0;        ///< the id of the node that replaces the present one; 0: none
    std::uint64_t first_listing = 0; ///< the number of the first listing sent after its create
    std::int64_t czxid = 0;
    node_table::iterator node{}; ///< if it is in the table

    bool in_table() const noexcept { return at == stage::waiting || at == stage::granted; }
    /// Whether its grant is the lock itself, not a semaphore's permission to ask for permits.
    bool holds() const noexcept { return at == stage::granted && !how.turn_only; }
    /// Whether its create makes the directory, or may have made it.
    bool makes_directory() const noexcept {
        return with_directory && (at == stage::creating || at == stage::unknown);
    }
};

} // namespace paddock::rules
