#pragma once

#include <paddock/detail/cpp20.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace paddock::redis {

/// A lock on Redis that is held, as its servers show it.
struct held_key {
    /// The value of the lock's key, which only this hold has. (A client that passes the keys on
    /// from one of its callers to the next keeps it.) Other lock libraries have values of their
    /// own, such as a random number; of a longer one the first 4096 bytes.
    std::string value{};
    /// The time after which fewer than a quorum of the servers have the key, unless the holder
    /// renews it; `max()` for a key without a time to live, which another program has set.
    std::chrono::milliseconds left{};
    /// The number of servers that have the key. Less than a quorum: those that did not answer may
    /// have it, too.
    int servers = 0;
    bool kicked = false; ///< a client has kicked the hold: it will not be renewed

    // Of a hold with mutex_options::label, otherwise empty:
    std::string host{};                            ///< the host name
    std::int64_t pid = 0;                          ///< the process id
    std::string label{};                           ///< mutex_options::label
    std::chrono::system_clock::time_point since{}; ///< when the client asked for the keys
};

} // namespace paddock::redis
