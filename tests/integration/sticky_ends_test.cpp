// Sticky locks: what ends the lingering, and the hand-offs.

#include "sticky_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a lock that nobody wants is given up after its time to linger") {
    scene s(executor, {}, lingering(50ms));
    const auto a = co_await take_alone(s);
    co_await unlocked(a);
    co_await s.until_queue(0);
    const auto b = ask(s.lock);
    co_await granted(b);
    CHECK((held(b).fencing_token().sub & 0xffff'ffffU) == 0);
}

CO_TEST("a lock that is wanted for ever is given up now and then") {
    scene s(executor, {}, lingering(10ms));
    auto g = co_await s.lock.lock();
    const std::string path(g.path());
    while (true) {
        g = guard();
        g = co_await s.lock.lock();
        if (g.path() != path) break;
    }
    CHECK((g.fencing_token().sub & 0xffff'ffffU) == 0);
}

CO_TEST("a hold is not passed on while the outcome of its transaction is not known") {
    for (const bool cancelled : {false, true}) {
        scene s(executor, {}, lingering());
        const auto a = co_await take_alone(s);
        const auto b = ask(s.lock);
        const std::string path(held(a).path());
        s.proxy.hold(direction::down);
        const std::vector<operation> steps{op::create{s.path + "-beside", ""}};
        const auto wrote = start<std::vector<operation_result>>(
            [&](auto token) { held(a).transaction(steps, std::move(token)); });
        co_await eventually([&] { return s.sent(opcode::multi) == 1; });
        if (cancelled) wrote->cancel();
        held(a) = guard();
        co_await eventually([&] { return s.sent(opcode::remove) == 1; });
        CHECK_FALSE(b->done());
        s.proxy.release(direction::down);
        co_await granted(b);
        CHECK(held(b).path() != path);
    }
}

CO_TEST("a lost connection ends the lingering, and hand-offs wait until it is back") {
    scene s(executor, {}, lingering());
    co_await let_linger(s);
    s.proxy.cut_all(cut::rst);
    co_await s.until_queue(0);

    const auto a = co_await take_alone(s);
    const auto b = ask(s.lock);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    const std::string path(held(a).path());
    held(a) = guard();
    s.proxy.refuse(false);
    co_await granted(b);
    CHECK(held(b).path() != path);
}

CO_TEST("a node that an administrator deletes while it lingers is not granted again") {
    for (const bool young : {true, false}) { // the hold: an old one has a watch on its node
        CAPTURE(young);
        scene s(executor, {}, lingering());
        const auto a = co_await take_alone(s);
        if (!young) co_await eventually([&] { return s.sent(opcode::get) == 1; });
        co_await unlocked(a);
        REQUIRE(s.queue().size() == 1);
        s.direct.remove(s.path + "/" + s.queue().front());
        co_await s.zk.exists("/"); // its answer comes behind the watch events
        const auto b = ask(s.lock);
        co_await granted(b);
        CHECK((held(b).fencing_token().sub & 0xffff'ffffU) == 0);
        const auto end = end_of(held(b));
        s.direct.remove(std::string(held(b).path()));
        co_await finished(end);
        CHECK(end->error == errc::node_deleted);
        const auto c = ask(s.lock);
        co_await granted(c);
    }
}

CO_TEST("the end of the session ends all, and the waiters queue again or fail") {
    for (const auto what : {on_expiry::requeue, on_expiry::fail}) {
        auto options = lingering();
        options.on_expiry = what;
        scene s(executor, {}, options);
        const auto a = co_await take_alone(s);
        const auto b = ask(s.lock);
        const auto end = end_of(held(a));
        expire(s);
        co_await finished(end);
        CHECK(end->error == errc::session_expired);
        co_await finished(b);
        if (what == on_expiry::requeue)
            CHECK(held(b).valid());
        else
            CHECK(b->error == errc::session_expired);
        held(b) = guard();
        const auto c = ask(s.lock);
        co_await granted(c);
    }
}

CO_TEST("a request for the lock ends the lingering, and reaches the guard of the moment") {
    scene s(executor, {}, lingering());
    const auto a = co_await take_alone(s);
    co_await eventually([&] { return s.sent(opcode::get) == 1; }); // older than 100 ms
    held(a) = guard();
    const auto b = ask(s.lock);
    co_await granted(b);
    const auto asked = start([&](auto token) { held(b).revoke_requested(std::move(token)); });
    s.direct.set(s.path + "/" + s.queue().front(), "__REVOKE__");
    co_await finished(asked);
    CHECK_FALSE(asked->error);
    co_await unlocked(b);
    CHECK(s.queue().empty());

    const auto c = co_await take_alone(s);
    co_await eventually([&] { return s.sent(opcode::get) == 1; });
    co_await unlocked(c);
    CHECK(s.queue().size() == 1);
    s.direct.set(s.path + "/" + s.queue().front(), "__REVOKE__");
    co_await s.until_queue(0);
}

CO_TEST("waiters that leave are passed over, and the last one takes the contender with it") {
    scene s(executor, {}, lingering());
    const auto other = queue_up(s.direct, s.path);
    const auto waiting = ask_often(s.lock, 4);
    co_await s.until_queue(2);
    waiting[0]->cancel();
    waiting[2]->cancel();
    co_await finished(waiting[0]);
    CHECK(waiting[0]->error == asio::error::operation_aborted);
    s.direct.remove(other);
    co_await granted(waiting[1]);
    co_await unlocked(waiting[1]);
    co_await granted(waiting[3]);
    held(waiting[3]) = guard();

    const auto next = queue_up(s.direct, s.path);
    co_await s.until_queue(1);
    const auto last = ask(s.lock);
    co_await s.until_queue(2);
    last->cancel();
    co_await s.until_queue(1);
    s.direct.remove(next);
}

CO_TEST("a hold that took too long is not passed on") {
    auto options = lingering();
    options.hold_limit.longest = 20ms; // which a slow machine may need to grant it
    scene s(executor, {}, options);
    const auto a = ask(s.lock);
    co_await finished(a);
    co_await until_listed(s, 2);
    const auto b = ask(s.lock);
    const auto end = end_of(held(a));
    co_await finished(end);
    CHECK(end->error == errc::hold_expired);
    const std::string path(held(a).path());
    held(a) = guard();
    co_await finished(b);
    CHECK_FALSE(b->error);
    CHECK(held(b).path() != path);
}

CO_TEST("close ends waiters, holds, and the lingering") {
    for (const bool is_held : {true, false}) {
        scene s(executor, {}, lingering());
        const auto a = co_await take_alone(s);
        lock_call b;
        if (is_held)
            b = ask(s.lock);
        else
            co_await unlocked(a);
        co_await s.zk.close();
        if (b) {
            co_await finished(b);
            CHECK(b->error == errc::closed);
            CHECK_FALSE(held(a).valid());
        }
        co_await s.until_queue(0);
    }
}

CO_TEST("a caller that waits for its own hold is in the log") {
    std::string log;
    auto options = short_session();
    options.log = [&](std::string_view text) { log += text; };
    scene s(executor, options, lingering());
    const auto a = co_await take_alone(s);
    const auto b = ask(s.lock);
    co_await eventually([&] { return log.find("hold of this same client") != std::string::npos; });
    CHECK(log.find(s.path) != std::string::npos);
}

TEST_CASE("a guard whose lingering lock was lost may outlive the io_context") {
    foreigner direct(shared_server().address());
    const auto path = fresh_root() + "/lock";
    guard lost;
    {
        asio::io_context io(1);
        client zk(io.get_executor(), shared_server().address());
        mutex m(zk, path, lingering());
        const auto until = [&](auto reached) {
            const auto end = std::chrono::steady_clock::now() + scaled(10s);
            while (!reached() && std::chrono::steady_clock::now() < end)
                io.run_one_for(20ms);
            REQUIRE(reached());
        };
        const auto first = ask(m);
        until([&] { return first->done(); });
        held(first) = guard(); // it lingers: a timer is set
        const auto second = ask(m);
        until([&] { return second->done(); });
        lost = std::move(held(second));
        for (const auto& name : queue_at(direct, path))
            direct.remove(path + '/' + name);
        until([&] { return !lost.valid(); });
    }
    CHECK_FALSE(lost.valid());
}
