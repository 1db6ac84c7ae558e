#pragma once

#include "redis/rules/attempt.hpp"
#include "redis/rules/obstacle.hpp"
#include "redis/rules/pace.hpp"

#include <paddock/boot_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace paddock::redis::rules {

/// Decides when a client tries to get a lock on behalf of its calls that wait for it: how it sleeps
/// between two attempts, when it lets other clients ask first, and when its calls may give the keys
/// to each other. The driver reports each event, then calls take() and carries out the actions in
/// their order.
///
/// There is one attempt at a time, and none while a hold of the client has the lock. While calls
/// wait, the line is idle only behind such a hold. Each other stage ends by a turn, by the
/// attempt's end, or by the timer; only without a quorum a line sleeps without one, until it hears
/// of a server. No call sleeps before the line listens to releases.
class line {
public:
    using time_point = boot_clock::time_point;
    using duration = boot_clock::duration;

    struct action {
        enum class kind {
            take_turn,      ///< call turn_got() as soon as the client may make one more attempt
            leave_turns,    ///< that turn is not wanted any more
            attempt,        ///< for the first call: then granted(), or refused()
            hurry,          ///< the attempt does not wait for the server that it has asked first
            give_up,        ///< the attempt
            turn_away,      ///< the first call, which does not wait
            fail,           ///< all calls, because of the obstacle
            listen,         ///< to releases of the lock
            stop_listening, ///< to them
            set_timer,      ///< call tick() at `until`, and not at the time set before
            stop_timer,     ///< do not call it
            forget,         ///< the line is of no use
        };
        kind what;
        bool one_first = false; ///< of `attempt`
        time_point until{};

        friend bool operator==(const action&, const action&) = default;
    };

    /// `random` returns any number.
    line(duration ttl, int servers, std::function<std::uint64_t()> random);

    struct facts {
        time_point now{};
        duration round_trip{};   ///< how long an answer takes
        std::size_t calls = 0;   ///< that wait
        bool immediate = false;  ///< the first of them does not wait for others
        bool held = false;       ///< the latest hold has the lock
        bool has_guards = false; ///< of holds that were lost
        bool connected = false;  ///< to a quorum
    };
    /// The driver reports the present facts before every event.
    void present(const facts& all) noexcept { facts_ = all; }

    // The calls.
    void joined();
    /// The last one has left.
    void deserted();

    // The attempts.
    void turn_got();
    void granted();
    void refused(const attempt& failed, obstacle why);
    void tick();

    // The servers.
    /// Another client's hold has released the lock on this server.
    void message(int server);
    /// From now on there are messages; the lock may have been released before.
    void subscribed(int server);
    /// From now on there are none.
    void unsubscribed(int server);
    /// A server can be used again, or must not be used: perhaps too few are left.
    void servers_changed();

    // The holds.
    /// The latest hold was released, and its keys last for another one: whether they go to the
    /// first call.
    bool pass_on();
    void release_begins() noexcept { ++releases_; }
    /// So many clients, this one included, heard of it.
    void release_ended(std::int64_t listeners);
    /// The latest one.
    void hold_ended();
    void older_hold_ended() { rest_if_unused(); }

    /// The client is closed.
    void closed() noexcept;

    std::vector<action> take() { return std::exchange(actions_, {}); }

    /// What was in the way of the latest attempt, if it failed.
    const std::optional<obstacle>& latest_obstacle() const noexcept { return obstacle_; }

private:
    enum class stage {
        idle,
        queued, ///< until one more attempt of this client may begin
        attempting,
        sleeping, ///< until a release, a server that is back, or the time of the next attempt
        racing,   ///< has heard of a release, as others have
        yielding, ///< other clients may have the lock first
    };

    using kind = action::kind;
    void add(kind what) { actions_.push_back({.what = what}); }
    void set_timer(duration time);
    void proceed();
    void attempt_ended();
    duration patience() const;
    bool released_meanwhile(const attempt& failed) const;
    void sleep(duration time, stage how);
    void wake(bool one_first);
    void race();
    duration rest_for_others();
    bool hears() const;
    void listen();
    void rest_if_unused();
    void on_unused();

    const duration ttl_;
    const std::function<std::uint64_t()> random_;
    pace pace_;
    facts facts_;
    stage stage_ = stage::idle;
    time_point kept_since_{}; ///< the keys of the latest grant
    time_point sleeps_until_{};
    std::vector<bool> subscribed_; ///< the servers whose messages arrive
    std::vector<bool> heard_;      ///< the servers that told of a release during this attempt
    std::optional<obstacle> obstacle_;
    bool one_first_next_ = false;
    bool one_first_ = false; ///< the others were not asked because of the time
    bool listens_ = false;
    bool others_listen_ = false; ///< other clients wait for the lock, or have done so lately
    int grants_in_a_row_ = 0;
    int releases_ = 0; ///< that are not confirmed
    std::vector<action> actions_;
};

} // namespace paddock::redis::rules
