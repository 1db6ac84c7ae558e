#pragma once

#include <paddock/fencing_token.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace paddock {

/// One contender of a lock, the holder or one that waits, as its node in the ensemble shows it.
struct contender {
    std::string path{};        ///< the node's path, without the client's root
    std::int32_t sequence = 0; ///< the node's sequence number: its position in the order
    /// Whether it holds the lock. (The node of a sticky lock that lingers does, without a guard.)
    bool holder = false;
    bool shared = false;      ///< whether it holds, or waits for, a shared lock
    std::int64_t session = 0; ///< the session that owns the node
    /// The fencing token of its guard; zero if shared. Of a sticky lock's node (mutex_options) it
    /// is that of the node's first guard; the present one's can be larger.
    paddock::fencing_token token{};
    std::string data{}; ///< the node's data, as its owner wrote it

    // Read from the data if a paddock program wrote it, otherwise empty (of an election, too, whose
    // data is its id):
    std::string host{};   ///< the host name
    std::int64_t pid = 0; ///< the process id
    std::string label{};  ///< mutex_options::label
    /// When its call entered the queue, or created the node of a simple_mutex or a permit.
    std::chrono::system_clock::time_point since{};

    /// When the first request to release the lock came (mutex::revoke, Curator's Revoker), by the
    /// ensemble's clock; zero if none did. A request overwrites `data`, so for a moment, and for as
    /// long as the contender's program stands still, `host`, `pid`, `label` and `since` are empty.
    /// The program writes its data again, with this time, unless the access control list of the
    /// node denies it WRITE; that of a semaphore's permit once it holds it. (The data of an
    /// election has no room for a time: there it is zero again then.)
    std::chrono::system_clock::time_point revoke_requested{};
};

/// A key of a lock_family or shared_lock_family whose lock has contenders.
struct key_in_use {
    std::string key{}; ///< the key; its beginning, if `complete` is false
    /// Whether `key` is the whole key. Of one whose name is longer than 200 bytes the node's name
    /// has only the beginning and a hash: see lock_family.
    bool complete = true;
    /// The directory of the key's lock, without the client's root: for a mutex or shared_mutex.
    std::string path{};
    std::int32_t contenders = 0; ///< the number of nodes: of the holder, and of those that wait
};

} // namespace paddock
