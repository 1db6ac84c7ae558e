#pragma once

#include "support/function.hpp"
#include "support/stream.hpp"

#include <paddock/boot_clock.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddock {

/// A connection of the C client as the pump sees it: the number is the file descriptor to wait for;
/// the identity distinguishes connections, because a reconnect usually gets the same number again.
struct descriptor {
    int number = -1;
    std::uint64_t identity = 0;

    bool valid() const noexcept { return number >= 0; }
    friend bool operator==(const descriptor&, const descriptor&) = default;
};

/// A timer that can be armed repeatedly. The callback runs on the client's strand, never after
/// cancel() or the destructor, and never from within arm().
class timer {
public:
    virtual ~timer() = default;
    virtual void arm(boot_clock::time_point when, unique_function<void()> fired) = 0;
    virtual void cancel() noexcept = 0;
};

/// Waits until a connection is readable or writable. Each wait fires once; a second wait of the
/// same kind may only begin after the first has fired. Callbacks run on the client's strand, never
/// after the destructor, and never from within the wait call.
class readiness {
public:
    virtual ~readiness() = default;
    virtual void wait_readable(unique_function<void()> ready) = 0;
    virtual void wait_writable(unique_function<void()> ready) = 0;
};

/// Calls a function on the client's strand after notify(). Any thread may call notify(); it neither
/// allocates, blocks, nor throws. Notifications may coalesce. In a forked child nothing is called.
class wakeup {
public:
    virtual ~wakeup() = default;
    virtual void notify() noexcept = 0;
    /// On the strand: releases everything that belongs to the event loop. From now on notify() does
    /// nothing.
    virtual void stop() noexcept = 0;
};

/// Clocks, timers, connections, sockets' readiness, name resolution and random numbers: one of the
/// two interfaces that a simulation replaces (the other is native::calls). One environment belongs
/// to one client; all its callbacks run on that client's strand. After its destruction no callback
/// runs.
class environment {
public:
    using resolved = unique_function<void(boost::system::error_code, std::vector<std::string>)>;

    virtual ~environment() = default;

    virtual boot_clock::time_point now() const = 0;
    virtual std::chrono::system_clock::time_point wall_clock() const = 0;
    virtual std::uint64_t random() = 0;

    /// Runs the task on the strand, never from within post(). Any thread may call. A task that is
    /// not accepted stays with the caller, who perhaps holds a lock that the task's destructor
    /// needs.
    virtual void post(unique_function<void()>&& task) = 0;
    /// Likewise, for a task that should follow those that are posted soon: it may run behind tasks
    /// that are posted after it.
    virtual void post_behind(unique_function<void()>&& task) { post(std::move(task)); }
    virtual std::unique_ptr<timer> make_timer() = 0;
    virtual std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) = 0;

    /// The C client may close the descriptor at any time, so the real implementation duplicates it.
    virtual std::unique_ptr<readiness> make_readiness(descriptor connection) = 0;

    /// A connection of our own, which is not connected yet.
    virtual std::unique_ptr<tcp_stream> make_stream() = 0;

    /// In a forked child of the process that made the environment, after notify_fork.
    virtual void after_fork() noexcept {}

    /// The numeric addresses of a host name, without port. Never from within resolve().
    virtual void resolve(const std::string& host, resolved done) = 0;
    /// Cancels every resolve() whose callback has not run; the callback will not run.
    virtual void stop_resolving() noexcept = 0;
};

} // namespace paddock
