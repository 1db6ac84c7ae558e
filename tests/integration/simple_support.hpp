#pragma once

#include "support/lock_harness.hpp"

namespace paddock::test {

inline lock_call ask(simple_mutex& m) {
    return start<guard>([&](auto token) { m.lock(std::move(token)); });
}
inline lock_call ask_now(simple_mutex& m) {
    return start<guard>([&](auto token) { m.try_lock(std::move(token)); });
}
inline lock_call ask_for(simple_mutex& m, std::chrono::nanoseconds limit) {
    return start<guard>([&](auto token) { m.try_lock_for(limit, std::move(token)); });
}

/// One client behind a proxy, with one simple lock, alone in its directory.
struct simple_scene {
    explicit simple_scene(asio::any_io_executor executor, client_options options = {},
                          simple_mutex_options terms = {})
        : directory(fresh_root())
        , path(directory + "/lock")
        , zk(executor, proxy.address(), std::move(options))
        , lock(zk, path, std::move(terms)) {
        direct.make_path(directory);
    }

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string directory;
    std::string path;
    client zk;
    simple_mutex lock;

    std::vector<std::string> nodes() { return direct.children(directory); }
    asio::awaitable<void> until_nodes(std::size_t count) {
        co_await eventually([&] { return nodes().size() == count; });
    }
    asio::awaitable<void> until_connected() {
        co_await eventually([&] { return zk.state() == client_state::connected; });
    }
    std::size_t sent(std::int32_t operation) const { return proxy.count(direction::up, operation); }
    std::size_t answered(std::int32_t operation) const {
        return proxy.count(direction::down, operation);
    }
    std::vector<std::int32_t> requests() const {
        std::vector<std::int32_t> all;
        for (const auto& f : proxy.snapshot().frames)
            if (f.way == direction::up && f.counts()) all.push_back(f.opcode);
        return all;
    }
    /// A foreigner takes the lock, without a marker.
    void foreigner_takes_it() { direct.create(path, "foreign", node_mode::ephemeral); }
    void expire() { kill_session(shared_server().address(), proxy.last_credentials()); }
    /// The name of the marker that the client's n-th node id of this session has.
    std::string marker(int number) const {
        char id[64];
        const auto s = static_cast<unsigned long long>(zk.session_id());
        std::snprintf(id, sizeof id, "_c_%08llx-%04llx-%04llx-%04x-%012x-lock-marker", s >> 32,
                      s >> 16 & 0xffff, s & 0xffff, 0, static_cast<unsigned>(number));
        return directory + '/' + id;
    }
};

} // namespace paddock::test
