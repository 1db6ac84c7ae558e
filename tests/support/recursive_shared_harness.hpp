#pragma once

#include "lock_harness.hpp"

#include <chrono>
#include <utility>

// Helpers for the tests of recursive_shared_mutex.

namespace paddock::test {

struct recursive_shared_scene : scene {
    explicit recursive_shared_scene(asio::any_io_executor executor, client_options options = {},
                                    shared_mutex_options terms = {})
        : scene(executor, std::move(options)), again(zk, path, std::move(terms)) {}

    recursive_shared_mutex again;

    lock_call write(owner by) {
        return start<guard>([&](auto token) { again.lock(by, std::move(token)); });
    }
    lock_call write_now(owner by) {
        return start<guard>([&](auto token) { again.try_lock(by, std::move(token)); });
    }
    lock_call write_for(owner by, std::chrono::nanoseconds limit) {
        return start<guard>([&](auto token) { again.try_lock_for(by, limit, std::move(token)); });
    }
    lock_call read(owner by) {
        return start<guard>([&](auto token) { again.lock_shared(by, std::move(token)); });
    }
    lock_call read_now(owner by) {
        return start<guard>([&](auto token) { again.try_lock_shared(by, std::move(token)); });
    }
    lock_call read_for(owner by, std::chrono::nanoseconds limit) {
        return start<guard>(
            [&](auto token) { again.try_lock_shared_for(by, limit, std::move(token)); });
    }
    /// How many requests the client has sent that change something.
    std::size_t writes() const {
        return sent(opcode::create2) + sent(opcode::multi) + sent(opcode::remove);
    }
    std::string first_name() {
        const auto names = queue();
        return names.empty() ? std::string() : names[0];
    }
};

/// The call has completed without a guard, and without an error.
inline asio::awaitable<void> empty_handed(lock_call a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    CHECK_FALSE(held(a));
}

inline asio::awaitable<void> refused(lock_call a, error_code why) {
    co_await finished(a);
    CHECK(a->error == why);
    CHECK_FALSE(held(a));
}

inline bool is_reader(std::string_view path) {
    return path.find("-__READ__") != std::string_view::npos;
}

} // namespace paddock::test
