#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/client_state.hpp>
#include <paddock/error.hpp>
#include <paddock/observer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct [[gnu::visibility("default")]] histogram;

/// How long something took, and how often.
struct histogram {
    /// The upper bounds of the first buckets, inclusive: those that OpenTelemetry recommends for
    /// client operations, and longer ones for waits.
    static constexpr std::array<std::chrono::milliseconds, 12> bounds{{
        std::chrono::milliseconds(1),
        std::chrono::milliseconds(5),
        std::chrono::milliseconds(10),
        std::chrono::milliseconds(50),
        std::chrono::milliseconds(100),
        std::chrono::milliseconds(500),
        std::chrono::seconds(1),
        std::chrono::seconds(5),
        std::chrono::seconds(10),
        std::chrono::seconds(30),
        std::chrono::seconds(60),
        std::chrono::seconds(300),
    }};
    /// How many in each bucket, not those of shorter ones; the last one is without a bound.
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    /// Of all of them.
    std::chrono::nanoseconds sum{0};

    std::uint64_t count() const noexcept;
};

/// How many holds were lost for one reason.
struct lost_holds {
    error_code why{};
    std::string_view name{}; ///< of the enumerator of errc, for a label; it does not change
    std::uint64_t count = 0;
};

/// The locks of one group and kind. The counts begin with the client and never decrease.
struct lock_statistics {
    /// `group` of the options; without one the path, with the client's root, or the name on Redis.
    /// All locks of a family have the family's. What a client has beyond 1 000 groups it counts
    /// together, under `(others)`.
    std::string group{};
    lock_kind kind{};

    /// How long calls have waited, by their outcomes.
    std::array<histogram, 5> waited{};
    const histogram& waited_until(wait_outcome how) const noexcept {
        return waited[static_cast<std::size_t>(how)];
    }
    histogram released{}; ///< how long holds lasted that ended by a release
    histogram lost{};     ///< the same of others
    /// Each reason for which a hold can be lost, also without one; `errc::closed` is the end of the
    /// client. Their sum is `lost.count()`.
    std::vector<lost_holds> losses{};

    std::size_t waiters = 0; ///< calls that wait now
    /// Holds that have not ended: the guards of recursive locks each; one for all permits of a
    /// guard. Of an election: whether this client leads.
    std::size_t holds = 0;
    /// Grants; of an election: how often this client has become the leader.
    std::uint64_t granted() const noexcept { return waited_until(wait_outcome::granted).count(); }
};

/// A limit of what a client uses, and how much of it.
struct budget_statistics {
    std::size_t used = 0;
    std::size_t limit = 0;
    std::uint64_t waits = 0; ///< how often something had to wait for room
};

/// One server of Redis; the whole ensemble of ZooKeeper, of which `server` is connected.
struct server_statistics {
    std::string server{}; ///< address and port; empty while none is connected
    bool usable = false;  ///< the client is connected to it, and it can be used for locks
    histogram reads{};    ///< round trips; on Redis all are writes
    histogram writes{};
    std::size_t requests_in_flight = 0;         ///< on ZooKeeper those of locks
    std::size_t bytes_in_flight = 0;            ///< likewise; zero on Redis
    std::chrono::nanoseconds last_round_trip{}; ///< zero before the first
};

/// What a client has done so far, and does now. Each histogram, and the members of one
/// lock_statistics, belong to one moment.
struct client_statistics {
    /// In the order in which the first lock of each was made.
    std::vector<lock_statistics> locks{};
    std::vector<server_statistics> servers{};

    histogram lease_left{};       ///< what was left of the lease when it was renewed
    std::uint64_t late_leases{0}; ///< observer::on_lease_late()
    histogram loop_delay{};       ///< how late the client's timers have fired: a sample, see
                                  ///< observer::on_loop_delay()

    /// On ZooKeeper the bytes of client_budgets; on Redis the attempts to get a lock.
    budget_statistics node_path_bytes{}, watched_path_bytes{}, attempts{};

    // Of ZooKeeper only.
    client_state state{};
    std::uint64_t epoch = 0;       ///< sessions so far
    std::uint64_t disconnects = 0; ///< connections that were lost
    std::chrono::milliseconds session_timeout{0};
    std::chrono::nanoseconds lease_remaining{0};
    std::size_t watches = 0;         ///< paths that are watched
    std::size_t deletes_pending = 0; ///< of nodes that must not stay
    std::uint64_t orphans = 0;       ///< nodes that a lost answer had left, and were deleted
};

/// What whoever supervises a service wants to know.
struct client_health {
    /// False: a restart helps. The event loop has not run for longer than the session timeout (or
    /// `ttl`), which it may still do: let several such answers in a row decide, and ask on another
    /// thread than the loop's. Or the servers refuse the credentials for ever. Servers that cannot
    /// be reached are no reason: a restart does not bring them back.
    bool alive = true;
    /// Whether a lock can be granted now, or waited for: the client is connected, answers come in
    /// time, and it is not being drained. A client connects with its first operation: call
    /// connect() at the start. (A root that does not exist is an error of connect() and of the
    /// locks.)
    bool ready = false;
    std::string reason{}; ///< in words, also of good health
};

} // namespace paddock
