#pragma once

#include "redis/rules/scripts.hpp"
#include "support/redis_caller.hpp"
#include "support/redis_server.hpp"
#include "support/time_scale.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// A lock on a real Redis server, by its scripts.

namespace paddock::test::on_scripts {

using namespace redis::rules;
using namespace std::chrono_literals;
using kind = answer::kind;
using std::chrono::milliseconds;

inline constexpr deployment trusting{60s, 1, true};

/// A server, a connection to it, and one lock.
struct lock_harness {
    explicit lock_harness(std::vector<std::string> arguments = {}) : server(std::move(arguments)) {}

    answer acquire(const std::string& value, const deployment& all = trusting) {
        return call.run(script::acquire, acquire_words(keys, value, 10s, all));
    }
    answer renew(const std::string& value, std::int64_t token = 1,
                 const deployment& all = trusting) {
        return call.run(script::renew, renew_words(keys, value, 10s, all, token));
    }
    answer release(const std::string& value) {
        return call.run(script::release, release_words(keys, value, true));
    }
    answer look() { return call.run(script::look, look_words(keys)); }
    answer kick(const std::string& value) {
        return call.run(script::kick, kick_words(keys, value));
    }
    std::int64_t left() { return call({"PTTL", keys.name}).number; }
    /// Repeats until the server is of age.
    answer acquire_of_age(const std::string& value, const deployment& all) {
        for (const auto end = std::chrono::steady_clock::now() + scaled(20s);;) {
            auto said = acquire(value, all);
            if (said.what != kind::young || std::chrono::steady_clock::now() > end) return said;
            std::this_thread::sleep_for(said.left); // it says itself when it will be of age
        }
    }

    redis_server server;
    redis_caller call{server.port()};
    lock_keys keys{"a{b}c"};
};

} // namespace paddock::test::on_scripts
