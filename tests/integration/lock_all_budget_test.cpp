// lock_all and the budget of nodes: room for all locks, or for none.

#include "session/core.hpp"
#include "support/lock_all_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace paddock;
using namespace paddock::test;

namespace {

const std::string long_name = "/" + std::string(200, 'x');

/// Room for three nodes with that name, so for one pair.
client_options three_nodes() {
    client_options options;
    options.budgets.node_path_bytes = 1024;
    return options;
}

struct pairs : scene {
    explicit pairs(asio::any_io_executor executor, client_options options = three_nodes())
        : scene(executor, std::move(options), {}, long_name) {}

    mutex lock_at(int n) { return {zk, path + std::to_string(n)}; }
    std::vector<mutex> pair(int n) { return {lock_at(2 * n), lock_at(2 * n + 1)}; }
    std::size_t nodes(int n) { return queue_at(direct, path + std::to_string(n)).size(); }
    std::size_t used() { return paddock::detail::access::core_of(zk)->node_budget().used(); }
    /// No part of the budget is in use any more.
    asio::awaitable<void> all_given_back() {
        co_await eventually([&] { return used() == 0; });
    }
};

} // namespace

CO_TEST("all pairs of free locks are taken, although the budget has room for a few only") {
    pairs s(executor);
    std::vector<lock_all_call> all;
    const int many = test.full_or_brief(40, 5);
    for (int n = 0; n < many; ++n)
        all.push_back(ask_all(s.pair(n)));
    for (const auto& a : all) {
        co_await granted_all(a); // one client's waiters keep their order
        CHECK(s.used() <= 1024);
        held_set(a) = {};
    }
    co_await s.all_given_back();
}

CO_TEST("a caller that leaves before or after it has got room leaves none in use") {
    pairs s(executor);
    s.direct.make_path(s.path + "0");
    const auto other = queue_up(s.direct, s.path + "0");
    const auto first = ask_all(s.pair(0)); // has room, and no lock
    co_await eventually([&] { return s.nodes(0) == 2; });
    const auto second = ask_all(s.pair(1)); // waits for room
    const auto third = ask_all_for(s.pair(2), 50ms);
    co_await finished(third);
    CHECK_FALSE(third->error);
    CHECK_FALSE(held_set(third));
    second->cancel();
    co_await finished(second);
    CHECK(second->error == asio::error::operation_aborted);
    const auto fourth = ask_all(s.pair(3));
    const auto now = ask_all_for(s.pair(4), 0ns);
    co_await finished(now);
    CHECK_FALSE(now->error);
    CHECK_FALSE(held_set(now));
    CHECK_FALSE(fourth->done());
    first->cancel();
    co_await granted_all(fourth);
    held_set(fourth) = {};
    co_await s.all_given_back();
    const auto again = ask_all(s.pair(5));
    again->cancel(); // before any request
    co_await finished(again);
    co_await s.all_given_back();
}

CO_TEST("a set that begins again reserves its room again, and only once") {
    pairs s(executor);
    s.direct.make_path(s.path + "1");
    const auto other = queue_up(s.direct, s.path + "1");
    const auto a = ask_all(s.pair(0));
    for (int round = 0; round < 3; ++round) {
        co_await eventually([&] { return s.nodes(0) == 1 && s.nodes(1) == 2; });
        const auto first = queue_at(s.direct, s.path + "0").at(0);
        if (round == 2)
            expire(s);
        else
            s.direct.remove(s.path + "0/" + first);
        co_await eventually([&] {
            const auto now = queue_at(s.direct, s.path + "0");
            return now.size() == 1 && now[0] != first;
        });
    }
    co_await eventually([&] { return s.nodes(1) == 2; });
    s.direct.remove(other);
    co_await granted_all(a);
    CHECK(s.used() <= 1024 * 2 / 3);
    held_set(a) = {};
    co_await s.all_given_back();
}

CO_TEST("a set that fails, also by on_over_budget::fail, releases all its locks") {
    pairs s(executor);
    mutex_options strict;
    strict.on_over_budget = on_over_budget::fail;
    const auto first = ask_all(s.pair(0));
    co_await granted_all(first);
    std::vector<mutex> some{s.lock_at(2), mutex(s.zk, s.path + "3", strict)};
    const auto refused = ask_all(some);
    co_await finished(refused);
    CHECK(refused->error == errc::over_budget);
    held_set(first) = {};
    co_await s.all_given_back();
    s.direct.create(s.path + "5", "", node_mode::ephemeral); // which can have no child
    const auto failed = ask_all(s.pair(2));
    co_await finished(failed);
    CHECK(failed->error == zk_errc::no_children_for_ephemerals);
    co_await s.all_given_back();
}

CO_TEST("room is reserved for all permits of a set, and for the turn at their semaphore") {
    pairs s(executor);
    const semaphore pool(s.zk, s.path + "p", 5);
    const auto first = ask_all({s.lock_at(0), permits(pool)}); // three nodes, all there is room for
    co_await granted_all(first);
    const auto second = ask_all({permits(pool), s.lock_at(1)});
    const auto now = ask_all_for({permits(pool), s.lock_at(2)}, 0ns);
    co_await finished(now);
    CHECK_FALSE(now->error);
    CHECK_FALSE(held_set(now));
    const auto too_many = ask_all({permits(pool, 3), s.lock_at(3)});
    co_await finished(too_many);
    CHECK(too_many->error == errc::over_budget);
    CHECK_FALSE(second->done());
    CHECK(s.nodes(1) == 0);
    held_set(first) = {};
    co_await granted_all(second);
    held_set(second) = {};
    co_await s.all_given_back();
}

CO_TEST("sets that queue for permits again do not wait for each other's room") {
    pairs s(executor);
    const auto path = s.path + "-"; // before the mutexes
    const auto leases = path + "/leases";
    s.direct.make_path(leases);
    const auto other = queue_up(s.direct, leases, "lease-");
    const semaphore pool(s.zk, path, 1);
    const auto first = ask_all({permits(pool), s.lock_at(0)}); // is short of a permit
    co_await eventually([&] { return queue_at(s.direct, leases).size() == 2; });
    const auto second = ask_all({s.lock_at(1), s.lock_at(2), s.lock_at(3)}); // of room
    co_await s.zk.exists("/");
    CHECK_FALSE(second->done());
    expire(s);
    co_await granted_all(second);
    held_set(second) = {};
    s.direct.remove(other);
    co_await granted_all(first);
    held_set(first) = {};
    co_await s.all_given_back();
}

CO_TEST("sets of the locks of two clients do not wait for each other's room") {
    pairs s(executor);
    client other(executor, shared_server().address(), three_nodes());
    std::vector<lock_all_call> all;
    const int many = test.full_or_brief(20, 3);
    for (int n = 0; n < many; ++n) {
        const auto a = s.path + "a" + std::to_string(n), b = s.path + "b" + std::to_string(n);
        auto &first = n % 2 ? s.zk : other, &second = n % 2 ? other : s.zk;
        all.push_back(ask_all(
            {mutex(first, a), mutex(first, a + "'"), mutex(second, b), mutex(second, b + "'")}));
    }
    while (!all.empty()) {
        const auto done = [](const lock_all_call& a) { return a->done(); };
        co_await eventually([&] { return std::any_of(all.begin(), all.end(), done); });
        const auto next = std::find_if(all.begin(), all.end(), done);
        const auto a = *next;
        all.erase(next);
        co_await granted_all(a);
        held_set(a) = {};
    }
    co_await s.all_given_back();
    co_await eventually(
        [&] { return paddock::detail::access::core_of(other)->node_budget().used() == 0; });
}

CO_TEST("a caller that waits for room fails when the client is closed") {
    pairs s(executor);
    client other(executor, shared_server().address(), three_nodes());
    const std::vector<mutex> theirs{mutex(other, s.path + "a"), mutex(other, s.path + "b")};
    const auto first = ask_all(theirs);
    co_await granted_all(first);
    const auto a = ask_all({s.lock_at(0), mutex(other, s.path + "1"), mutex(other, s.path + "2")});
    const auto b = ask_all({mutex(other, s.path + "3"), mutex(other, s.path + "4"), s.lock_at(5)});
    co_await other.connect();
    co_await other.close();
    co_await finished(a);
    CHECK(a->error == errc::closed);
    co_await finished(b);
    CHECK(b->error == errc::closed);
    co_await s.all_given_back();
}

CO_TEST("a set that waits for room in one client's budget ends with the other client") {
    pairs s(executor);
    client home(executor, shared_server().address());
    const mutex first(home, "/a");
    const auto full = ask_all(s.pair(0));
    co_await granted_all(full);
    const auto a = ask_all({first, s.lock_at(2), s.lock_at(3)});
    const auto b = ask_all_for({first, s.lock_at(4), s.lock_at(5)}, 60s);
    co_await home.exists("/"); // both wait for room by then
    co_await s.zk.exists("/");
    CHECK_FALSE(a->done());
    co_await home.close();
    co_await finished(a);
    co_await finished(b);
    CHECK(a->error == errc::closed);
    CHECK(b->error == errc::closed);
    held_set(full) = {};
    co_await s.all_given_back();
}
