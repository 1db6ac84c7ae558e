// The connection lost at every packet of lock() and unlock(), before, in and behind it.

#include "support/cut_sweep.hpp"
#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

/// All calls are granted the lock, one at a time, in the order of the nodes.
asio::awaitable<void> all_served(std::vector<lock_call> waiting) {
    int before = -1;
    while (!waiting.empty()) {
        const auto a = co_await next_granted(waiting);
        CHECK(sequence_of(held(a).path()) > before);
        before = sequence_of(held(a).path());
        co_await unlocked(a);
    }
}

} // namespace

CO_TEST("a connection cut anywhere costs an uncontended lock nothing but time") {
    test.time_limit(90s);
    scene s(executor, short_session(4s));
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::each_way);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto a = ask(s.lock);
        co_await granted(a);
        CHECK(s.direct.stat(std::string(held(a).path()))->czxid == held(a).fencing_token().zxid);
        co_await unlocked(a);
        co_await s.until_queue(0);
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(3 * (3 + 3), 3)); // create, list, delete
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a connection cut anywhere costs a contended lock nothing but time") {
    test.time_limit(120s);
    scene s(executor, short_session(4s));
    client other(executor, shared_server().address());
    mutex others(other, s.path);
    co_await s.zk.connect();
    co_await other.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::in_turns);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto first = queue_up(s.direct, s.path);
        std::vector<lock_call> all;
        for (int i = 0; i < 2; ++i) {
            all.push_back(ask(s.lock));
            all.push_back(ask(others));
            all.push_back(ask(s.lock));
        }
        // One node for each that lives, and no second one after everything was repaired.
        co_await s.until_queue(7);
        co_await s.until_connected();
        co_await s.zk.exists("/");
        co_await s.until_queue(7);
        s.direct.remove(first);
        co_await all_served(all);
        co_await s.until_queue(0);
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(20, 2));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("the holder and the waiters outlive a lost connection with their places and tokens") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    std::vector<lock_call> rest;
    for (int i = 0; i < 5; ++i)
        rest.push_back(ask(s.lock));
    co_await s.until_queue(6);
    const auto before = s.queue();
    for (const auto how : {cut::fin, cut::rst}) {
        const auto connections = s.proxy.accepted();
        s.proxy.cut_all(how);
        co_await eventually([&] { return s.proxy.accepted() > connections; });
        co_await s.until_connected();
        co_await s.zk.exists("/");
        CHECK(s.queue() == before);
        CHECK(held(a).valid());
    }
    co_await held(a).unlock();
    co_await all_served(rest);
    co_await s.until_queue(0);
}

CO_TEST("creates whose answers are lost are found again, and none is sent twice") {
    scene s(executor);
    co_await s.zk.connect();
    s.proxy.hold(direction::down);
    std::vector<lock_call> all;
    for (int i = 0; i < 50; ++i)
        all.push_back(ask(s.lock));
    co_await s.until_queue(50);
    const auto before = s.queue();
    s.proxy.forget_frames();
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await granted(all[0]);
    CHECK(s.queue() == before);
    CHECK(s.sent(opcode::create2) == 0);
    for (const auto& a : all) {
        co_await granted(a);
        CHECK(s.direct.stat(std::string(held(a).path()))->czxid == held(a).fencing_token().zxid);
        co_await held(a).unlock();
    }
    co_await s.until_queue(0);
}

CO_TEST("a create with a lost answer is swept when its caller has left") {
    scene s(executor);
    co_await s.zk.connect();
    s.proxy.hold(direction::down);
    const auto a = ask(s.lock);
    co_await s.until_queue(1);
    a->cancel();
    co_await finished(a);
    CHECK(a->error == asio::error::operation_aborted);
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await s.until_queue(0);
}

CO_TEST("after a reconnect deletes are sent before the application's requests") {
    scene s(executor);
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await granted(a);
    co_await s.until_queue(2);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::fin);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    const auto user =
        start<paddock::node_stat>([&](auto token) { s.zk.exists("/", std::move(token)); });
    const auto change = start<paddock::node_stat>(
        [&](auto token) { s.zk.set(s.path, "x", any_version, std::move(token)); });
    held(a) = guard();
    s.proxy.forget_frames();
    s.proxy.refuse(false);
    co_await finished(user);
    co_await finished(change);
    auto seen = s.requests();
    std::erase(seen, opcode::set_watches);
    std::erase(seen, opcode::set_watches2);
    REQUIRE_FALSE(seen.empty());
    CHECK(seen.front() == opcode::remove);
    co_await granted(b);
}
