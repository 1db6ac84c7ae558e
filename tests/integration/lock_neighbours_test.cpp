// What other clients do to a waiter's predecessors, and to its own node.

#include "support/lock_harness.hpp"
#include "support/stall_meter.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;

namespace {

std::string node_of(scene& s, std::size_t place) { return s.path + '/' + s.queue().at(place); }

asio::awaitable<void> until_watching(scene& s) {
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) >= 2; });
}

} // namespace

CO_TEST("a waiter's predecessor may be deleted at any point of its lock()") {
    scene s(executor);
    co_await s.zk.connect();
    struct {
        direction way;
        std::int32_t opcode;
    } const points[] = {
        {direction::up, opcode::create2},   {direction::down, opcode::create2},
        {direction::up, opcode::children2}, {direction::down, opcode::children2},
        {direction::up, opcode::get},       {direction::down, opcode::get},
    };
    for (const auto& at : points)
        for (const int foreigners : {1, 3}) {
            INFO("operation " << at.opcode << ", direction " << static_cast<int>(at.way));
            std::vector<std::string> others;
            for (int i = 0; i < foreigners; ++i)
                others.push_back(queue_up(s.direct, s.path));
            s.proxy.hold_from(at.way, at.opcode);
            const auto a = ask(s.lock);
            co_await eventually([&] { return s.proxy.waiting(at.way) > 0; });
            for (const auto& other : others)
                s.direct.remove(other);
            s.proxy.release(at.way); // with the event in the same burst, if there is one
            co_await granted(a);
            co_await held(a).unlock();
        }
}

CO_TEST("a waiter is served however its neighbours' deletes fall in time") {
    scene s(executor);
    co_await s.zk.connect();
    for (std::size_t i = 0; test.begin_round(i, test.full_or_brief(150, 15)); ++i) {
        const auto first = queue_up(s.direct, s.path);
        const auto second = queue_up(s.direct, s.path);
        const auto a = ask(s.lock);
        asio::steady_timer moment(executor, (i % 50) * 40us);
        co_await moment.async_wait(asio::use_awaitable);
        s.direct.remove(i % 2 == 0 ? first : second);
        s.direct.remove(i % 2 == 0 ? second : first);
        co_await granted(a);
        co_await held(a).unlock();
    }
    CHECK(s.queue().empty());
}

CO_TEST("a change of the watched node is no delete, and its delete is still noticed") {
    scene s(executor);
    const auto other = queue_up(s.direct, s.path);
    s.proxy.hold_from(direction::down, opcode::get);
    const auto a = ask(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::down) >= 2; });
    for (int i = 0; i < 3; ++i) {
        s.direct.set(other, "__REVOKE__");
        s.proxy.release(direction::down);
        co_await eventually(
            [&] { return s.proxy.count(direction::down, opcode::get) == std::size_t(i) + 3; });
        CHECK_FALSE(a->done());
    }
    s.direct.set(node_of(s, 1), "__REVOKE__"); // its own: read, restored, and read again
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) == 7; });
    CHECK_FALSE(a->done());
    s.direct.remove(other);
    co_await granted(a);
    CHECK(s.queue().size() == 1);
}

CO_TEST("a waiter notices a delete that happened while it was disconnected") {
    scene s(executor);
    for (const bool another_first : {false, true}) {
        std::string before;
        if (another_first) before = queue_up(s.direct, s.path);
        const auto other = queue_up(s.direct, s.path);
        const auto a = ask(s.lock);
        co_await until_watching(s);
        s.proxy.refuse(true);
        s.proxy.cut_all(cut::rst);
        co_await eventually([&] { return s.zk.state() == client_state::suspended; });
        s.direct.remove(other);
        s.proxy.forget_frames();
        s.proxy.refuse(false);
        if (another_first) {
            co_await until_watching(s);
            CHECK_FALSE(a->done());
            s.direct.remove(before);
        }
        co_await granted(a);
        co_await held(a).unlock();
        s.proxy.forget_frames();
    }
}

CO_TEST("a waiter whose node was deleted by hand queues again, behind later waiters") {
    enum class hears { one_by_one, both_at_once, when_connected_again };
    for (const auto& round : test.each(
             std::array{hears::one_by_one, hears::both_at_once, hears::when_connected_again})) {
        scene s(executor);
        const auto first = queue_up(s.direct, s.path);
        const auto a = ask(s.lock);
        co_await until_watching(s);
        const auto third = queue_up(s.direct, s.path);

        switch (std::get<hears>(round)) {
        case hears::one_by_one:
            s.direct.remove(node_of(s, 1));
            co_await s.until_queue(3);
            s.direct.remove(first);
            break;
        case hears::both_at_once:
            s.proxy.hold(direction::down);
            s.direct.remove(node_of(s, 1));
            s.direct.remove(first);
            s.proxy.release(direction::down);
            break;
        case hears::when_connected_again:
            s.proxy.refuse(true);
            s.proxy.cut_all(cut::fin);
            co_await eventually([&] { return s.zk.state() == client_state::suspended; });
            s.direct.remove(node_of(s, 1));
            s.direct.remove(first);
            s.proxy.refuse(false);
        }
        co_await s.until_queue(2);
        CHECK(node_of(s, 0) == third);
        co_await s.until_connected();
        co_await s.zk.exists("/");
        CHECK_FALSE(a->done());
        s.direct.remove(third);
        co_await granted(a);
    }
}

CO_TEST("a waiter behind a local holder whose node was deleted by hand queues again") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto b = ask(s.lock);
    const auto c = ask(s.lock);
    co_await s.until_queue(3);
    const auto other = queue_up(s.direct, s.path);
    s.direct.remove(node_of(s, 1));
    co_await eventually([&] { return s.queue().size() == 4 && node_of(s, 2) == other; });
    co_await held(a).unlock();
    co_await granted(c);
    co_await held(c).unlock();
    co_await s.zk.exists("/");
    CHECK_FALSE(b->done());
    s.direct.remove(other);
    co_await granted(b);
}

CO_TEST("no release grants the lock to a waiter whose node is not known to exist") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) == 1; });
    s.proxy.hold_from(direction::up, opcode::get);
    const auto b = ask(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    s.direct.remove(node_of(s, 1));
    const auto other = queue_up(s.direct, s.path);
    held(a) = guard();
    s.proxy.release(direction::up);
    co_await eventually([&] { return s.queue().size() == 2 && node_of(s, 0) == other; });
    co_await s.zk.exists("/");
    CHECK_FALSE(b->done());
    s.direct.remove(other);
    co_await granted(b);
}

CO_TEST("after a reconnect a waiter reads its node before it is granted") {
    scene s(executor);
    co_await s.zk.connect();
    // The server reports the two deletes in any order.
    for (std::size_t i = 0; test.begin_round(i, 10); ++i) {
        s.proxy.forget_frames();
        const auto first = queue_up(s.direct, s.path);
        const auto a = ask(s.lock);
        co_await until_watching(s);
        s.proxy.refuse(true);
        s.proxy.cut_all(cut::fin);
        co_await eventually([&] { return s.zk.state() == client_state::suspended; });
        s.direct.remove(node_of(s, 1));
        const auto other = queue_up(s.direct, s.path);
        s.direct.remove(first);
        s.proxy.refuse(false);
        co_await s.until_queue(2);
        co_await s.until_connected();
        co_await s.zk.exists("/");
        REQUIRE_FALSE(a->done());
        s.direct.remove(other);
        co_await granted(a);
        co_await held(a).unlock();
    }
}

CO_TEST("a holder whose node was deleted by hand learns it soon, and the next is served") {
    scene s(executor);
    for (const bool young : {false, true}) {
        s.proxy.forget_frames();
        const auto a = ask(s.lock);
        co_await granted(a);
        const auto told = end_of(held(a));
        const auto path = std::string(held(a).path());
        if (!young) // then its node is watched
            co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) == 1; });
        const auto b = ask(s.lock);
        co_await s.until_queue(2);
        const stall_meter stalls;
        const auto begin = std::chrono::steady_clock::now();
        s.direct.remove(path);
        co_await finished(told);
        const auto time = std::chrono::steady_clock::now() - begin;
        CHECK(time < scaled(young ? 300ms : 200ms) + stalls.allowance());
        CHECK(told->error == errc::node_deleted);
        CHECK_FALSE(held(a).valid());
        co_await granted(b);
        CHECK(held(b).fencing_token() > held(a).fencing_token());
        const auto end = give_back(held(a));
        co_await finished(end);
        CHECK(end->error == errc::lock_lost);
        CHECK(held(b).valid());
        co_await held(b).unlock();
        CHECK(s.queue().empty());
    }
}

CO_TEST("a directory deleted by hand under its contenders does not stop them") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    std::vector<lock_call> rest;
    for (int i = 0; i < 4; ++i)
        rest.push_back(ask(s.lock));
    co_await s.until_queue(5);
    for (int round_trip = 0; round_trip < 2; ++round_trip) // no listing is in flight any more,
        co_await s.zk.exists("/"); // which could show the second node without the first
    s.direct.remove_all(s.path);
    const auto told = end_of(held(a));
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    std::vector<lock_call> open = rest;
    while (!open.empty()) {
        const auto done = [](const lock_call& x) { return x->done(); };
        co_await eventually([&] { return std::any_of(open.begin(), open.end(), done); });
        const auto next = std::find_if(open.begin(), open.end(), done);
        co_await granted(*next);
        co_await held(*next).unlock();
        open.erase(next);
    }
    co_await s.until_queue(0);
}
