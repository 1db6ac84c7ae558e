#pragma once

#include "redis/rules/scripts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace paddock::redis::rules {

/// Why a quorum of servers did not grant a lock.
enum class obstacle {
    servers,    ///< too few servers can be reached, and serve: try again later
    taken,      ///< another client may have the lock
    mismatch,   ///< the clients of these servers use another deployment
    denied,     ///< the credentials or their rights do not suffice
    unsuitable, ///< too many servers are no masters, must not be used for locks, or have spoilt
                ///< keys
};

/// `refusals` has what each server answered instead of a vote, and nothing for a server that did
/// not answer, or was not asked.
obstacle obstacle_in(const std::vector<std::optional<answer>>& refusals);

/// Whether it ends by itself.
constexpr bool heals(obstacle what) noexcept { return what <= obstacle::taken; }

/// What an administrator should know of the answer, as the rest of a sentence about the server;
/// empty: nothing.
std::string complaint_about(const answer& said, const deployment& ours);

} // namespace paddock::redis::rules
