// Sticky locks: what stays with a client, for how long, and who gets it.

#include "sticky_support.hpp"

#include <paddock/lock_all.hpp>
#include <paddock/lock_family.hpp>

#include <boost/asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a lock that lingers is granted again and again without a request") {
    scene s(executor, {}, lingering());
    co_await s.zk.connect();
    s.proxy.forget_frames();
    fencing_token last;
    std::string path;
    for (int i = 0; i < 1000; ++i) {
        auto g = co_await s.lock.lock();
        REQUIRE(g.valid());
        REQUIRE(g.fencing_token() > last);
        REQUIRE((g.fencing_token().sub & 0xffff'ffffU) == static_cast<std::uint64_t>(i));
        if (i > 0) REQUIRE(g.path() == path);
        last = g.fencing_token();
        path = g.path();
    }
    CHECK(requests_of(s) == codes{opcode::create2, opcode::children2, opcode::children2});
    CHECK(s.queue().size() == 1);
}

CO_TEST("a lock passes along the local waiters in their order, with one node and no request") {
    scene s(executor, {}, handing_on());
    co_await s.zk.connect();
    s.proxy.forget_frames();
    const auto waiting = ask_often(s.lock, 50);
    co_await granted(waiting.front());
    co_await until_listed(s, 2);
    s.proxy.hold(direction::up);
    fencing_token last;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        co_await granted(waiting[i]);
        CHECK(held(waiting[i]).fencing_token() > last);
        last = held(waiting[i]).fencing_token();
        CHECK(std::count_if(waiting.begin(), waiting.end(), [](const auto& one) {
                  return one->done();
              }) == static_cast<std::ptrdiff_t>(i + 1));
        if (i + 1 < waiting.size()) co_await unlocked(waiting[i]);
    }
    s.proxy.release(direction::up);
    CHECK(requests_of(s) == codes{opcode::create2, opcode::children2, opcode::children2});
    co_await unlocked(waiting.back());
    CHECK(s.queue().empty());
}

CO_TEST("a guard that has passed its hold on is over, though its node lives on") {
    scene s(executor, {}, lingering());
    const auto a = co_await take_alone(s);
    const auto b = ask(s.lock);
    const auto end = end_of(held(a));
    held(a) = guard();
    co_await granted(b);
    co_await finished(end);
    CHECK(end->error == errc::released);
    CHECK_FALSE(held(a));
    co_await held(b).verify();
    const std::vector<operation> steps{op::create{s.path + "-beside", ""}};
    co_await held(b).transaction(steps);
    held(b) = guard(); // after its transaction was answered
    const auto c = ask(s.lock);
    co_await granted(c);
    CHECK((held(c).fencing_token().sub & 0xffff'ffffU) == 2);
}

CO_TEST("another client waits for as many hand-offs as the options say, and no more") {
    for (const std::uint32_t most : {0U, 1U, 5U}) {
        auto options = handing_on(most);
        options.linger = 1min;
        scene s(executor, {}, options);
        co_await s.zk.connect();
        s.proxy.forget_frames();
        auto waiting = ask_often(s.lock, 10);
        auto holder = co_await next_granted(waiting);
        co_await until_listed(s, 2);
        for (int i = 0; i < 3; ++i) { // without a limit while it is alone
            held(holder) = guard();
            holder = co_await next_granted(waiting);
        }
        const auto first = s.queue().front();
        const auto other = queue_up(s.direct, s.path);
        co_await until_listed(s, 3);
        std::uint32_t handed_on = 0;
        while (true) {
            held(holder) = guard();
            co_await eventually(
                [&] { return s.queue().front() != first || waiting.front()->done(); });
            if (s.queue().front() != first) break;
            holder = co_await next_granted(waiting);
            ++handed_on;
        }
        CHECK(handed_on == most);
        CHECK(s.path + "/" + s.queue().front() == other);
        CHECK_FALSE(waiting.front()->done());
        s.direct.remove(other); // then the lock comes back, and goes round again
        for (std::size_t left = waiting.size(); left > 0; --left) {
            holder = co_await next_granted(waiting);
            held(holder) = guard();
        }
    }
}

CO_TEST("another client that queues ends the lingering at once") {
    scene s(executor, {}, lingering());
    co_await let_linger(s);
    const auto other = queue_up(s.direct, s.path);
    co_await eventually([&] { return s.queue().size() == 1; });
    CHECK(s.path + "/" + s.queue().front() == other);
    const auto b = ask(s.lock);
    co_await s.until_queue(2);
    CHECK_FALSE(b->done());
    s.direct.remove(other);
    co_await granted(b);
}

CO_TEST("a try_lock takes a lock that lingers, and none that a local caller has") {
    scene s(executor, {}, lingering());
    const auto a = co_await take_alone(s);
    auto b = ask_now(s.lock);
    co_await finished(b);
    CHECK_FALSE(held(b));
    b = ask_for(s.lock, 20ms);
    co_await finished(b);
    CHECK_FALSE(b->error);
    CHECK_FALSE(held(b));
    held(a) = guard();
    s.proxy.forget_frames();
    b = ask_now(s.lock);
    co_await granted(b);
    CHECK(requests_of(s).empty());
}

namespace {
/// On a slow machine a try_lock may end before it is granted a lock that was found to linger.
void gave_up_late(const lock_call& b, std::chrono::steady_clock::time_point begun) {
    CHECK_FALSE(b->error);
    CHECK(std::chrono::steady_clock::now() - begun >= 100ms);
}
} // namespace

CO_TEST("a try_lock of another client sees through the lingering") {
    scene s(executor, {}, lingering());
    scene t(executor, {}, lingering());
    mutex same(t.zk, s.path, lingering());
    co_await t.zk.connect();
    co_await let_linger(s);
    const auto lingers = s.queue();
    const auto tried = [&]() -> asio::awaitable<lock_call> {
        const auto begun = std::chrono::steady_clock::now();
        const auto b = ask_now(same);
        co_await finished(b);
        if (!held(b)) {
            gave_up_late(b, begun);
            // the next would see this one's node, which is being deleted
            co_await eventually([&] { return s.queue().empty() || s.queue() == lingers; });
        }
        co_return b;
    };
    auto b = co_await tried();
    while (!held(b)) // a first client that is slow needs longer than the try_lock waits
        b = co_await tried();
    auto c = ask_now(s.lock);
    co_await finished(c);
    CHECK_FALSE(c->error);
    CHECK_FALSE(held(c));
    held(b) = guard();
    c = ask(s.lock);
    co_await granted(c);
}

CO_TEST("a try_lock takes a lock whose lingering node goes while it looks") {
    scene s(executor, {}, lingering());
    scene t(executor);
    mutex same(t.zk, s.path, lingering());
    co_await t.zk.connect();
    co_await let_linger(s);
    t.proxy.hold(direction::down);
    const auto begun = std::chrono::steady_clock::now();
    const auto b = ask_now(same);
    co_await eventually([&] { return t.proxy.waiting(direction::down) > 0; });
    s.direct.remove(s.path + "/" + s.queue().front());
    t.proxy.release(direction::down);
    co_await finished(b);
    if (!held(b)) gave_up_late(b, begun);
}

CO_TEST("a try_lock of the same client takes a lock that only lingers, whatever its options") {
    scene s(executor, {}, lingering());
    for (const auto& options : {handing_on(), mutex_options()}) {
        co_await let_linger(s);
        mutex same(s.zk, s.path, options);
        const auto a = ask_now(same);
        co_await granted(a);
        held(a) = guard();
        co_await s.until_queue(0);
    }
    co_await let_linger(s);
    const std::vector<lock_request> set{s.lock};
    auto all = co_await try_lock_all(set);
    CHECK(all.valid());
}

CO_TEST("a try_lock without a connection fails, although another caller waits") {
    scene s(executor, {}, lingering());
    s.proxy.refuse(true);
    const auto a = ask(s.lock);
    const auto b = ask_now(s.lock);
    co_await finished(b);
    CHECK(b->error == errc::not_connected);
    CHECK_FALSE(a->done());
}

CO_TEST("nodes that linger give way to a call that waits for the node budget") {
    client_options options;
    options.budgets.node_path_bytes = 4096;
    scene s(executor, options);
    const lock_family family(s.zk, s.path, lingering(1min));
    for (int key = 0; key < 100; ++key) {
        auto g = co_await family.lock(std::to_string(key));
        co_await g.unlock();
    }
    CHECK(s.direct.children(s.path).size() < 100); // not all of them linger
}

CO_TEST("hand-offs give way to a call that waits for the node budget") {
    client_options options;
    options.budgets.node_path_bytes = 1024;
    scene s(executor, options);
    const lock_family family(s.zk, s.path, handing_on());
    bool over = false;
    const auto work = [&](std::string key) -> asio::awaitable<void> {
        while (!over) {
            auto g = co_await family.lock(key);
            co_await g.unlock();
        }
    };
    int ended = 0;
    for (int n = 0; n < 40; ++n)
        asio::co_spawn(executor, work(std::to_string(n % 20)),
                       [&](std::exception_ptr) { ++ended; });
    mutex plain(s.zk, s.path + "-plain");
    const auto a = ask(plain);
    co_await granted(a);
    over = true;
    held(a) = guard();
    co_await eventually([&] { return ended == 40; });
}

CO_TEST("a try_lock writes nothing before a node that is not sticky") {
    scene s(executor, {}, lingering());
    queue_up(s.direct, s.path);
    co_await s.zk.connect();
    const codes reads{opcode::children2, opcode::children2, opcode::get};
    for (const auto slow : {0ms, 150ms}) { // it may end before its last read is sent
        s.proxy.delay(direction::down, slow);
        s.proxy.forget_frames();
        const auto a = ask_now(s.lock);
        co_await finished(a);
        CHECK_FALSE(held(a));
        co_await eventually([&] { return s.requests().size() >= reads.size(); });
        CHECK(s.requests() == reads);
    }
}

CO_TEST("lock_all and tickets have nodes of their own, before which the lock does not linger") {
    scene s(executor, {}, lingering());
    mutex other(s.zk, s.path + "-b", lingering());
    co_await let_linger(s);
    const std::vector<lock_request> set{s.lock, other};
    auto both = co_await lock_all(set);
    CHECK(both.valid());
    co_await both.unlock();
    CHECK(s.queue().empty());
    co_await let_linger(s);
    auto t = co_await s.lock.enqueue();
    auto g = co_await t.acquired();
    CHECK(g.valid());
}

CO_TEST("the locks of a family are sticky, each for itself") {
    scene s(executor);
    lock_family all(s.zk, s.path, lingering());
    for (const auto* const key : {"a", "b"}) {
        auto g = co_await all.lock(key);
        g = guard();
        g = co_await all.lock(key);
        CHECK((g.fencing_token().sub & 0xffff'ffffU) == 1);
    }
    CHECK(queue_at(s.direct, s.path + "/a").size() == 1);
}

CO_TEST("mutexes with other options do not share the node") {
    scene s(executor, {}, lingering());
    mutex same(s.zk, s.path, lingering());
    auto options = lingering();
    options.label = "another";
    mutex labelled(s.zk, s.path, options);
    mutex ordinary(s.zk, s.path);
    co_await let_linger(s);
    auto g = co_await same.lock();
    CHECK((g.fencing_token().sub & 0xffff'ffffU) == 1);
    g = guard();
    g = co_await labelled.lock();
    CHECK((g.fencing_token().sub & 0xffff'ffffU) == 0);
    g = guard();
    g = co_await ordinary.lock();
    CHECK((g.fencing_token().sub & 0xffff'ffffU) == 0);
}

TEST_CASE("options that are not acceptable are named") {
    asio::io_context io;
    client zk(io, "127.0.0.1:1");
    const auto refused = [&](mutex_options options, const char* text) {
        try {
            mutex(zk, "/a", options);
        } catch (const boost::system::system_error& e) {
            CHECK(e.code() == errc::bad_argument);
            CHECK_MESSAGE(std::string(e.what()).find(text) != std::string::npos, e.what());
            return;
        }
        FAIL(text);
    };
    refused(handing_on(1'000'001), "mutex_options::max_local_handoffs");
    refused(lingering(-1ms), "mutex_options::linger");
    refused(lingering(60'001ms), "mutex_options::linger");
    mutex(zk, "/a", handing_on(1'000'000));
    mutex(zk, "/a", lingering(60'000ms));
    CHECK_THROWS_AS(recursive_mutex(zk, "/a", lingering()), boost::system::system_error);
    CHECK_THROWS_AS(recursive_mutex(zk, "/a", handing_on()), boost::system::system_error);
}
