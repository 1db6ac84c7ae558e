#pragma once

#include "sim/event_loop.hpp"
#include "sim/redis/checker.hpp"
#include "sim/redis/network.hpp"
#include "sim/witness.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/mutex.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// One call of the application, and what it does with its guard.
struct redis_job {
    enum way { wait, immediate, limited } how = wait;
    std::size_t lock = 0;
    duration limit{0}; ///< of the waiting
    std::optional<duration> cancelled_after{};
    duration held_for{0};
    bool unlocks = false;  ///< and waits; else the guard is destroyed
    bool verifies = false; ///< at half of the time
    bool listens = false;  ///< waits for the loss of its guard
};

/// What a process is started with.
struct redis_setup {
    std::string name;
    std::string url;
    redis::client_options options{};
    std::vector<std::string> locks{};
    hold_limit limit{};
    bool unsuitable_servers = false; ///< there can be too many replicas
};

/// A process that uses the library as it is, in a simulated world.
class redis_process {
public:
    redis_process(redis_network& net, redis_checker& check, redis_setup how);
    ~redis_process();
    redis_process(const redis_process&) = delete;
    redis_process& operator=(const redis_process&) = delete;

    void begin(const redis_job& what);
    /// Waits for the connection, or for so long.
    void connect(std::optional<duration> limit);
    /// Closes the client in the middle of its work.
    void leave(bool drops_guards);
    /// As kill -9.
    void die();

    event_loop& loop() noexcept { return *loop_; }
    bool idle() const noexcept { return under_way_ == 0; }
    bool left() const noexcept { return left_; }
    std::string story() const;
    /// As process::look() and its companions.
    void look() const { witness_->look(); }
    void look_at_statistics() const;
    void look_at_the_end() const;

private:
    struct call;
    using call_ptr = std::shared_ptr<call>;

    void ask(const call_ptr& c);
    void got_guard(const call_ptr& c, guard g);
    void verify(const call_ptr& c);
    void give_back(const call_ptr& c);
    void done(const call_ptr& c);
    /// Calls on the process's loop after a while, if both still live then.
    void later(duration after, const call_ptr& c, void (redis_process::*what)(const call_ptr&));
    bool expected(const redis_job& what, boost::system::error_code why) const;

    redis_checker& check_;
    const redis_setup how_;
    std::shared_ptr<event_loop> loop_;
    std::shared_ptr<witness> witness_;
    std::optional<redis::client> client_;
    std::vector<redis::mutex> locks_;
    std::vector<call_ptr> calls_;
    int under_way_ = 0;
    bool left_ = false;
};

} // namespace paddock::test::sim
