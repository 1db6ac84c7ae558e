#pragma once

#include "support/function.hpp"

#include <paddock/boot_clock.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddock {

/// A connection of the C client as the pump sees it. The number says where to wait (a file
/// descriptor, in the real world); the identity says which connection it is, because the number is
/// used again at once after a reconnect.
struct descriptor {
    int number = -1;
    std::uint64_t identity = 0;

    bool valid() const noexcept { return number >= 0; }
    friend bool operator==(const descriptor&, const descriptor&) = default;
};

/// One timer that can be armed again and again. The callback runs on the client's strand, never
/// after cancel() or the destructor, and never from within arm().
class timer {
public:
    virtual ~timer() = default;
    virtual void arm(boot_clock::time_point when, unique_function<void()> fired) = 0;
    virtual void cancel() noexcept = 0;
};

/// Waits until one connection can be read or written. Each wait is for one time; it is an error to
/// start a second wait of the same kind before the first has fired. Callbacks run on the client's
/// strand, never after the destructor, and never from within the wait call.
class readiness {
public:
    virtual ~readiness() = default;
    virtual void wait_readable(unique_function<void()> ready) = 0;
    virtual void wait_writable(unique_function<void()> ready) = 0;
};

/// Calls a function on the client's strand some time after notify(), which any thread may call and
/// which neither allocates, blocks, nor throws. Notifications may coalesce.
class wakeup {
public:
    virtual ~wakeup() = default;
    virtual void notify() noexcept = 0;
    /// On the strand: lets go of whatever keeps the event loop running. notify() does nothing from
    /// now on.
    virtual void stop() noexcept = 0;
};

/// Everything of the outside world that paddock thinks with: one of the two seams (the other is
/// native::calls) below which a simulation can put a world of its own. One environment belongs to
/// one client; all its callbacks run on that client's strand, one at a time. After it is destroyed
/// no callback runs.
class environment {
public:
    using resolved = unique_function<void(boost::system::error_code, std::vector<std::string>)>;

    virtual ~environment() = default;

    virtual boot_clock::time_point now() const = 0;
    virtual std::chrono::system_clock::time_point wall_clock() const = 0;
    virtual std::uint64_t random() = 0;

    /// Runs the task on the strand, never from within post(). Any thread may call.
    virtual void post(unique_function<void()> task) = 0;
    /// The same, for what had better come after the tasks that are posted meanwhile: it may be run
    /// behind those that are waiting when its turn comes.
    virtual void post_behind(unique_function<void()> task) { post(std::move(task)); }
    virtual std::unique_ptr<timer> make_timer() = 0;
    virtual std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) = 0;

    /// Keeps what it needs of the descriptor to itself (the real one duplicates it), so that the C
    /// client may close its own at any time.
    virtual std::unique_ptr<readiness> make_readiness(descriptor connection) = 0;

    /// The numeric addresses of a host name, without port. Never from within resolve().
    virtual void resolve(const std::string& host, resolved done) = 0;
};

} // namespace paddock
