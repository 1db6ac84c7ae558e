#pragma once

#include <paddock/znode.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace paddock {

/// One contender in the line of a lock, as the ensemble has it.
struct contender {
    std::string path{};             ///< of its node, without the client's root
    std::int32_t sequence = 0;      ///< its place in the order
    bool holder = false;            ///< it has the lock
    bool shared = false;            ///< it wants it, or has it, beside others
    std::int64_t session = 0;       ///< the session that owns the node
    paddock::fencing_token token{}; ///< what its guard has, or will have
    std::string data{};             ///< of the node, as its owner wrote it
    std::string host{};             ///< from the data, if a paddock program wrote it; else empty
    std::int64_t pid = 0;           ///< likewise
    std::string label{};            ///< likewise: mutex_options::label
    std::chrono::system_clock::time_point since{}; ///< likewise: when it asked for the lock
};

} // namespace paddock
