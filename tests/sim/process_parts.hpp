#pragma once

#include "sim/process.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace paddock::test::sim {

/// The lock objects of a process.
struct process::locks {
    locks(const client& zk, const contested_locks& all, const lock_options& how)
        : a(zk, all.mutex.directory, of_mutex(how))
        , family(zk, "/locks", of_mutex(how))
        , other(zk, all.other.directory, of_mutex(how, "other"))
        , b(zk, all.shared.directory, {.revocable = how.revocable, .hold_limit = how.limit})
        , c(zk, all.simple.directory, {.hold_limit = how.limit})
        , d(zk, "/locks/d", all.semaphore.permits, {.hold_limit = how.limit})
        , e(zk, all.election.directory, {.hold_limit = how.limit})
        , f(zk, all.second.directory)
        , g(zk, all.recursive.directory, {.revocable = how.revocable, .hold_limit = how.limit})
        , h(zk, all.reentrant.directory, {.revocable = how.revocable, .hold_limit = how.limit}) {}

    static mutex_options of_mutex(const lock_options& how, const std::string& name = "lock") {
        mutex_options options;
        options.name = name;
        options.revocable = how.revocable;
        options.hold_limit = how.limit;
        options.max_local_handoffs = how.max_local_handoffs;
        options.linger = how.linger;
        return options;
    }

    mutex a;
    lock_family family; ///< the key `a` has the lock a
    mutex other;
    shared_mutex b;
    simple_mutex c;
    semaphore d;
    election e;
    mutex f;
    recursive_mutex g;
    recursive_shared_mutex h;
    std::array<owner, 2> owners{};
};

/// One call, and what it holds.
struct process::call {
    job what;
    std::string name;
    asio::cancellation_signal stop{};
    ticket place{};
    guard held{};
    guard_set all{};
    int completions = 0; ///< of the last call
    int unlocked = 0;
    int downgraded = 0;
    int written = 0;
    int terms = 0;                             ///< of a leader
    std::function<void(error_code)> wake_up{}; ///< ends the sleep of its work
    int under_way = 1;                         ///< operations, and the time between them
};

} // namespace paddock::test::sim
