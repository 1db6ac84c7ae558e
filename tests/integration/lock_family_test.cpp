// Locks by key: exclusion per key, and all forms of the calls.

#include "lock_family_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

CO_TEST("clients exclude each other at the same key, and not at different keys") {
    family_scene s(executor);
    const auto first = ask(s.ours, "4711");
    co_await granted(first);
    const auto second = ask(s.theirs, "4711");
    const auto third = ask(s.ours, "4711");
    const auto elsewhere = ask(s.theirs, "4712");
    co_await granted(elsewhere);
    co_await s.until_queue("4711", 3);
    CHECK_FALSE(second->done());
    CHECK(held(elsewhere).path().starts_with(s.path + "/4712/_c_"));
    CHECK(held(elsewhere).path().find("-lock-") != std::string::npos);
    const auto token = held(first).fencing_token();
    co_await unlocked(first);
    std::vector<lock_call> both{second, third};
    const auto next = co_await next_granted(both);
    CHECK_FALSE(both[0]->done());
    CHECK(held(next).fencing_token() > token);
    co_await unlocked(next);
    co_await granted(both[0]);
    CHECK(s.queue("4711").size() == 1);
}

CO_TEST("a mutex at path_of(key) is the key's lock, also below a root") {
    const auto root = fresh_root();
    client_options options;
    options.root = root;
    options.create_root = true;
    client zk(executor, shared_server().address(), options);
    client other(executor, shared_server().address());
    const lock_family orders(zk, "/orders");
    const std::string key = "EU/100%";
    CHECK(orders.path_of(key) == "/orders/EU%2F100%25");
    mutex same(zk, orders.path_of(key));
    mutex theirs(other, root + orders.path_of(key));
    guard g = co_await orders.lock(key);
    CHECK(g.path().starts_with(orders.path_of(key) + "/_c_"));
    CHECK_FALSE(co_await same.try_lock());
    co_await other.connect();
    CHECK_FALSE(co_await theirs.try_lock());
    const auto waiting = test::ask(theirs);
    co_await g.unlock();
    co_await granted(waiting);
    CHECK_FALSE(co_await orders.try_lock(key));
    const std::vector<mutex> two{same, mutex(zk, orders.path_of("4711"))};
    CHECK_FALSE(co_await try_lock_all_for(two, 1ms));
    co_await unlocked(waiting);
    const guard_set both = co_await lock_all(two);
    CHECK_FALSE(co_await orders.try_lock("4711"));
}

CO_TEST("the try forms give up while the key is taken, and lock it when it is free") {
    family_scene s(executor);
    co_await s.other.connect();
    guard g = co_await s.ours.lock("a");
    for (const lock_family& all : {s.ours, s.theirs}) {
        CHECK_FALSE(co_await all.try_lock("a"));
        CHECK_FALSE(co_await all.try_lock_for("a", 1ms));
        CHECK_FALSE(co_await all.try_lock_until("a", std::chrono::system_clock::now()));
    }
    co_await s.until_queue("a", 1); // the client deletes a late node in the background
    co_await g.unlock();
    for (const lock_family& all : {s.ours, s.theirs}) {
        g = co_await all.try_lock("a");
        CHECK(g.valid());
        co_await g.unlock();
        g = co_await all.try_lock_for("a", 60s);
        CHECK(g.valid());
        co_await g.unlock();
        g = co_await all.try_lock_until("a", std::chrono::steady_clock::now() + 60s);
        CHECK(g.valid());
        co_await g.unlock();
    }
    CHECK(s.queue("a").empty());
}

CO_TEST("contenders() shows the queue of one key, and a ticket its place in it") {
    family_scene s(executor, {.label = "till 3"});
    CHECK((co_await s.ours.contenders("a")).empty());
    guard g = co_await s.ours.lock("a");
    const guard elsewhere = co_await s.ours.lock("b");
    ticket place = co_await s.theirs.enqueue("a");
    CHECK(place.position() == 1);
    const auto queue = co_await s.theirs.contenders("a");
    REQUIRE(queue.size() == 2);
    CHECK(queue[0].holder);
    CHECK(queue[0].path == g.path());
    CHECK(queue[0].label == "till 3");
    CHECK_FALSE(queue[1].holder);
    CHECK((co_await s.theirs.contenders("b")).size() == 1);
    CHECK((co_await s.theirs.contenders("c")).empty());
    co_await g.unlock();
    const guard next = co_await place.acquired();
    CHECK(next.valid());
    CHECK(next.path() == queue[1].path);
}

CO_TEST("a cancelled call leaves no node in its key's queue") {
    family_scene s(executor);
    const guard g = co_await s.ours.lock("a");
    const auto waiting = ask(s.theirs, "a");
    co_await s.until_queue("a", 2);
    waiting->cancel();
    co_await finished(waiting);
    CHECK(waiting->error == asio::error::operation_aborted);
    co_await s.until_queue("a", 1);
}

CO_TEST("with() runs a coroutine under the lock of its key, and releases that") {
    family_scene s(executor);
    const shared_lock_family rw(s.zk, s.path);
    co_await s.other.connect();
    int runs = 0;
    const auto count = [&]() -> asio::awaitable<int> { co_return ++runs; };
    const auto nested = [&](guard& g) -> asio::awaitable<int> {
        CHECK(g.path().starts_with(s.path + "/a/"));
        const auto none = co_await s.theirs.try_with("a", count);
        CHECK_FALSE(none);
        const auto late = co_await s.theirs.try_with_for("a", 1ms, count);
        CHECK_FALSE(late);
        const auto elsewhere = co_await s.theirs.try_with("b", count);
        CHECK(elsewhere == 1);
        co_return 42;
    };
    std::string key = "a";
    auto later = s.ours.with(key, nested);
    key = "another";
    const int result = co_await std::move(later);
    CHECK(result == 42);
    CHECK(s.queue("a").empty());
    const auto in_time =
        co_await s.theirs.try_with_until("a", std::chrono::steady_clock::now() + 60s, count);
    CHECK(in_time == 2);

    const auto reader = [&](guard& g) -> asio::awaitable<void> {
        CHECK(g.path().find("__READ__") != std::string::npos);
        const auto beside = co_await rw.try_with_shared("a", count);
        CHECK(beside == 3);
        const auto writer = co_await rw.try_with("a", count);
        CHECK_FALSE(writer);
    };
    co_await rw.with_shared("a", reader);
    const auto shared = co_await rw.try_with_shared_for("a", 60s, count);
    CHECK(shared == 4);
    const int alone = co_await rw.with("a", count);
    CHECK(alone == 5);

    error_code why;
    try {
        co_await s.ours.with("", count);
    } catch (const system_error& e) {
        why = e.code();
    }
    CHECK(why == errc::bad_argument);
    CHECK(runs == 5);
}

CO_TEST("readers of a key share its lock, and a writer has it alone") {
    family_scene s(executor);
    const shared_lock_family ours(s.zk, s.path), theirs(s.other, s.path);
    co_await s.other.connect();
    guard first = co_await ours.lock_shared("a");
    guard second = co_await theirs.lock_shared("a");
    guard third = co_await theirs.try_lock_shared("a");
    CHECK(first.valid());
    CHECK(third.path().find("__READ__") != std::string::npos);
    CHECK_FALSE(co_await theirs.try_lock("a"));
    CHECK_FALSE(co_await theirs.try_lock_for("a", 1ms));
    CHECK_FALSE(co_await theirs.try_lock_until("a", std::chrono::steady_clock::now()));
    co_await s.until_queue("a", 3);
    CHECK((co_await ours.contenders("a")).size() == 3);
    const guard elsewhere = co_await theirs.lock("b");
    const auto writer = start<guard>([&](auto token) { ours.lock("a", std::move(token)); });
    co_await s.until_queue("a", 4);
    co_await first.unlock();
    co_await second.unlock();
    CHECK_FALSE(writer->done());
    co_await third.unlock();
    co_await granted(writer);
    CHECK_FALSE(co_await theirs.try_lock_shared("a"));
    CHECK_FALSE(co_await theirs.try_lock_shared_for("a", 1ms));
    CHECK_FALSE(co_await theirs.try_lock_shared_until("a", std::chrono::steady_clock::now()));
    shared_mutex same(s.other, theirs.path_of("a"));
    CHECK_FALSE(co_await same.try_lock_shared());
    // As a mutex and a shared_mutex at one path do.
    const guard other_kind = co_await s.theirs.try_lock("a");
    CHECK(other_kind.valid());
}

CO_TEST("writers and readers of a key have tickets") {
    family_scene s(executor);
    const shared_lock_family ours(s.zk, s.path), theirs(s.other, s.path);
    guard writer = co_await ours.lock("a");
    ticket writes = co_await theirs.enqueue("a");
    ticket reads = co_await theirs.enqueue_shared("a");
    CHECK(writes.position() == 1);
    CHECK(reads.position() == 2);
    writes = ticket();
    co_await writer.unlock();
    const guard reader = co_await reads.acquired();
    CHECK(reader.path().find("__READ__") != std::string::npos);
    CHECK((co_await ours.contenders("a")).back().shared);
}
