#pragma once

#include "redis/rules/scripts.hpp"
#include "redis/rules/votes.hpp"

#include <optional>
#include <vector>

namespace paddock::redis::rules {

/// One attempt to get a lock: asks servers for their votes, until it has a quorum whose counters
/// stand at its token, or cannot get one any more. It is told what servers say, and returns what to
/// send; on each connection requests are executed in the order in which it asks for them.
class attempt {
public:
    using time_point = boot_clock::time_point;

    enum class state { pending, granted, failed };

    struct requests {
        std::vector<int> acquire, renew, release; ///< servers
        bool tells = false; ///< the releases tell the clients that wait for the lock
        friend bool operator==(const requests&, const requests&) = default;
    };

    /// `reachable` has an entry for each server. With `one_first`, the first reachable server is
    /// asked alone, and the others once it has agreed: when many clients want a lock, only one of
    /// them then gets any votes, and the others fail. A grant needs a validity of `least`.
    attempt(std::vector<bool> reachable, bool one_first, const lock_timing& timing,
            boot_clock::duration least);

    /// The first requests.
    requests start();
    /// What a server said to the request that it was sent last, at `sent`.
    requests answered(int server, const answer& said, time_point sent, time_point now);
    /// The connection is lost: whether the server has executed its request is unknown.
    requests unreachable(int server);
    /// A server that could not be reached when the attempt began can be asked now.
    requests reachable(int server);
    /// The server that was asked alone takes long to answer: asks the others too.
    requests hurry();
    /// Gives the attempt up. None of its requests matter any more.
    requests give_up();

    state now() const noexcept { return state_; }
    /// Of a granted attempt.
    std::int64_t token() const noexcept { return token_; }
    const class votes& votes() const noexcept { return votes_; }
    /// The answer of each server that has refused.
    const std::vector<std::optional<answer>>& refusals() const noexcept { return refusals_; }
    /// The server that was asked first is taken, and the others were not asked.
    bool first_is_taken() const noexcept { return first_is_taken_; }
    int quorum() const noexcept { return votes_.quorum(); }

private:
    enum class stage {
        idle,       ///< not asked yet
        asked,      ///< to acquire
        agreed,     ///< its counter stands at another token
        confirming, ///< asked to renew, with the token
        confirmed,
        refused,
    };

    int count(stage which) const noexcept;
    requests decide();
    requests fail();
    void refuse(int server, std::optional<answer> why);

    std::vector<stage> stages_;
    std::vector<std::int64_t> tokens_; ///< that the servers' counters stand at
    std::vector<std::optional<answer>> refusals_;
    std::vector<bool> has_key_; ///< a release is needed there
    class votes votes_;
    boot_clock::duration least_;
    bool one_first_;
    bool first_is_taken_ = false;
    state state_ = state::pending;
    std::int64_t token_ = 0; ///< once a quorum has agreed
};

} // namespace paddock::redis::rules
