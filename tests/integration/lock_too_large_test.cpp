// Nodes that are larger than the whole budget: their calls fail at once, and block no other call.

#include "support/lock_all_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

const std::string root = fresh_root() + "/" + std::string(480, 'r');
const std::string large = "/" + std::string(500, 'x');

client_options one_kilobyte() {
    client_options options;
    options.budgets.node_path_bytes = 1024;
    options.root = root;
    options.create_root = true;
    return options;
}

/// A client with room for one node with an ordinary path, and for none with the large one.
struct large_scene {
    explicit large_scene(asio::any_io_executor executor)
        : zk(executor, shared_server().address(), one_kilobyte()), lock(zk, "/lock") {}

    foreigner direct{shared_server().address()};
    client zk;
    mutex lock;

    template <class Operation>
    asio::awaitable<void> never_fits(Operation operation) {
        const auto a = start<guard>(std::move(operation));
        co_await finished(a);
        CHECK(a->error == errc::over_budget);
        CHECK_FALSE(held(a));
        co_await others_are_served();
    }
    asio::awaitable<void> others_are_served() {
        const auto next = ask(lock);
        co_await granted(next);
        co_await unlocked(next);
        CHECK(queue_at(direct, root + "/lock").empty());
    }
};

} // namespace

CO_TEST("a mutex whose node never fits into the budget fails at once, in every lock call") {
    large_scene s(executor);
    mutex m(s.zk, large);
    co_await s.never_fits([&](auto t) { m.lock(std::move(t)); });
    co_await s.never_fits([&](auto t) { m.try_lock(std::move(t)); });
    co_await s.never_fits([&](auto t) { m.try_lock_for(1h, std::move(t)); });
}

CO_TEST("shared, recursive and simple mutexes and campaigns over the budget fail at once") {
    large_scene s(executor);
    shared_mutex rw(s.zk, large);
    co_await s.never_fits([&](auto t) { rw.lock(std::move(t)); });
    co_await s.never_fits([&](auto t) { rw.lock_shared(std::move(t)); });
    recursive_mutex again(s.zk, large);
    const owner me;
    co_await s.never_fits([&](auto t) { again.lock(me, std::move(t)); });
    co_await s.never_fits([&](auto t) { again.try_lock(me, std::move(t)); });
    recursive_shared_mutex both_ways(s.zk, large);
    co_await s.never_fits([&](auto t) { both_ways.lock(me, std::move(t)); });
    co_await s.never_fits([&](auto t) { both_ways.try_lock_shared(me, std::move(t)); });
    simple_mutex simple(s.zk, large);
    co_await s.never_fits([&](auto t) { simple.lock(std::move(t)); });
    co_await s.never_fits([&](auto t) { simple.try_lock(std::move(t)); });
    election leader(s.zk, large);
    co_await s.never_fits([&](auto t) { leader.campaign(std::move(t)); });
}

CO_TEST("a ticket over the budget fails at once") {
    large_scene s(executor);
    mutex m(s.zk, large);
    const auto a = start<ticket>([&](auto t) { m.enqueue(std::move(t)); });
    co_await finished(a);
    CHECK(a->error == errc::over_budget);
    CHECK_FALSE(std::get<0>(a->result));
    co_await s.others_are_served();
}

CO_TEST("more permits of a semaphore than the budget has nodes for fail at once") {
    large_scene s(executor);
    semaphore pool(s.zk, "/pool", 1'000'000);
    co_await s.never_fits([&](auto t) { pool.acquire(1000, std::move(t)); });
    co_await s.never_fits([&](auto t) { pool.try_acquire(1000, std::move(t)); });
    semaphore far(s.zk, large, 2);
    co_await s.never_fits([&](auto t) { far.acquire(1, std::move(t)); });
}

CO_TEST("a set fails at once when one lock, or all together, never fit into the budget") {
    large_scene s(executor);
    std::vector<mutex> all{mutex(s.zk, "/a"), mutex(s.zk, large)};
    auto a = ask_all(all);
    co_await finished(a);
    CHECK(a->error == errc::over_budget);
    all.pop_back();
    for (int i = 0; i < 3; ++i)
        all.emplace_back(s.zk, "/b" + std::to_string(i));
    a = ask_all(all);
    co_await finished(a);
    CHECK(a->error == errc::over_budget);
    a = ask_all_for(all, 0ns);
    co_await finished(a);
    CHECK(a->error == errc::over_budget);
    co_await s.others_are_served();
}
