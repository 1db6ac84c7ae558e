#pragma once

#include "certificates.hpp"
#include "lock_harness.hpp"
#include "redis_caller.hpp"
#include "redis_server.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/mutex.hpp>
#include <paddock/tls.hpp>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// Helpers for the tests of the locks on Redis.

namespace paddock::test {

inline authority& test_authority() {
    static authority one;
    return one;
}

inline redis_server make_redis_server(std::vector<std::string> arguments = {},
                                      std::string_view shifted_clock = {}) {
    if (!over_tls()) return redis_server(std::move(arguments), shifted_clock);
    static const auto identity = test_authority().issue();
    return {std::move(arguments), {.identity = identity}};
}

/// Three servers that all tests of a program share, for what breaks nothing.
inline std::vector<redis_server>& shared_redis_servers() {
    static auto all = [] {
        std::vector<redis_server> three;
        while (three.size() < 3)
            three.push_back(make_redis_server());
        return three;
    }();
    return all;
}

/// The database of a deployment of so many servers: each has a marker of its own.
inline std::string database_of(std::size_t servers) { return std::to_string(servers); }

inline std::string url_of(const std::vector<std::uint16_t>& ports) {
    std::string list;
    for (const auto port : ports)
        list += (list.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(port)) + '/' +
                database_of(ports.size());
    return (over_tls() ? "rediss://" : "redis://") + list;
}

/// The servers hold no lock of anyone when a test begins.
inline redis::client_options new_servers(std::chrono::milliseconds ttl = 10s) {
    redis::client_options options;
    options.ttl = ttl;
    options.trust_new_servers = true;
    if (over_tls()) options.tls = tls({.ca = test_authority().ca_file()});
    return options;
}

/// One client of `count` servers, and a lock with a name of its own.
struct redis_scene {
    explicit redis_scene(asio::any_io_executor executor, std::size_t count = 1,
                         const redis::client_options& options = new_servers(),
                         std::vector<redis_server>* of = nullptr)
        : servers(of ? *of : shared_redis_servers())
        , ports(ports_of(servers, count))
        , name("lock" + std::to_string(++names()) + ':' + std::to_string(count))
        , client(executor, url_of(ports), options)
        , lock(client, name) {
        for (std::size_t n = 0; n < count; ++n)
            (*call.emplace_back(std::make_unique<redis_caller>(servers.at(n).plain_port())))(
                {"SELECT", database_of(count)});
    }

    /// The value of the lock's key on a server; empty: none.
    std::string value(std::size_t server = 0) { return (*call[server])({"GET", name}).text; }
    /// The number of servers that have the lock's key.
    std::size_t keys() {
        std::size_t count = 0;
        for (std::size_t n = 0; n < call.size(); ++n)
            if (!value(n).empty()) ++count;
        return count;
    }
    void foreigner_takes_it(std::chrono::milliseconds ttl = 60s) {
        for (auto& one : call)
            (*one)({"SET", name, "foreign", "PX", std::to_string(ttl.count())});
    }
    void foreigner_gives_it_back() {
        for (auto& one : call)
            (*one)({"DEL", name});
    }

    std::vector<redis_server>& servers;
    std::vector<std::uint16_t> ports;
    std::string name;
    redis::client client;
    redis::mutex lock;
    std::vector<std::unique_ptr<redis_caller>> call; ///< to each server

private:
    static int& names() {
        static int last = 0;
        return last;
    }
    static std::vector<std::uint16_t> ports_of(const std::vector<redis_server>& all,
                                               std::size_t count) {
        std::vector<std::uint16_t> ports;
        for (std::size_t n = 0; n < count; ++n)
            ports.push_back(all.at(n).port());
        return ports;
    }
};

inline lock_call ask(const any_mutex& m) {
    return start<guard>([&](auto token) { m.lock(std::move(token)); });
}
inline lock_call ask_now(const any_mutex& m) {
    return start<guard>([&](auto token) { m.try_lock(std::move(token)); });
}
inline lock_call ask_for(const any_mutex& m, std::chrono::nanoseconds limit) {
    return start<guard>([&](auto token) { m.try_lock_for(limit, std::move(token)); });
}

} // namespace paddock::test
