#pragma once

#include "lock_harness.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Helpers for the tests of semaphores.

namespace paddock::test {

inline lock_call ask(semaphore& s, std::int32_t count = 1) {
    return start<guard>([&](auto token) { s.acquire(count, std::move(token)); });
}
inline lock_call ask_now(semaphore& s, std::int32_t count = 1) {
    return start<guard>([&](auto token) { s.try_acquire(count, std::move(token)); });
}
inline lock_call ask_for(semaphore& s, std::int32_t count, std::chrono::nanoseconds limit) {
    return start<guard>([&](auto token) { s.try_acquire_for(count, limit, std::move(token)); });
}

/// The data that Curator's SharedCount writes.
inline std::string shared_count(std::int32_t value) {
    std::string text;
    for (const int shift : {24, 16, 8, 0})
        text += static_cast<char>(static_cast<std::uint32_t>(value) >> shift & 0xff);
    return text;
}

/// One client behind a proxy, with a semaphore of two permits, and a foreigner's view of it.
struct semaphore_scene {
    explicit semaphore_scene(asio::any_io_executor executor, std::int32_t permits = 2,
                             semaphore_options terms = {}, client_options options = {})
        : path(fresh_root() + "/pool")
        , zk(executor, proxy.address(), std::move(options))
        , pool(zk, path, permits, std::move(terms)) {}

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string path;
    client zk;
    semaphore pool;

    std::vector<std::string> leases() { return queue_at(direct, path + "/leases"); }
    std::vector<std::string> locks() { return queue_at(direct, path + "/locks"); }
    asio::awaitable<void> until(std::size_t leases_wanted, std::size_t locks_wanted,
                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        std::size_t leases_seen = 0;
        std::size_t locks_seen = 0;
        const auto seen = [&] {
            leases_seen = leases().size();
            locks_seen = locks().size();
            return leases_seen == leases_wanted && locks_seen == locks_wanted;
        };
        const auto details = [&] {
            return ": " + std::to_string(leases_seen) + " leases, " + std::to_string(locks_seen) +
                   " in the queue, epoch " + std::to_string(zk.epoch());
        };
        co_await eventually(seen, 10s, file, line, details);
    }
    asio::awaitable<void> until_connected() {
        co_await eventually([&] { return zk.state() == client_state::connected; });
    }
    asio::awaitable<void> until_epoch(std::uint64_t which) {
        co_await eventually(
            [&] { return zk.epoch() >= which && zk.state() == client_state::connected; });
    }
    /// Curator takes a lease.
    std::string foreign_lease() {
        direct.make_path(path + "/leases");
        return queue_up(direct, path + "/leases", "lease-");
    }
    void expire() { kill_session(shared_server().address(), proxy.last_credentials()); }
    std::size_t sent(std::int32_t operation) const { return proxy.count(direction::up, operation); }
};

} // namespace paddock::test
