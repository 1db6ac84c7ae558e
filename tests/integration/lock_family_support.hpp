#pragma once

#include "support/lock_harness.hpp"

#include <string>
#include <string_view>
#include <vector>

// What the tests of lock families share.

namespace paddock::test {

/// Two clients with the same family.
struct family_scene {
    explicit family_scene(asio::any_io_executor executor, const mutex_options& terms = {})
        : path(fresh_root() + "/orders")
        , zk(executor, proxy.address())
        , other(executor, shared_server().address())
        , ours(zk, path, terms)
        , theirs(other, path, terms) {}

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string path;
    client zk, other;
    lock_family ours, theirs;

    std::vector<std::string> queue(std::string_view key) {
        return queue_at(direct, ours.path_of(key));
    }
    asio::awaitable<void> until_queue(std::string key, std::size_t nodes) {
        co_await eventually([&] { return queue(key).size() == nodes; });
    }
};

inline lock_call ask(const lock_family& all, std::string_view key) {
    return start<guard>([&](auto token) { all.lock(key, std::move(token)); });
}

} // namespace paddock::test
