// Semaphores with lost connections and sessions: all permits or none, and no node left.

#include "support/cut_sweep.hpp"
#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a connection cut anywhere costs two free permits nothing but time") {
    test.time_limit(120s);
    semaphore_scene s(executor, 2, {}, short_session(4s));
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::each_way);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto a = ask(s.pool, 2);
        co_await granted(a);
        co_await s.until(2, 0);
        co_await unlocked(a);
        co_await s.until(0, 0);
        co_await s.until_connected();
    }
    MESSAGE(s.proxy.cuts() << " cuts");
    // Place, list, both leases, list, delete of the place and of the leases.
    CHECK(s.proxy.cuts() >= test.full_or_brief(2 * 3 * 7, 7));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a connection cut anywhere costs a wait for two permits nothing but time") {
    test.time_limit(120s);
    semaphore_scene s(executor, 2, {}, short_session(4s));
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::in_turns);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto theirs = s.foreign_lease();
        const auto a = ask(s.pool, 2);
        const auto b = ask(s.pool, 1);
        // Two leases for the first, and no third one after everything was repaired.
        co_await s.until(3, 2);
        co_await s.until_connected();
        co_await s.zk.exists("/");
        co_await s.until(3, 2);
        CHECK_FALSE(a->done());
        s.direct.remove(theirs);
        co_await granted(a);
        CHECK_FALSE(b->done());
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
        co_await s.until(0, 0);
        co_await s.until_connected();
    }
    MESSAGE(s.proxy.cuts() << " cuts");
    CHECK(s.proxy.cuts() >= test.full_or_brief(20, 2));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a connection cut anywhere costs permits of a counter nothing but time") {
    test.time_limit(120s);
    const auto counter = fresh_root() + "/limit";
    semaphore_scene s(executor, 1, {.counter = counter}, short_session(4s));
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::in_turns);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto a = ask(s.pool, 2);
        co_await s.until(2, 1);
        co_await s.until_connected();
        co_await eventually([&] { return s.direct.exists(counter); });
        CHECK_FALSE(a->done());
        s.direct.set(counter, shared_count(2));
        co_await granted(a);
        co_await unlocked(a);
        co_await s.until(0, 0);
        s.direct.remove(counter);
        s.direct.remove_all(s.path);
        co_await s.until_connected();
    }
    MESSAGE(s.proxy.cuts() << " cuts");
    CHECK(s.proxy.cuts() >= test.full_or_brief(20, 2));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("held permits outlive a lost connection") {
    semaphore_scene s(executor);
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    const auto b = ask(s.pool);
    co_await s.until(3, 1);
    const auto before = s.leases();
    for (const auto how : {cut::fin, cut::rst}) {
        const auto connections = s.proxy.accepted();
        s.proxy.cut_all(how);
        co_await eventually([&] { return s.proxy.accepted() > connections; });
        co_await s.until_connected();
        co_await s.zk.exists("/");
        CHECK(s.leases() == before);
        CHECK(held(a).valid());
        CHECK_FALSE(b->done());
    }
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    held(a) = guard(); // the deletes go out when there is a connection
    s.proxy.refuse(false);
    co_await granted(b);
    co_await s.until(1, 0);
}

CO_TEST("a lease that is deleted during a lost connection is lost to its holder") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    const auto a = ask(s.pool);
    co_await granted(a);
    const auto told = end_of(held(a));
    const auto b = ask(s.pool);
    co_await s.until(3, 1);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    const auto mine = s.leases();
    for (const auto& name : mine)
        if (s.path + "/leases/" + name != theirs) s.direct.remove(s.path + "/leases/" + name);
    s.proxy.refuse(false);
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    co_await granted(b); // its own lease was deleted, too, and is created again
    CHECK(s.leases().size() == 2);
}

CO_TEST("the permits of an expired session are lost, and its waiters queue again") {
    semaphore_scene s(executor);
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    const auto told = end_of(held(a));
    const auto b = ask(s.pool, 2);
    const auto c = ask(s.pool);
    co_await s.until(4, 2);
    s.expire();
    co_await finished(told);
    CHECK(told->error == errc::session_expired);
    CHECK_FALSE(held(a).valid());
    co_await granted(b);
    CHECK(s.zk.epoch() == 2);
    co_await s.until(3, 1);
    CHECK_FALSE(c->done());
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    CHECK(held(b).valid());
    CHECK(s.leases().size() == 3);
    co_await unlocked(b);
    co_await granted(c);
    co_await unlocked(c);
    co_await s.until(0, 0);
}

CO_TEST("a holder of permits learns of the end of its session, however young the hold is") {
    semaphore_scene s(executor);
    co_await s.zk.connect();
    for (std::uint64_t epoch = 1; epoch < 4; ++epoch) {
        co_await s.until_epoch(epoch);
        const auto a = ask(s.pool);
        const auto place_gone = [&] { return a->done(); };
        co_await eventually(place_gone);
        s.expire();
        const auto told = end_of(held(a));
        co_await finished(told);
        CHECK(told->error == errc::session_expired);
    }
}

CO_TEST("a session that expires during the creates makes acquire() start again") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    co_await s.zk.connect();
    std::uint64_t epoch = 1;
    struct {
        direction way;
        std::int32_t opcode;
    } const points[] = {{direction::up, opcode::create2}, // the session does not know the directory
                        {direction::up, opcode::multi},
                        {direction::down, opcode::multi},
                        {direction::up, opcode::children2},
                        {direction::down, opcode::children2}};
    for (const auto& at : points) {
        co_await s.until_epoch(epoch++);
        s.proxy.hold_from(at.way, at.opcode, s.path + "/leases");
        const auto a = ask(s.pool, 2);
        const auto b = ask(s.pool);
        co_await eventually([&] { return s.proxy.waiting(at.way) > 0; });
        s.expire();
        s.proxy.cut_all(cut::rst);
        s.proxy.release(at.way);
        co_await granted(a);
        CHECK(s.zk.epoch() == epoch);
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
        co_await s.until(0, 0);
    }
}

CO_TEST("a waiter with on_expiry::fail fails when the session expires") {
    semaphore_scene s(executor, 2, {.on_expiry = on_expiry::fail});
    const auto theirs = s.foreign_lease();
    const auto first = ask(s.pool, 2);
    const auto second = ask(s.pool);
    co_await s.until(3, 2);
    s.expire();
    co_await finished(first);
    co_await finished(second);
    CHECK(first->error == errc::session_expired);
    CHECK(second->error == errc::session_expired);
    co_await s.until(1, 0);
}

CO_TEST("leases whose creates were lost are found again, and none is created twice") {
    semaphore_scene s(executor, 20);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    s.proxy.hold_from(direction::down, opcode::create2, s.path + "/leases");
    const auto a = ask(s.pool, 20);
    co_await s.until(20, 1);
    const auto before = s.leases();
    s.proxy.forget_frames();
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await granted(a);
    CHECK(s.leases() == before);
    CHECK(s.sent(opcode::create2) == 0);
    co_await unlocked(a);
    co_await s.until(0, 0);
}
