#pragma once

#include "redis/rules/scripts.hpp"
#include "support/environment.hpp"

#include <paddock/error.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::redis::detail {

class core;

/// The keys that must go from the servers. A release is sent to each of its servers until that
/// confirms it, also after a reconnect, as long as the key can be there. Strand only.
class releases {
public:
    using time_point = boot_clock::time_point;

    explicit releases(core& client) : core_(client) {}

    struct terms {
        rules::lock_keys keys;
        std::string value;
        std::vector<int> servers;
        bool tells = false; ///< the waiters of other clients
        time_point until;   ///< from then on no server has the key any more
    };
    /// How a release has ended, and how many clients heard of it at one server.
    using ended = unique_function<void(error_code, std::int64_t listeners)>;
    /// Calls `released` once the lock is free: a quorum has confirmed that, or the time is over.
    void start(terms what, ended released);

    /// Sends again what the server has not confirmed.
    void on_reachable(int server);
    /// Those that wait for a release hear that the client is closed; the releases go on.
    void stop_waits(error_code why);
    /// Calls back once, when none is left.
    void when_done(unique_function<void()> done);
    void clear() noexcept;

private:
    struct entry {
        std::uint64_t id;
        terms what;
        std::vector<int> unconfirmed; ///< servers
        std::vector<int> refused;     ///< those of them that have refused
        ended released;
        std::int64_t listeners = 0;
    };

    void send(entry& one, int server);
    void on_answer(std::uint64_t id, int server, const std::optional<rules::answer>& said);
    void arm();
    void on_time();
    void tell_if_done();

    core& core_;
    std::map<std::uint64_t, entry> entries_;
    std::uint64_t last_ = 0;
    std::unique_ptr<timer> timer_;
    unique_function<void()> done_;
};

} // namespace paddock::redis::detail
