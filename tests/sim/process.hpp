#pragma once

#include "sim/checker.hpp"
#include "sim/host.hpp"
#include "sim/witness.hpp"

#include <paddock/client.hpp>
#include <paddock/election.hpp>
#include <paddock/lock_all.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>
#include <paddock/recursive_mutex.hpp>
#include <paddock/recursive_shared_mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_mutex.hpp>
#include <paddock/simple_mutex.hpp>
#include <paddock/ticket.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// The locks of a history; each of them at a path of its own, but for the two mutexes.
struct contested_locks {
    contested mutex{"/locks/a", "-lock-"};
    contested other{"/locks/a", "-other-"};
    contested shared{"/locks/b", "-__"};
    contested simple{"/locks/c"};
    contested semaphore{"/locks/d/leases", "", 2};
    contested election{"/locks/e", "-latch-"};
    contested second{"/locks/f", "-lock-"};
    contested recursive{"/locks/g", "-lock-", 1, true};
    contested reentrant{"/locks/h", "-__", 1, true};
};

/// One call of the application: which lock, which form of the call, and what it does with the hold.
struct job {
    enum kind {
        mutex,
        other,
        read,
        write,
        simple,
        permit,
        campaign,
        recursive,
        read_again,
        write_again,
        several,
        all_kinds
    } what = mutex;
    /// scoped: with(), or lead() for two terms.
    enum way { wait, immediate, limited, queued, scoped } how = wait;
    bool by_key = false;      ///< the mutex as the lock of a family's key
    duration limit{0};        ///< of the waiting; or until a ticket is used
    std::size_t owner = 0;    ///< of a recursive or reentrant lock
    bool drops = false;       ///< the ticket, instead of using it
    bool downgrades = false;  ///< a writer, half-way
    std::vector<kind> with{}; ///< several: instead of the mutex, a reader or writer, a permit
    std::optional<duration> cancelled_after{};
    duration held_for{0};
    bool unlocks = false; ///< and waits; else the guard is destroyed
    bool writes = false;  ///< its token, in a transaction that it does not wait for, before that
};

/// The options of a process's locks.
struct lock_options {
    bool revocable = false;
    paddock::hold_limit limit{};
    std::uint32_t max_local_handoffs = 0; ///< of the mutexes
    std::chrono::milliseconds linger{0};
};

/// A process that uses the library as it is, in a simulated world.
class process {
public:
    process(ensemble& all, checker& check, contested_locks& locks, std::string name,
            std::string_view servers, client_options options, const lock_options& terms);
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    void begin(const job& what);
    /// Drops all objects at once, and closes its client: then its session ends.
    void leave();
    /// As kill -9: the session lives on until it times out.
    void die();

    host& where() noexcept { return *host_; }
    std::int64_t session() const { return client_ ? client_->session_id() : 0; }
    bool idle() const noexcept { return under_way_ == 0; }
    int holds() const;
    std::string story() const;
    /// After each event.
    void look() const;
    /// Whether its client's statistics say what its observer has seen.
    void look_at_statistics() const;
    /// When all its calls are over, and it has no guard any more.
    void look_at_the_end() const;
    /// How often its client was warned that its lease is late.
    std::size_t warnings() const noexcept { return witness_->late(); }

private:
    struct locks;
    struct call;

    using call_ptr = std::shared_ptr<call>;

    void ask(const call_ptr& c);
    void ask_for_all(const call_ptr& c);
    lock_request request_of(job::kind what) const;
    void enqueue(const call_ptr& c);
    void ask_with_work(const call_ptr& c);
    asio::awaitable<void> run_under_lock(call_ptr c);
    asio::awaitable<after_term> work(call_ptr c, guard& held);
    asio::awaitable<void> sleep(call_ptr c, duration time);
    template <typename Token>
    void ask_as(const job& what, Token token);
    template <typename Lock, typename Token, typename... Owner>
    void ask_exclusively(Lock& lock, const job& what, Token token, Owner... by);
    template <typename Lock, typename Token, typename... Owner>
    void ask_to_share(Lock& lock, const job& what, Token token, Owner... by);
    template <typename What>
    auto answer_of(const call_ptr& c, void (process::*got)(const call_ptr&, What));
    void got_guard(const call_ptr& c, guard g);
    void got_all(const call_ptr& c, guard_set all);
    void got_ticket(const call_ptr& c, ticket place);
    void use_ticket(const call_ptr& c);
    void hold(const call_ptr& c, const guard& one, contested& of, bool exclusive, bool fresh);
    void downgrade(const call_ptr& c);
    void write(const call_ptr& c);
    void give_back(const call_ptr& c);
    void done(const call_ptr& c);
    /// Calls on the host's loop after a while, if both still live then.
    void later(duration after, const call_ptr& c, void (process::*what)(const call_ptr&));
    contested& lock_of(job::kind what) const;

    checker& check_;
    contested_locks& contested_;
    std::shared_ptr<host> host_;
    std::shared_ptr<witness> witness_;
    std::optional<client> client_;
    std::unique_ptr<locks> locks_;
    std::vector<std::shared_ptr<call>> calls_;
    std::vector<call_ptr> with_work_; ///< their signals must outlive their coroutines
    int under_way_ = 0;
    bool left_ = false;
};

} // namespace paddock::test::sim
