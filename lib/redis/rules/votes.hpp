#pragma once

#include "redis/rules/scripts.hpp"

#include <paddock/boot_clock.hpp>

#include <vector>

namespace paddock::redis::rules {

/// The durations of a lock on Redis. All follow from the time to live of its keys.
struct lock_timing {
    explicit lock_timing(boot_clock::duration time_to_live) noexcept;

    boot_clock::duration ttl;
    /// A vote ends this long before its key expires: a server's clock may be slewed while the key
    /// lives (chrony does so by up to 8.3 %).
    boot_clock::duration margin;
    /// After a confirmation a key is renewed this much later, a third of ttl: each server runs
    /// three scripts per ttl, and more than half of it is left for retries and a reconnect.
    boot_clock::duration renewal;
    /// After a renewal that failed, or that is not answered: ten times as often, so some seventeen
    /// times before the vote ends.
    boot_clock::duration retry;
};

/// Which servers certainly have a hold's key, and until when. More than half of them make a quorum:
/// no other client can have one as well.
class votes {
public:
    using time_point = boot_clock::time_point;

    votes(int servers, const lock_timing& timing);

    /// The server has set or prolonged the key, by a request that was sent then.
    void confirmed(int server, time_point sent);
    /// What a server said to a renewal, or to an acquire whose attempt was granted without it.
    void answered(int server, const answer& said, time_point sent, time_point now);

    /// The end of the first vote that a quorum cannot do without; time_point::min() if no quorum
    /// has ever voted.
    time_point valid_until() const;
    /// So many votes are denied that the others are no quorum.
    bool impossible() const noexcept;

    /// A quorum of servers had the key when requests reached them that were sent then, or later.
    bool confirmed_since(time_point then) const noexcept;

    /// A renewal is sent to the server.
    void renewing(int server, time_point now);
    /// When the server should get the next renewal.
    time_point renewal_due(int server) const;

    int quorum() const noexcept { return static_cast<int>(all_.size()) / 2 + 1; }

private:
    struct vote {
        time_point until = time_point::min();
        time_point confirmed = time_point::min(); ///< by a request that was sent then
        time_point due = time_point::min();
        bool denied = false;
    };

    vote& of(int server) { return all_.at(static_cast<std::size_t>(server)); }

    lock_timing timing_;
    std::vector<vote> all_;
};

} // namespace paddock::redis::rules
