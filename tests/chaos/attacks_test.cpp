// An administrator's attacks on a holder, and a leader that stands still.

#include "measured.hpp"
#include "support/lock_harness.hpp"
#include "support/stall_meter.hpp"
#include "support/zk_ensemble.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

asio::awaitable<void> until_age(boot_clock::time_point born, boot_clock::duration age) {
    while (boot_clock::now() < born + age)
        co_await a_moment();
}

using steady = std::chrono::steady_clock;

/// When the proxy saw it.
steady::time_point last_about(const std::string& node, direction way,
                              const std::vector<frame>& frames) {
    const auto found = std::find_if(frames.rbegin(), frames.rend(), [&](const frame& one) {
        return one.way == way && one.path == node;
    });
    REQUIRE(found != frames.rend());
    return found->when;
}

constexpr auto T = 4000ms;

/// A holder at the followers of an ensemble; it has no way to the leader.
struct follower_client {
    follower_client(asio::any_io_executor executor, zk_ensemble& ensemble, std::size_t leader,
                    const std::string& path)
        : one(ensemble.server((leader + 1) % 3).port())
        , two(ensemble.server((leader + 2) % 3).port())
        , zk(executor, one.address() + ',' + two.address(), short_session(T))
        , lock(zk, path) {}

    fault_proxy one, two;
    client zk;
    mutex lock;
    guard hold{};

    std::size_t dialled() const { return one.accepted() + two.accepted(); }
};

} // namespace

CO_TEST("a holder learns within 100 ms and a round trip that its node was deleted") {
    for (const auto age : {0ms, 50ms, 110ms, 1000ms}) {
        CAPTURE(age.count());
        scene s(executor);
        const guard hold = co_await s.lock.lock();
        const std::string node(hold.path());
        co_await until_age(boot_clock::now(), age);
        REQUIRE(hold.valid());
        const stall_meter stalls;
        s.direct.remove(node);
        const auto removed = steady::now();
        while (hold.valid() && steady::now() < removed + 10s)
            co_await a_moment();
        const auto learnt = steady::now();
        const auto frames = s.proxy.snapshot().frames;
        const auto asked = last_about(node, direction::up, frames);
        const auto told = last_about(node, direction::down, frames);
        const auto round_trip = std::max(told, removed) - std::max(asked, removed);
        MESSAGE("after " << age.count() << " ms of holding it took " << in_seconds(learnt - removed)
                         << " s, of which the server had " << in_seconds(round_trip) << " s");
        CHECK(learnt - removed - round_trip < 100ms + scaled(50ms) + stalls.allowance());
    }
}

CO_TEST("a leader that stands still for less than a session timeout drives no client away") {
    zk_ensemble ensemble({.tick_time = T / 5});
    const auto leader = ensemble.await_leader();
    follower_client a(executor, ensemble, leader, "/a"), b(executor, ensemble, leader, "/b");
    const auto both_valid = [&] { return a.hold.valid() && b.hold.valid(); };
    a.hold = co_await a.lock.lock();
    b.hold = co_await b.lock.lock();
    co_await until_age(boot_clock::now(), T / 2);
    const auto dialled_a = a.dialled(), dialled_b = b.dialled();

    // Back in time: the holds survive.
    ensemble.pause(leader);
    co_await until_age(boot_clock::now(), T * 35 / 100);
    CHECK(both_valid());
    ensemble.resume(leader);
    co_await until_age(boot_clock::now(), T);
    CHECK(both_valid());
    CHECK(a.dialled() <= dialled_a + 1);
    CHECK(b.dialled() <= dialled_b + 1);

    // Too late: they lapse in time, and the clients stay where they are.
    const auto stopped = boot_clock::now();
    ensemble.pause(leader);
    const auto over_a = co_await end_of_validity(a.hold), over_b = co_await end_of_validity(b.hold);
    MESSAGE("without a leader they are over at +" << in_seconds(over_a - stopped) << " s and +"
                                                  << in_seconds(over_b - stopped) << " s");
    CHECK(std::max(over_a, over_b) - stopped < T);
    ensemble.resume(leader);
    MESSAGE("connections: " << a.dialled() << " and " << b.dialled());
    CHECK(a.dialled() <= dialled_a + 2);
    CHECK(b.dialled() <= dialled_b + 2);
    a.hold = guard();
    b.hold = guard();
    const auto next_a = ask(a.lock), next_b = ask(b.lock);
    co_await eventually([&] { return next_a->done() && next_b->done(); }, 30s);
    CHECK(held(next_a).valid());
    CHECK(held(next_b).valid());
}
