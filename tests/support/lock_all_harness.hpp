#pragma once

#include "support/lock_harness.hpp"

#include <chrono>
#include <variant>
#include <vector>

namespace paddock::test {

using lock_all_call = under_way<guard_set>;

inline guard_set& held_set(const lock_all_call& a) { return std::get<guard_set>(a->result); }

inline lock_all_call ask_all(const lock_requests& all) {
    return start<guard_set>([&](auto token) { lock_all(all, std::move(token)); });
}
inline lock_all_call ask_all_for(const lock_requests& all, std::chrono::nanoseconds limit) {
    return start<guard_set>([&](auto token) { try_lock_all_for(all, limit, std::move(token)); });
}
inline under_way<> give_back_set(guard_set& g) {
    return start([&](auto token) { g.unlock(std::move(token)); });
}
inline under_way<> end_of_set(guard_set& g) { return follow_end(g); }
inline asio::awaitable<void> granted_all(lock_all_call a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    CHECK(held_set(a).valid());
}

/// Three locks at /…/lock/{a,b,c} of one client behind a proxy.
struct three : scene {
    explicit three(asio::any_io_executor executor, client_options options = {},
                   mutex_options terms = {})
        : scene(executor, std::move(options)) {
        for (const char* name : {"/a", "/b", "/c"}) {
            direct.make_path(path + name);
            all.emplace_back(zk, path + name, terms);
        }
    }
    std::string at(int n) const { return path + '/' + "abc"[n]; }
    std::size_t nodes(int n) { return queue_at(direct, at(n)).size(); }
    asio::awaitable<void> until_nodes(std::size_t a, std::size_t b, std::size_t c) {
        co_await eventually([&] { return nodes(0) == a && nodes(1) == b && nodes(2) == c; });
    }
    void expire() { kill_session(shared_server().address(), proxy.last_credentials()); }

    std::vector<mutex> all;
};

} // namespace paddock::test
