#pragma once

#include "client/client_base.hpp"
#include "client/trouble_log.hpp"
#include "redis/connection/server.hpp"
#include "redis/locks/releases.hpp"
#include "redis/rules/obstacle.hpp"
#include "redis/rules/scripts.hpp"
#include "redis/rules/server_clock.hpp"
#include "redis/rules/url.hpp"
#include "redis/rules/votes.hpp"
#include "rules/log_limit.hpp"
#include "support/budget.hpp"
#include "support/shared_timers.hpp"

#include <paddock/redis/client.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::redis::detail {

using namespace paddock::detail;

class lock_line;

/// The outside of a core; a simulation has its own.
struct world {
    std::unique_ptr<environment> env;
    /// The clock of `env`; any thread, also after `env` is destroyed.
    lease_term::clock clock = &boot_clock::now;
};

/// The inside of a client of Redis servers. All methods on the strand, but for those that
/// client_base says are for any thread.
class core final : public client_base, public std::enable_shared_from_this<core> {
public:
    using time_point = boot_clock::time_point;

    core(asio::any_io_executor io, world outside, std::vector<rules::server> servers,
         client_options options);
    ~core() override;

    const rules::lock_timing& timing() const noexcept { return timing_; } ///< any thread
    /// How long a new hold must be valid; any thread.
    boot_clock::duration least_validity() const noexcept { return least_validity_; }
    rules::deployment deployment(int server) const; ///< any thread
    client_statistics statistics() const override;

    time_point now() const noexcept { return clock()(); }
    void start() override;
    void close(error_code why) override;

    int size() const noexcept { return static_cast<int>(servers_.size()); }
    int quorum() const noexcept { return size() / 2 + 1; }
    /// False before start(), and after the end.
    bool has_connections() const noexcept;
    bool is_reachable(int server) const;
    /// Which servers can vote now.
    std::vector<bool> voters() const;
    int connections() const; ///< to servers that can be used
    bool connected() const;  ///< to a quorum
    /// For the log: how many servers cannot be used; empty while a quorum can.
    std::string missing_quorum() const;
    /// What keeps a client from a lock, given what servers answered instead of votes.
    rules::obstacle obstacle_in(std::vector<std::optional<rules::answer>> refusals) const;
    /// How long the slowest of the connected servers takes to answer.
    boot_clock::duration round_trip() const;

    /// What a server said to a script that was sent then; nothing if that is unknown.
    using answered = unique_function<void(const std::optional<rules::answer>&, time_point sent)>;
    /// Runs a script on a server, behind all earlier ones. `still_wanted` may prevent that it is
    /// sent once more, to a server that does not have the script.
    void call(int server, rules::script which, rules::call_words words,
              std::function<bool()> still_wanted, answered done);
    /// Timers that are usually cancelled, for whatever belongs to one lock.
    std::unique_ptr<timer> make_timer() { return timers_.make(); }
    class releases& releases() noexcept {
        return releases_;
    }

    /// The attempts to get a lock that may be under way at one time. All others wait their turn:
    /// their requests would be in the way of renewals and releases, which are sent at once, and
    /// would all be answered late. With so many a server always has something to do, up to a round
    /// trip of 10 ms.
    static constexpr std::size_t most_attempts = 256;
    budget& attempts() noexcept { return attempts_; }

    /// The line of the lock with this name; forget() ends it, and no other line of this name.
    std::shared_ptr<lock_line> line_of(const std::string& name);
    /// Null if there is none.
    std::shared_ptr<lock_line> known_line_of(const std::string& name) const;
    void forget(const lock_line& one, const std::string& name);
    /// A waiter hears of the lock's releases.
    void listen(const rules::lock_keys& keys);
    void stop_listening(const rules::lock_keys& keys);

    /// Calls back once, when a quorum is connected, or cannot be.
    using connect_waiter = unique_function<void(error_code)>;
    std::uint64_t when_connected(connect_waiter told);
    void stop_waiting(std::uint64_t id) { connect_waiters_.erase(id); }
    /// Calls back when the client closes: whatever was sent is not answered any more.
    std::uint64_t when_closed(unique_function<void(error_code)> told);
    void stop_waiting_for_close(std::uint64_t id) { close_waiters_.erase(id); }

private:
    struct place;

    client_health readiness() const override;
    boot_clock::duration patience() const noexcept override { return timing_.ttl; }
    void drop_connections() noexcept override;
    void on_reachable(place& of);
    bool is_listed_twice(const place& of) const;
    void admit_listed_twice();
    void heard_clock(place& of, time_point sent, std::chrono::microseconds clock);
    std::optional<rules::answer> checked(place& of, std::optional<rules::answer> said,
                                         time_point sent);
    error_code connect_result() const;
    void tell_connect_waiters();
    template <typename Event>
    void tell_lines(Event event);
    std::shared_ptr<lock_line> line_listening_to(const std::string& channel) const;
    void finish_closing();

    const client_options options_;
    const rules::lock_timing timing_;
    const boot_clock::duration least_validity_;
    const rules::deployment deployment_;
    const std::uint32_t forks_;
    shared_timers timers_{env()};
    std::vector<std::unique_ptr<place>> servers_;
    class releases releases_;
    budget attempts_{most_attempts};
    std::map<std::string, std::shared_ptr<lock_line>> lines_; ///< by the lock's name
    std::map<std::uint64_t, connect_waiter> connect_waiters_;
    std::map<std::uint64_t, unique_function<void(error_code)>> close_waiters_;
    std::uint64_t last_waiter_ = 0;
    bool started_ = false;
    std::unique_ptr<timer> last_timer_; ///< limits the wait of close()
};

} // namespace paddock::redis::detail
