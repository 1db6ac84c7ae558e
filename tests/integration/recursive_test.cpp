// recursive_mutex: the same owner relocks; every other caller waits.

#include "support/recursive_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

CO_TEST("an owner relocks without a request, and releases with its last guard") {
    recursive_scene s(executor);
    const owner me;
    const auto first = s.ask(me);
    co_await granted(first);
    // After 100 ms a hold watches its node.
    co_await eventually([&] { return s.sent(opcode::get) == 1; });
    const auto before = s.requests().size();
    const auto again = s.ask(me);
    const auto tried = s.ask_now(me);
    const auto limited = s.ask_for(me, 1s);
    for (const auto& a : {again, tried, limited}) {
        co_await granted(a);
        CHECK(held(a).path() == held(first).path());
        CHECK(held(a).fencing_token() == held(first).fencing_token());
    }
    CHECK(s.requests().size() == before);

    // In any order; only the last is waited for.
    co_await unlocked(first);
    co_await unlocked(limited);
    held(tried) = guard();
    CHECK(s.requests().size() == before);
    CHECK(s.queue().size() == 1);
    CHECK(held(again).valid());
    co_await unlocked(again);
    CHECK(s.queue().empty());
    CHECK(s.sent(opcode::remove) == 1);
}

CO_TEST("the last guard's unlock waits for the delete, also if another guard was just destroyed") {
    recursive_scene s(executor);
    const owner me;
    auto first = co_await s.again.lock(me);
    auto second = co_await s.again.lock(me);
    const auto busy = start([&](auto token) { s.zk.connect(std::move(token)); }); // is first
    first = guard();
    co_await second.unlock();
    CHECK(s.queue().empty());
    co_await finished(busy);
}

CO_TEST("every guard verifies, transacts and reports its loss by itself") {
    recursive_scene s(executor);
    const owner me;
    const auto a = s.ask(me);
    const auto b = s.ask(me);
    co_await granted(a);
    co_await granted(b);
    const auto end_a = end_of(held(a));
    const auto end_b = end_of(held(b));
    co_await held(a).verify();
    co_await held(b).verify();
    const auto mine = s.path + "-data";
    std::vector<operation> steps{op::create{mine, "x"}};
    co_await held(b).transaction(steps);
    CHECK(s.direct.get(mine).data == "x");
    co_await unlocked(a);
    co_await finished(end_a);
    CHECK(end_a->error == errc::released);
    CHECK_FALSE(end_b->done());
    CHECK(held(b).valid());
    co_await held(b).verify();
    co_await unlocked(b);
    co_await finished(end_b);
    CHECK(end_b->error == errc::released);
}

CO_TEST("other owners in the same process wait like other contenders") {
    recursive_scene s(executor);
    const owner one, two;
    CHECK(one != two);
    CHECK(one == owner(one));
    const auto a = s.ask(one);
    co_await granted(a);
    const auto b = s.ask(two);
    const auto plain = test::ask(s.lock);
    co_await s.until_queue(3);
    const auto busy = s.ask_now(two);
    co_await finished(busy);
    CHECK_FALSE(busy->error);
    CHECK_FALSE(held(busy));
    const auto late = s.ask_for(two, 30ms);
    co_await finished(late);
    CHECK_FALSE(held(late));
    CHECK_FALSE(b->done());
    const auto again = s.ask(one); // not behind the waiters
    co_await granted(again);
    held(a) = guard();
    held(again) = guard();
    co_await granted(b);
    CHECK_FALSE(plain->done());
    held(b) = guard();
    co_await granted(plain);
    held(plain) = guard();
    co_await s.until_queue(0);
}

CO_TEST("two objects for one path know nothing of each other; copies do") {
    recursive_scene s(executor);
    recursive_mutex copy = s.again;
    recursive_mutex other(s.zk, s.path);
    const owner me;
    const auto a = s.ask(me);
    co_await granted(a);
    auto by_copy = co_await copy.lock(me);
    CHECK(by_copy.valid());
    const auto by_other = co_await other.try_lock(me);
    CHECK_FALSE(by_other);
    const auto queue = co_await s.again.contenders();
    REQUIRE(queue.size() == 1);
    CHECK(queue[0].path == held(a).path());
}

CO_TEST("concurrent first locks of one owner share one place, whichever of them leaves") {
    recursive_scene s(executor);
    const owner me;
    const auto other = queue_up(s.direct, s.path);
    const auto a = s.ask(me);
    const auto b = s.ask(me);
    const auto c = s.ask_for(me, 50ms);
    const auto d = s.ask(me);
    const auto busy = s.ask_now(me);
    co_await s.until_queue(2);
    co_await finished(c);
    co_await finished(busy);
    CHECK_FALSE(held(c));
    CHECK_FALSE(held(busy));
    a->cancel();
    co_await finished(a);
    CHECK(a->error == asio::error::operation_aborted);
    CHECK(s.queue().size() == 2);
    CHECK(s.sent(opcode::create2) == 1);
    s.direct.remove(other);
    co_await granted(b);
    co_await granted(d);
    co_await unlocked(b);
    CHECK(s.queue().size() == 1);
    co_await unlocked(d);
    CHECK(s.queue().empty());
}

CO_TEST("concurrent try_lock and lock of one owner do not wait for each other") {
    recursive_scene s(executor);
    co_await s.zk.connect();
    const owner me;
    { // free: both have it
        const auto tried = s.ask_now(me);
        const auto waits = s.ask(me);
        co_await granted(waits);
        co_await finished(tried);
        if (held(tried)) co_await unlocked(tried);
        co_await unlocked(waits);
        co_await s.until_queue(0);
    }
    { // taken: try_lock is empty, lock waits
        const auto other = queue_up(s.direct, s.path);
        const auto tried = s.ask_now(me);
        const auto waits = s.ask(me);
        co_await finished(tried);
        CHECK_FALSE(tried->error);
        CHECK_FALSE(held(tried));
        co_await s.until_queue(2);
        CHECK_FALSE(waits->done());
        s.direct.remove(other);
        co_await granted(waits);
        co_await unlocked(waits);
        CHECK(s.queue().empty());
    }
}

CO_TEST("the last call of an owner that leaves gives up the owner's place, at any point") {
    recursive_scene s(executor);
    co_await s.zk.connect();
    const owner me;
    struct {
        direction way;
        std::int32_t opcode;
    } const points[] = {{direction::up, opcode::create2},
                        {direction::down, opcode::create2},
                        {direction::up, opcode::children2},
                        {direction::down, opcode::children2}};
    for (const auto& at : points)
        for (const bool tries : {false, true}) {
            if (tries && at.opcode == opcode::create2) continue;
            s.proxy.hold_from(at.way, at.opcode);
            const auto a = tries ? s.ask_now(me) : s.ask(me);
            const auto b = tries ? s.ask_now(me) : s.ask(me);
            co_await eventually([&] { return s.proxy.waiting(at.way) > 0; });
            a->cancel();
            b->cancel(asio::cancellation_type::terminal);
            co_await finished(a);
            co_await finished(b);
            CHECK(a->error == asio::error::operation_aborted);
            CHECK(b->error == asio::error::operation_aborted);
            const auto next = s.ask(me); // a place of its own
            s.proxy.release(at.way);
            co_await granted(next);
            co_await s.until_queue(1);
            co_await unlocked(next);
            CHECK(s.queue().empty());
        }
}

CO_TEST("a loss that one guard finds by verify() ends all guards of its owner") {
    recursive_scene s(executor);
    const owner me;
    const auto a = s.ask(me);
    const auto b = s.ask(me);
    co_await granted(a);
    co_await granted(b);
    s.proxy.hold(direction::down); // the event of a watch does not arrive
    s.direct.remove(std::string(held(a).path()));
    const auto checked = start([&](auto token) { held(b).verify(std::move(token)); });
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    s.proxy.release(direction::down);
    co_await finished(checked);
    CHECK(checked->error == errc::lock_lost);
    co_await eventually([&] { return !held(a).valid(); });
    const auto c = s.ask(me);
    co_await granted(c);
    CHECK(held(c).fencing_token() > held(a).fencing_token());
}

TEST_CASE("a recursive_mutex refuses the arguments that a mutex refuses") {
    asio::io_context io;
    const client zk(io.get_executor(), "localhost");
    for (const std::string path : {"", "x", "/", "/x/", "/zookeeper"})
        CHECK_THROWS_AS(recursive_mutex(zk, path), system_error);
    mutex_options terms;
    terms.name = "a/b";
    CHECK_THROWS_AS(recursive_mutex(zk, "/x", terms), system_error);
}
