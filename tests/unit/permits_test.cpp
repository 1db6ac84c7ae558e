// The rules of a semaphore's leases, step by step.

#include "unit/stepped_permits.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

TEST_CASE("an admitted call creates its leases, lists them, and is granted by the listing") {
    acquiring one({.count = 2, .permits = 3});
    CHECK(one.admitted() == "create 1, create 2, list");
    CHECK(one.created(1) == "");
    CHECK(one.created(2) == "");
    CHECK(one.listed({0, 1, 2}) == "forget, grant 2, leave");
    CHECK(one.release() == "sweep 1, sweep 2, forget, out");
}

TEST_CASE("with too few permits a call waits for a change, and lists again") {
    acquiring one({.count = 2, .permits = 2});
    one.admitted();
    one.created(1);
    one.created(2);
    CHECK(one.listed({0, 1, 2}) == "");
    CHECK(one.directory_changed() == "list");
    CHECK(one.directory_changed() == ""); // one is under way
    CHECK(one.listed({0, 1, 2}) == "list");
    CHECK(one.listed({1, 2}) == "forget, grant 2, leave");
}

TEST_CASE("without room for a watch a call lists again and again") {
    acquiring one({.count = 1, .permits = 1});
    one.admitted();
    one.created(1);
    CHECK(one.listed({0, 1}, false) == "pause");
    CHECK(one.resume() == "list");
    CHECK(one.listed({1}, false) == "forget, grant 1, leave");
}

TEST_CASE("a listing that lacks an own lease grants nothing: the call creates another lease") {
    acquiring one({.count = 2, .permits = 2});
    one.admitted();
    one.created(1);
    one.created(2);
    CHECK(one.listed({1}) == "create 3, list");
    one.created(3);
    CHECK(one.listed({1, 3}) == "forget, grant 2, leave");
    CHECK(one.ids.count() == 2);
}

TEST_CASE("a listing from before the create proves nothing") {
    acquiring one({.count = 1, .permits = 1});
    one.admitted();
    one.created(1);
    CHECK(one.listed({0, 1}) == "");
    CHECK(one.directory_changed() == "list");
    CHECK(one.say([](auto& r) { r.queue_node_lost(); }) == "sweep 1, forget, join queue");
    CHECK(one.admitted() == "create 2, list");
    CHECK(one.listed_late(2, {1}) == ""); // the answer to the earlier listing
    one.created(2);
    CHECK(one.listed({2}) == "forget, grant 1, leave");
}

TEST_CASE("an immediate call gives up when there are too few permits, and leaves no lease") {
    acquiring one({.count = 2, .permits = 2, .immediate = true});
    one.admitted();
    one.created(1);
    one.created(2);
    CHECK(one.listed({0, 1, 2}) == "give up, sweep 1, sweep 2, forget, leave, out");
}

TEST_CASE("an immediate call fails when the connection is lost") {
    acquiring one({.count = 1, .permits = 1, .immediate = true});
    one.admitted();
    CHECK(one.disconnected() == "fail not connected, forget, leave");
    CHECK(one.create_fails(1, outcome::lost) == "taint, out");
    CHECK(one.ids.count() == 0);
}

TEST_CASE("leases whose creates were lost are settled after the reconnect") {
    acquiring one({.count = 3, .permits = 3});
    one.admitted();
    one.created(1);
    CHECK(one.disconnected() == "");
    CHECK(one.create_fails(2, outcome::lost) == "taint");
    CHECK(one.create_fails(3, outcome::lost) == "taint");
    CHECK(one.list_fails(outcome::lost) == "");
    CHECK(one.connected() == "settle");
    CHECK(one.listed({1, 3}) == "create 4, list"); // 2 was not executed
    one.created(4);
    CHECK(one.listed({1, 3, 4}) == "forget, grant 3, leave");
    CHECK(one.release() == "sweep 1, sweep 4, sweep 3, forget, out");
}

TEST_CASE("a create that was not sent is sent on the next connection") {
    acquiring one({.count = 1, .permits = 1});
    one.admitted();
    one.disconnected();
    CHECK(one.create_fails(1, outcome::not_sent) == "");
    CHECK(one.connected() == "create 2, list");
    CHECK(one.ids.count() == 1);
}

TEST_CASE("a request found unsent only on the next connection is repeated after a pause") {
    acquiring one({.count = 1});
    one.admitted();
    SUBCASE("for everything") {
        CHECK(one.create_fails(1, outcome::not_sent) == "pause");
        CHECK(one.list_fails(outcome::not_sent) == "");
        CHECK(one.permits_fail(outcome::not_sent) == "");
        CHECK(one.resume() == "create 2, list, read permits");
    }
    SUBCASE("for the listing") {
        one.created(1);
        one.permits(1);
        CHECK(one.list_fails(outcome::not_sent) == "pause");
        CHECK(one.resume() == "list");
    }
    SUBCASE("for the counter") {
        one.created(1);
        one.listed({1});
        CHECK(one.permits_fail(outcome::not_sent) == "pause");
        CHECK(one.resume() == "read permits");
    }
    SUBCASE("for the directory") {
        one.create_fails(1, outcome::missing);
        one.list_fails(outcome::missing);
        one.permits(1);
        CHECK(one.say([](auto& r) { r.parents_made(outcome::not_sent, 0); }) == "pause");
        CHECK(one.resume() == "create 2, list");
    }
    SUBCASE("for its own lease") {
        one.created(1);
        one.listed({1});
        one.permits(1);
        CHECK(one.say([](auto& r) { r.watch_hold(); }) == "watch 1");
        CHECK(one.own_watched(1, outcome::not_sent) == "pause");
        CHECK(one.resume() == "watch 1");
    }
}

TEST_CASE("after a reconnect an earlier listing grants nothing") {
    acquiring one({.count = 1});
    CHECK(one.admitted() == "create 1, list, read permits");
    one.created(1);
    CHECK(one.listed({0, 1}) == "");
    one.disconnected();
    CHECK(one.connected() == "read permits, list");
    CHECK(one.permits(2) == "");
    CHECK(one.listed({0, 1}) == "forget, grant 1, leave");
}

TEST_CASE("a call that leaves during its creates has each node swept when it is answered") {
    acquiring one({.count = 3, .permits = 3});
    one.admitted();
    one.created(1);
    CHECK(one.quit() == "sweep 1, forget, leave");
    CHECK(one.created(2) == "sweep 2");
    CHECK(one.create_fails(3, outcome::not_sent) == "out");
}

TEST_CASE("a call that leaves before it is admitted has nothing to release") {
    acquiring one({.count = 3, .permits = 3});
    CHECK(one.quit() == "forget, leave, out");
    CHECK(one.quit() == "");
}

TEST_CASE("a call that leaves with an unknown create has the directory searched once more") {
    acquiring one({.count = 1, .permits = 1});
    one.admitted();
    one.disconnected();
    CHECK(one.create_fails(1, outcome::lost) == "taint");
    CHECK(one.connected() == "settle");
    CHECK(one.ids.count() == 1);
    CHECK(one.quit() == "taint, forget, leave, out");
    CHECK(one.ids.count() == 0); // so the search finds an orphan
}

TEST_CASE("a call creates a missing directory") {
    acquiring one({.count = 2, .permits = 2});
    one.admitted();
    CHECK(one.create_fails(1, outcome::missing) == "make parents");
    CHECK(one.create_fails(2, outcome::missing) == "");
    CHECK(one.list_fails(outcome::missing) == "");
    CHECK(one.say([](auto& r) { r.parents_made(outcome::done, 0); }) == "create 3, create 4, list");
}

TEST_CASE("a request that the ensemble refuses fails the call, which leaves no lease") {
    constexpr int code = -102;
    acquiring create({.count = 2, .permits = 2});
    create.admitted();
    create.created(1);
    CHECK(create.create_fails(2, outcome::refused, code) ==
          "fail refused -102, sweep 1, forget, leave, out");
    acquiring list({.count = 1, .permits = 1});
    list.admitted();
    list.created(1);
    CHECK(list.list_fails(outcome::refused, code) ==
          "fail refused -102, sweep 1, forget, leave, out");
    acquiring read({.count = 1});
    read.admitted();
    read.created(1);
    CHECK(read.permits_fail(outcome::refused, code) ==
          "fail refused -102, sweep 1, forget, leave, out");
    acquiring make({.count = 1, .permits = 1});
    make.admitted();
    make.create_fails(1, outcome::missing);
    CHECK(make.say([](auto& r) { r.parents_made(outcome::refused, code); }) ==
          "fail refused -102, forget, leave, out");
}

TEST_CASE("throttled requests are repeated after one pause") {
    acquiring one({.count = 1});
    one.admitted();
    CHECK(one.create_fails(1, outcome::later) == "pause");
    CHECK(one.list_fails(outcome::later) == "");
    CHECK(one.permits_fail(outcome::later) == "");
    CHECK(one.resume() == "create 2, list, read permits");
}

TEST_CASE("a change during a pause is not forgotten") {
    acquiring one({.count = 1});
    one.admitted();
    one.created(1);
    CHECK(one.permits_fail(outcome::later) == "pause");
    CHECK(one.directory_changed() == ""); // the listing under way may be older
    CHECK(one.listed({0, 1}) == "list");
    CHECK(one.listed({1}) == "");
    CHECK(one.resume() == "read permits");
    CHECK(one.permits(1) == "forget, grant 1, leave");
}

TEST_CASE("a counter that grows lets a waiter in, and one that shrinks does not") {
    acquiring one({.count = 2});
    one.admitted();
    one.created(1);
    one.created(2);
    CHECK(one.listed({0, 1, 2}) == "");
    CHECK(one.permits(2) == "");
    CHECK(one.counter_changed() == "read permits");
    CHECK(one.counter_changed() == ""); // one is under way
    CHECK(one.permits(1) == "read permits");
    CHECK(one.permits(-5) == "");
    CHECK(one.counter_changed() == "read permits");
    CHECK(one.permits(3) == "forget, grant 2, leave");
}

TEST_CASE("nothing is granted while a change of the leases is not yet seen") {
    acquiring one({.count = 1});
    one.admitted();
    one.created(1);
    one.listed({0, 1});
    one.permits(1);
    CHECK(one.directory_changed() == "list");
    CHECK(one.counter_changed() == "read permits");
    CHECK(one.permits(5) == "");
    CHECK(one.listed({}) == "create 2, list"); // its own lease was deleted too
}

TEST_CASE("a hold that is old enough watches its leases, and is lost with one of them") {
    acquiring one({.count = 2, .permits = 2});
    one.admitted();
    one.created(1);
    one.created(2);
    one.listed({1, 2});
    CHECK(one.say([](auto& r) { r.watch_hold(); }) == "watch 1, watch 2");
    CHECK(one.own_watched(1) == "");
    CHECK(one.own_watched(2, outcome::done, false) == "pause");
    CHECK(one.resume() == "watch 2");
    CHECK(one.own_watched(2) == "");
    CHECK(one.own_changed(1, false) == "watch 1");
    one.disconnected();
    CHECK(one.connected() == "watch 1"); // its answer was lost; the other's watch lives on
    CHECK(one.own_watched(1) == "");
    CHECK(one.own_changed(2, true) == "lose");
    CHECK(one.own_changed(1, true) == "");
    CHECK(one.release() == "sweep 1, sweep 2, forget, out");
}

TEST_CASE("a lease without a watch is read on the next connection, whenever its pause ends") {
    for (const bool ends_before : {true, false}) {
        CAPTURE(ends_before);
        acquiring one({.count = 2, .permits = 2});
        one.admitted();
        one.created(1);
        one.created(2);
        one.listed({1, 2});
        one.say([](auto& r) { r.watch_hold(); });
        CHECK(one.own_watched(1, outcome::done, false) == "pause");
        CHECK(one.own_watched(2) == "");
        one.disconnected();
        if (ends_before) CHECK(one.resume() == "");
        CHECK(one.connected() == "watch 1");
        if (!ends_before) CHECK(one.resume() == "");
        CHECK(one.own_watched(1, outcome::missing) == "lose");
    }
}

TEST_CASE("a lease whose first read finds no node ends the hold, too") {
    acquiring one({.count = 1, .permits = 1});
    one.admitted();
    one.created(1);
    one.listed({1});
    one.say([](auto& r) { r.watch_hold(); });
    CHECK(one.own_watched(1, outcome::missing) == "lose");
}

TEST_CASE("no lease or request survives the end of a session") {
    acquiring held({.count = 1, .permits = 1});
    held.admitted();
    held.created(1);
    held.listed({1});
    held.disconnected();
    CHECK(held.expired() == "lose with its session, out");
    CHECK(held.release() == "");

    acquiring waiting({.count = 2, .permits = 2});
    waiting.admitted();
    waiting.created(1);
    waiting.disconnected();
    CHECK(waiting.expired() == "join queue");
    CHECK(waiting.create_fails(2, outcome::lost) == ""); // of the session before
    CHECK(waiting.connected() == "");
    CHECK(waiting.admitted() == "create 3, create 4, list");

    acquiring failing({.count = 1, .permits = 1, .fail_on_expiry = true});
    failing.admitted();
    failing.disconnected();
    CHECK(failing.expired() == "fail session expired, out");
}

TEST_CASE("a call that has lost its queue node deletes its leases and queues again") {
    acquiring one({.count = 3, .permits = 3});
    one.admitted();
    one.created(1);
    one.created(2);
    CHECK(one.say([](auto& r) { r.queue_node_lost(); }) == "sweep 1, sweep 2, forget, join queue");
    CHECK(one.created(3) == "sweep 3");
    CHECK(one.say([](auto& r) { r.excluded(); }) == "out");
}

TEST_CASE("a request to release is told once, and each overwritten permit node is restored") {
    acquiring one({.count = 2, .permits = 2});
    one.admitted();
    one.created(1);
    one.created(2);
    one.listed({1, 2});
    CHECK(one.say([](auto& r) { r.watch_hold(); }) == "watch 1, watch 2");
    CHECK(one.own_read(1) == "");
    CHECK(one.own_read(2, {{1, 500, 501}}) == "revoke, restore 2 at 1 since 500");
    CHECK(one.own_changed(2, false) == "watch 2"); // by the client's own write
    CHECK(one.own_read(2) == "");
    CHECK(one.own_changed(1, false) == "watch 1");
    CHECK(one.own_read(1, {{4, 900, 901}}) == "restore 1 at 4 since 500");
    one.release();
    CHECK(one.own_read(1, {{6, 950, 951}}) == "");
}
