#pragma once

#include "lock_harness.hpp"

#include <chrono>
#include <utility>

// Helpers for the tests of recursive mutexes.

namespace paddock::test {

struct recursive_scene : scene {
    explicit recursive_scene(asio::any_io_executor executor, client_options options = {},
                             mutex_options terms = {})
        : scene(executor, std::move(options), terms), again(zk, path, std::move(terms)) {}

    recursive_mutex again;

    lock_call ask(owner by) {
        return start<guard>([&](auto token) { again.lock(by, std::move(token)); });
    }
    lock_call ask_now(owner by) {
        return start<guard>([&](auto token) { again.try_lock(by, std::move(token)); });
    }
    lock_call ask_for(owner by, std::chrono::nanoseconds limit) {
        return start<guard>([&](auto token) { again.try_lock_for(by, limit, std::move(token)); });
    }
    void expire() { kill_session(shared_server().address(), proxy.last_credentials()); }
};

} // namespace paddock::test
