#pragma once

#include "redis/rules/attempt.hpp"
#include "redis/rules/pace.hpp"
#include "redis/rules/votes.hpp"
#include "sim/redis/model.hpp"
#include "sim/timeline.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// The servers of one lock, and what all of its clients share.
struct redis_world {
    timeline time;
    dice chance;
    std::vector<redis_model> servers;
    duration latency{};                           ///< of most messages; some take much longer
    std::vector<std::function<void()>> listeners; ///< of the lock's channel
    std::size_t commands = 0;

    explicit redis_world(std::uint64_t seed) : chance(seed) {}
    duration delay() {
        return chance.between(latency / 2, chance.one_in(20) ? 50 * latency : latency);
    }
    /// The lock's channel: a message may be lost.
    void publish();
};

/// One client that wants the lock some times. It does what redis/rules decide, and nothing more.
class redis_contender {
public:
    struct habits {
        std::chrono::milliseconds ttl{};
        std::chrono::milliseconds max_ttl{}; ///< of the deployment
        duration held_for{};
        int times = 1;
        // Planted bugs.
        bool reuses_value = false;
        bool ignores_margin = false;
        bool waits_own_ttl = false;
        bool forgets_token = false;
        bool publishes_failures = false;
    };

    redis_contender(redis_world& where, std::string name, habits how);

    void begin();
    /// A message of the lock's channel.
    void hear();
    /// All connections break; requests that are under way may arrive, or not.
    void lose_connections();
    /// The process is stopped for a while: it reads and sends nothing.
    void pause(duration time);

    bool done() const noexcept { return times_left_ == 0; }
    bool holds() const noexcept { return state_ == state::holding && now() < valid_until_; }
    const std::string& name() const noexcept { return name_; }

    /// Called at each grant, with the token.
    std::function<void(std::int64_t)> granted;
    /// Called when the validity of the hold grows.
    std::function<void()> extended;

private:
    enum class state { idle, asking, sleeping, racing, holding };
    enum class verb { acquire, renew, release };
    struct link {
        explicit link(timeline& time) : there(time), back(time) {}
        channel there, back;
    };

    time_point now() const { return world_.time.now(); }
    void later(duration delay, void (redis_contender::*what)());
    void ask(bool one_first);
    void send(int server, verb what);
    void deliver(int server, verb what, const std::string& value, const redis_model::answer& said,
                 time_point sent);
    void carry_out(const redis::rules::attempt::requests& next);
    void conclude();
    void hold();
    void renew();
    void extend();
    void release();
    void slept();

    redis_world& world_;
    std::string name_;
    habits how_;
    redis::rules::lock_timing timing_;
    std::vector<std::shared_ptr<link>> links_; ///< one to each server
    state state_ = state::idle;
    std::uint64_t step_ = 0; ///< timers of earlier steps mean nothing
    int times_left_;
    int attempts_ = 0;
    std::string value_;
    std::optional<redis::rules::attempt> attempt_;
    redis::rules::pace pace_;
    bool one_first_next_ = false;
    time_point asked_{};
    duration round_trip_{}; ///< of the latest attempt
    std::optional<redis::rules::votes> votes_;
    std::int64_t token_ = 0;
    time_point valid_until_{};
    time_point paused_until_{};
};

} // namespace paddock::test::sim
