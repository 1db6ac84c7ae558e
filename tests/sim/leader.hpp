#pragma once

#include "sim/server.hpp"

#include <cstdint>
#include <deque>
#include <map>

namespace paddock::test::sim {

/// A server while it leads, or believes that it does: it decides, proposes to the quorum, and knows
/// which sessions are alive.
class leader {
public:
    leader(ensemble& all, server& self, int epoch);

    // Requests of clients, through one of the servers.
    void open_session(int origin, std::uint64_t ticket, std::int64_t session,
                      std::chrono::milliseconds timeout);
    void prepare(int origin, std::uint64_t ticket, std::int64_t session, const request& r);
    void sync(int origin, std::uint64_t ticket);
    /// A client has moved to another server. Returns whether its session is alive; from now on only
    /// requests through that server are executed.
    bool revalidate(std::int64_t session, int at);
    void touch(std::int64_t session);
    std::chrono::milliseconds timeout_of(std::int64_t session) const;
    /// Decisions of an administrator.
    void decide_for(const request& r);
    void expire(std::int64_t session);

    // From followers.
    void admit(server& follower);
    void acknowledged(int follower, std::size_t length);
    void pong(int follower, const std::set<std::int64_t>& touched);
    void dismiss(int follower) { followers_.erase(follower); }
    bool has_majority() const; ///< as far as it knows
    bool is_followed() const;  ///< as it is
    int epoch() const noexcept { return static_cast<int>(next_zxid_ >> 32); }

    void pulse();
    /// Executes the log of earlier leaders when it begins to lead.
    void begin();

private:
    struct tracked {
        std::chrono::milliseconds timeout;
        time_point expires;
        int owner = -1; ///< the server through which its writes come; -1: none yet
        bool closing = false;
    };
    struct follower {
        std::size_t acknowledged = 0;
        time_point heard{};
    };
    struct waiting_sync {
        std::size_t after;
        int origin;
        std::uint64_t ticket;
    };

    void track(std::int64_t session, std::chrono::milliseconds timeout);
    int check(std::int64_t session, int origin);
    void propose(txn t);
    void commit_what_can_be();
    void answer_sync(const waiting_sync& s);
    time_point expiry(std::chrono::milliseconds timeout) const;

    ensemble& all_;
    server& self_;
    std::int64_t next_zxid_;
    tree tip_; ///< as if everything in the log were done
    std::map<std::int64_t, tracked> sessions_;
    std::map<int, follower> followers_;
    std::deque<waiting_sync> syncs_;
};

} // namespace paddock::test::sim
