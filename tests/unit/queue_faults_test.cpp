// What the ensemble, the network and administrators do to a queue.

#include "unit/stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
namespace rules = paddock::rules;

TEST_CASE("a waiter whose node was deleted queues again, with a new id") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    queue.own_watched(1);
    queue.watched(2);
    CHECK(queue.deleted(3) == "forget 2, create 1, list");
    queue.created(1, 5);
    CHECK(queue.listed({2, 4, 5}) == "watch own 1, watch 4");
}

TEST_CASE("a node that is missing when its watch is set is gone, too") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    CHECK(queue.own_watched(1, outcome::missing) == "forget 2, create 1, list");
}

TEST_CASE("a node that a later listing lacks is gone, too") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    queue.own_watched(1);
    queue.join(2);
    queue.created(2, 4);
    CHECK(queue.listed({2, 4}) == "create 1, list, watch own 2");
}

TEST_CASE("a waiter whose node is gone blocks no waiter behind it") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.waits(3, 2, {0, 1, 2});
    queue.own_watched(2);
    queue.own_watched(3);
    CHECK(queue.deleted(1) == "create 2, list, watch own 3");
    CHECK(queue.own_watched(3) == "");
    CHECK(queue.release(1) == "sweep 0, out 1, grant 3");
}

TEST_CASE("a holder whose node was deleted loses its hold, and the next waiter is granted") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.own_watched(2);
    CHECK(queue.watch_hold(1) == "watch own 1");
    CHECK(queue.watch_hold(1) == ""); // once is enough
    CHECK(queue.own_watched(1) == "");
    CHECK(queue.deleted(0) == "lose 1, out 1, watch own 2");
    CHECK(queue.own_watched(2) == "grant 2");
    CHECK(queue.release(1) == "");
    CHECK_FALSE(queue.ids.claimed(queue.id_of(1)));
}

// All nodes of a session end in one transaction, which is told one watch after the other.
TEST_CASE("when a holder's node was deleted, the next one's silent watch is no proof") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.own_watched(2);
    queue.watch_hold(1);
    queue.own_watched(1);
    CHECK(queue.deleted(0) == "lose 1, out 1, watch own 2");
    CHECK(queue.deleted(1) == "create 2, list");
}

TEST_CASE("a holder whose node's data is changed watches it again") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.watch_hold(1);
    queue.own_watched(1);
    CHECK(queue.changed(0) == "watch own 1");
}

TEST_CASE("a holder whose watch could not be set tries again after a pause") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.watch_hold(1);
    SUBCASE("because the server throttles") {
        CHECK(queue.own_watched(1, outcome::later) == "pause");
    }
    SUBCASE("because there is no room for it") {
        CHECK(queue.own_watched(1, outcome::done, false) == "pause");
    }
    CHECK(queue.resume() == "watch own 1");
    CHECK(queue.own_watched(1) == "");
}

TEST_CASE("after a reconnect all watches are set again, and the own node is read before a grant") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    queue.own_watched(1);
    queue.watched(2);
    CHECK(queue.disconnected() == "");
    CHECK(queue.connected() == "watch own 1, watch 2");
    SUBCASE("it exists") {
        CHECK(queue.deleted(2) == ""); // SetWatches tells of it in any order
        CHECK(queue.own_watched(1) == "grant 1");
    }
    SUBCASE("it does not") {
        CHECK(queue.deleted(2) == "");
        CHECK(queue.own_watched(1, outcome::missing) == "create 1, list");
    }
}

TEST_CASE(
    "contenders queue in the order of their calls, also when the first one's create was lost") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    CHECK(queue.create_fails(1, outcome::lost) == "taint 1");
    queue.list_fails(outcome::lost);
    CHECK(queue.join(2) == "");
    CHECK(queue.connected() == "settle");
    SUBCASE("it was executed") {
        queue.executed(1, 4);
        CHECK(queue.listed({4}) == "create 2, list, watch own 1");
    }
    SUBCASE("it was not executed") { CHECK(queue.listed({}) == "create 1, create 2, list"); }
    SUBCASE("the first one quits") {
        CHECK(queue.quit(1) == "out 1, create 2");
        CHECK(queue.listed({}) == "list");
    }
    SUBCASE("the listing is refused") {
        CHECK(queue.list_fails(outcome::refused) == "fail 1 refused 0, out 1, create 2, list");
    }
    SUBCASE("the connection is lost again") {
        queue.disconnected();
        queue.list_fails(outcome::lost);
        CHECK(queue.connected() == "settle");
        CHECK(queue.listed({}) == "create 1, create 2, list");
    }
    SUBCASE("the session expires") {
        queue.expired();
        CHECK(queue.connected() == "create 1, list, create 2");
    }
}

TEST_CASE("of several lost creates, those that were not executed are sent again in their order") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    queue.disconnected();
    queue.create_fails(1, outcome::lost);
    queue.create_fails(2, outcome::lost);
    queue.list_fails(outcome::lost);
    CHECK(queue.join(3) == "");
    CHECK(queue.connected() == "settle");
    CHECK(queue.listed({}) == "create 1, create 2, create 3, list");
}

TEST_CASE("after a reconnect a holder watches its node, however young its hold is") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.disconnected();
    CHECK(queue.connected() == "watch own 1");
}

TEST_CASE("a hand-off after a reconnect waits for the next one's own node to be read") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.own_watched(2);
    queue.disconnected();
    CHECK(queue.connected() == "watch own 2, watch own 1");
    CHECK(queue.release(1) == "sweep 0, out 1");
    CHECK(queue.own_watched(2) == "grant 2");
}

TEST_CASE("a release without a connection sweeps the node, and no waiter is granted meanwhile") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.own_watched(2);
    queue.disconnected();
    CHECK(queue.release(1) == "sweep 0, out 1");
    CHECK(queue.connected() == "watch own 2");
    CHECK(queue.own_watched(2) == "grant 2");
}

TEST_CASE("a lost listing is repeated on the next connection") {
    connected_queue queue;
    queue.join(1);
    queue.created(1, 3);
    queue.disconnected();
    CHECK(queue.list_fails(outcome::lost) == "");
    CHECK(queue.connected() == "list");
    CHECK(queue.listed({3}) == "grant 1");
}

TEST_CASE("an unsent create is sent on the next connection, with a new id") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    CHECK(queue.create_fails(1, outcome::not_sent) == "");
    CHECK(queue.list_fails(outcome::not_sent) == "");
    CHECK(queue.connected() == "create 1, list");
    CHECK(queue.ids.count() == 1);
}

TEST_CASE("a request found unsent only on the next connection is repeated after a pause") {
    connected_queue queue;
    SUBCASE("for a node") {
        queue.join(1);
        queue.disconnected();
        queue.connected(); // its create seems to be under way
        CHECK(queue.create_fails(1, outcome::not_sent) == "pause");
        queue.list_fails(outcome::not_sent);
        CHECK(queue.resume() == "create 1, list");
    }
    SUBCASE("for the listing") {
        queue.join(1);
        queue.created(1, 3);
        CHECK(queue.list_fails(outcome::not_sent) == "pause");
        CHECK(queue.resume() == "list");
        CHECK(queue.listed({3}) == "grant 1");
    }
    SUBCASE("for the directory") {
        queue.join(1);
        queue.create_fails(1, outcome::missing);
        queue.list_fails(outcome::missing);
        CHECK(queue.parents_made(outcome::not_sent) == "pause");
        CHECK(queue.resume() == "create 1, list");
    }
    SUBCASE("for the own node") {
        queue.waits(1, 0, {0});
        queue.waits(2, 1, {0, 1});
        CHECK(queue.own_watched(2, outcome::not_sent) == "pause");
        CHECK(queue.resume() == "watch own 2");
    }
    SUBCASE("for a blocker") {
        queue.waits(1, 1, {0, 1});
        queue.own_watched(1);
        CHECK(queue.watched(0, outcome::not_sent) == "pause");
        CHECK(queue.resume() == "watch 0");
    }
}

TEST_CASE("a lost create taints the directory, and is settled behind a barrier") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    CHECK(queue.create_fails(1, outcome::lost) == "taint 1");
    queue.list_fails(outcome::lost);
    CHECK(queue.connected() == "settle");
    SUBCASE("by creating the missing node, with an id that was never used") {
        const auto lost = queue.id_of(1);
        CHECK(queue.listed({}) == "create 1, list");
        CHECK(queue.id_of(1) != lost);
        CHECK_FALSE(queue.ids.claimed(lost)); // should it come late, it is an orphan
        queue.created(1, 4);
        CHECK(queue.listed({4}) == "grant 1");
    }
    SUBCASE("by adopting the node that exists; its czxid is read") {
        queue.executed(1, 3);
        CHECK(queue.listed({3}) == "watch own 1");
        CHECK(queue.own_watched(1) == "grant 1");
        CHECK(queue.granted_czxid == 103);
    }
    SUBCASE("by adopting it at its place") {
        queue.executed(1, 3);
        CHECK(queue.listed({2, 3, 4}) == "watch own 1, watch 2");
        queue.watched(2);
        CHECK(queue.deleted(2) == "");
        CHECK(queue.own_watched(1) == "grant 1");
    }
}

TEST_CASE("only missing nodes are created again") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    queue.join(3);
    queue.disconnected();
    for (const contender_key k : {1, 2, 3})
        queue.create_fails(k, outcome::lost);
    queue.list_fails(outcome::lost);
    queue.executed(1, 0);
    queue.executed(2, 1);
    CHECK(queue.connected() == "settle");
    CHECK(queue.listed({0, 1}) == "create 3, list, watch own 1, watch own 2");
}

TEST_CASE("no contender is granted while a create of this client is unsettled") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.own_watched(2);
    queue.join(3);
    queue.create_fails(3, outcome::lost); // on a connection that lives, as far as we know
    CHECK(queue.release(1) == "sweep 0, out 1");
    queue.executed(3, 2);
    CHECK(queue.list_fails(outcome::lost) == "");
    queue.disconnected();
    CHECK(queue.connected() == "settle, watch own 2");
    CHECK(queue.own_watched(2) == "");
    CHECK(queue.listed({1, 2}) == "grant 2, watch own 3");
}

TEST_CASE("a lost create on a connection that seems to live is settled by a second listing") {
    connected_queue queue;
    queue.join(1);
    CHECK(queue.create_fails(1, outcome::lost) == "taint 1");
    queue.executed(1, 0);
    CHECK(queue.listed({0}) == "settle"); // this one had no barrier before it
    CHECK(queue.listed({0}) == "watch own 1");
}

TEST_CASE("the end of the session ends the holds, and waiters queue again in their order") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.waits(3, 2, {0, 1, 2});
    queue.disconnected();
    CHECK(queue.expired() == "lose 1 with its session, out 1");
    CHECK(queue.connected() == "create 2, list, create 3");
    queue.created(2, 7);
    queue.created(3, 8);
    CHECK(queue.listed({7}) == "list, grant 2");
    CHECK(queue.ids.session() == stepped_queue::first_session + 1);
}

TEST_CASE("a waiter with on_expiry::fail fails when the session expires") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.join(2, {.fail_on_expiry = true});
    queue.join(3);
    queue.quit(3);
    queue.disconnected();
    CHECK(queue.expired() ==
          "lose 1 with its session, out 1, fail 2 session expired, out 2, out 3");
    CHECK(queue.queue.idle());
}

TEST_CASE("a create of the last session that is answered late changes nothing") {
    connected_queue queue;
    queue.join(1);
    const auto old = queue.id_of(1);
    queue.disconnected();
    queue.expired();
    queue.connected();
    queue.queue.created(1, old, {.result = outcome::lost});
    CHECK(queue.actions() == "");
    queue.created(1, 0);
    CHECK(queue.listed({0}) == "grant 1");
}
