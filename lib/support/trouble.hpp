#pragma once

#include <cstddef>

namespace paddock {

/// The kinds of messages in the log: problems for an administrator that no operation reports. The
/// default log limits each kind by itself.
enum class trouble_kind {
    name,        ///< a host name cannot be resolved
    unreachable, ///< no server answers
    silence,     ///< the connected server does not answer
    descriptors, ///< no file descriptor is left
    c_client,    ///< an ERROR line of ZooKeeper's C client
    slowness,    ///< the ensemble is too slow for a lock to be granted
    permission,  ///< the right to delete a lock's node is missing
    exhaustion,  ///< a directory's sequence numbers are used up
    self_wait,   ///< a caller has long waited behind a hold of its own client
    work,        ///< the work of a leader failed
    foreign_key, ///< another program's key, which has no time to live, stands for a lock
    expiry,      ///< the session has expired
    leadership,  ///< a leader has lost the lead
    recovery,    ///< servers answer again: the end of trouble that was written, not limited
};

inline constexpr std::size_t trouble_kinds = 14;

} // namespace paddock
