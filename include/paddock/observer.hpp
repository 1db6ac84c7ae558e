#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/client_state.hpp>
#include <paddock/error.hpp>
#include <paddock/fencing_token.hpp>
#include <paddock/log.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paddock {

/// The kind of a lock. The mutexes of a lock_family, and those on Redis, are `mutex`.
enum class lock_kind {
    mutex,
    shared_mutex,
    recursive_mutex,
    recursive_shared_mutex,
    election,
    semaphore,
    simple_mutex,
};

/// The name of the kind, as it stands above; `unknown` for any other number.
[[gnu::visibility("default")]] std::string_view name_of(lock_kind kind) noexcept;

/// How a call that waits for a lock ends.
enum class wait_outcome {
    granted,
    busy,      ///< the lock is taken, and the call was not to wait
    timeout,   ///< its time limit has passed
    cancelled, ///< by its caller
    error,
};

/// The name of the outcome, as it stands above; `unknown` for any other number.
[[gnu::visibility("default")]] std::string_view name_of(wait_outcome how) noexcept;

/// The lock that an event is about. The texts are valid during the call only.
struct observed_lock {
    std::string_view path{};  ///< with the client's root, or the name on Redis
    std::string_view group{}; ///< under which the statistics have it
    std::string_view label{}; ///< of the options; an election's id
    lock_kind kind{};
};

class [[gnu::visibility("default")]] observer;

/// What a program hears of its client's locks: derive from it, override what is wanted, and give it
/// to `client_options::observer`. Every function does nothing by default.
///
/// Executor: the client calls the functions on its strand, until close() has completed (the
/// destructor closes in the background), and never in a forked child, nor from the destructor of
/// the execution context. One observer may serve several clients; then it is called on several
/// threads if those run on several.
///
/// They must not block: meanwhile nothing renews the lease. They may use any object of the library,
/// and destroy the client. An exception is reported once, as log_code::observer_failed, and
/// otherwise ignored.
///
/// Each call that waits has one on_waiting(), and then one of on_granted() and on_not_granted();
/// each hold that is granted has one on_ended() later. lock_all() is the calls of its locks.
class observer {
public:
    virtual ~observer();

    /// A call begins to wait for the lock, or asks whether it is free. Of this client's calls
    /// `waiters` wait in the lock's group now, this one included.
    virtual void on_waiting(const observed_lock& lock, std::size_t waiters);
    /// The lock is granted to a call that has waited for so long.
    virtual void on_granted(const observed_lock& lock, boot_clock::duration waited,
                            const fencing_token& token);
    /// A call ends without the lock; `why` is what it completes with, none if the lock is taken.
    virtual void on_not_granted(const observed_lock& lock, boot_clock::duration waited,
                                wait_outcome how, error_code why);
    /// A hold ends: `errc::released`, or why it is lost, as guard::lost() says: also for
    /// `errc::revoked`, as planned, and for `errc::closed`, of a client that did not wait for it.
    /// `held` is the time from the grant to the end, which is perhaps noticed later.
    virtual void on_ended(const observed_lock& lock, boot_clock::duration held, error_code why);

    /// The lease is renewed, of which so much was left. On ZooKeeper the locks of a session share
    /// one lease, and `lock` has no path; on Redis each hold has its own.
    virtual void on_lease_renewed(const observed_lock& lock, boot_clock::duration left);
    /// The lease was not renewed in time: a third of the session timeout is left, or of the time to
    /// live, while a healthy lease has more. The holds may recover; else they are lost when nothing
    /// is left, or at lease_options::margin. Once per outage, and before each loss for
    /// `errc::lease_lapsed`, if only just before it when the event loop stood still.
    virtual void on_lease_late(const observed_lock& lock, boot_clock::duration left);

    /// The client has another state. `server` is the connected one, if there is one. On ZooKeeper
    /// only.
    virtual void on_session(client_state state, std::uint64_t epoch, std::string_view server);
    /// A server can be used for locks, or cannot any more. On Redis only.
    virtual void on_server(std::string_view server, bool usable);

    /// Whether on_request() is wanted; asked by the client's constructor, which throws what it
    /// throws.
    virtual bool wants_requests() const;
    /// A server has answered a request: `create`, `multi`, …, or the name of a script on Redis. An
    /// error of the answer is often nothing wrong: a node that is gone, a lock that is taken.
    virtual void on_request(std::string_view operation, boot_clock::duration took, error_code why);

    /// A timer of the client has fired so much too late, because the event loop was busy; at least
    /// 10 ms. It tells a loop that was stuck from a network that was. A sample: the timers are
    /// those of the lease, six of them in a session timeout (of a hold's renewals on Redis), so a
    /// stall that is shorter can be missed, and a longer one is shown shorter by up to that.
    virtual void on_loop_delay(boot_clock::duration late);

    /// A line of the log, after its limits. The texts are valid during the call only.
    virtual void on_trouble(const log_record& line);
};

} // namespace paddock
