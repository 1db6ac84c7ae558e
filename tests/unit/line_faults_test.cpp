// What the ensemble, the network and administrators do to a line.

#include "unit/stepped_line.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
namespace rules = paddock::rules;

TEST_CASE("a waiter whose node was deleted queues again, with a new id") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    line.own_watched(1);
    line.watched(2);
    CHECK(line.deleted(3) == "forget 2, create 1, list");
    line.created(1, 5);
    CHECK(line.listed({2, 4, 5}) == "watch own 1, watch 4");
}

TEST_CASE("a node that is missing when its watch is set is gone, too") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    CHECK(line.own_watched(1, outcome::missing) == "forget 2, create 1, list");
}

TEST_CASE("a node that a later listing lacks is gone, too") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    line.own_watched(1);
    line.join(2);
    line.created(2, 4);
    CHECK(line.listed({2, 4}) == "create 1, list, watch own 2");
}

TEST_CASE("whose node is gone is gone for everybody behind it") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.waits(3, 2, {0, 1, 2});
    line.own_watched(2);
    line.own_watched(3);
    CHECK(line.deleted(1) == "create 2, list, watch own 3");
    CHECK(line.own_watched(3) == "");
    CHECK(line.release(1) == "sweep 0, out 1, grant 3");
}

TEST_CASE("a holder whose node was deleted is told, and the next one has the lock") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.own_watched(2);
    CHECK(line.guard_own(1) == "watch own 1");
    CHECK(line.guard_own(1) == ""); // once is enough
    CHECK(line.own_watched(1) == "");
    CHECK(line.deleted(0) == "lose 1, out 1, watch own 2");
    CHECK(line.own_watched(2) == "grant 2");
    CHECK(line.release(1) == "");
    CHECK_FALSE(line.ids.claimed(line.id_of(1)));
}

// All nodes of a session end in one transaction, which is told one watch after the other.
TEST_CASE("when a holder's node was deleted, the next one's silent watch is no proof") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.own_watched(2);
    line.guard_own(1);
    line.own_watched(1);
    CHECK(line.deleted(0) == "lose 1, out 1, watch own 2");
    CHECK(line.deleted(1) == "create 2, list");
}

TEST_CASE("a holder whose node's data is changed watches it again") {
    connected_line line;
    line.waits(1, 0, {0});
    line.guard_own(1);
    line.own_watched(1);
    CHECK(line.changed(0) == "watch own 1");
}

TEST_CASE("a holder whose watch could not be set asks again after a while") {
    connected_line line;
    line.waits(1, 0, {0});
    line.guard_own(1);
    SUBCASE("because the server throttles") {
        CHECK(line.own_watched(1, outcome::later) == "pause");
    }
    SUBCASE("because there is no room for it") {
        CHECK(line.own_watched(1, outcome::done, false) == "pause");
    }
    CHECK(line.resume() == "watch own 1");
    CHECK(line.own_watched(1) == "");
}

TEST_CASE("after a reconnect everything is asked again, and the own node is read before a grant") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    line.own_watched(1);
    line.watched(2);
    CHECK(line.disconnected() == "");
    CHECK(line.connected() == "watch own 1, watch 2");
    SUBCASE("it exists") {
        CHECK(line.deleted(2) == ""); // SetWatches tells of it in any order
        CHECK(line.own_watched(1) == "grant 1");
    }
    SUBCASE("it does not") {
        CHECK(line.deleted(2) == "");
        CHECK(line.own_watched(1, outcome::missing) == "create 1, list");
    }
}

TEST_CASE("after a reconnect a holder watches its node, however young its hold is") {
    connected_line line;
    line.waits(1, 0, {0});
    line.disconnected();
    CHECK(line.connected() == "watch own 1");
}

TEST_CASE("a hand-off after a reconnect waits for the next one's own node to be read") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.own_watched(2);
    line.disconnected();
    CHECK(line.connected() == "watch own 2, watch own 1");
    CHECK(line.release(1) == "sweep 0, out 1");
    CHECK(line.own_watched(2) == "grant 2");
}

TEST_CASE("who is released while disconnected is swept, and nobody is granted meanwhile") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.own_watched(2);
    line.disconnected();
    CHECK(line.release(1) == "sweep 0, out 1");
    CHECK(line.connected() == "watch own 2");
    CHECK(line.own_watched(2) == "grant 2");
}

TEST_CASE("a listing that was lost is asked for again by the next connection") {
    connected_line line;
    line.join(1);
    line.created(1, 3);
    line.disconnected();
    CHECK(line.list_fails(outcome::lost) == "");
    CHECK(line.connected() == "list");
    CHECK(line.listed({3}) == "grant 1");
}

TEST_CASE("a create that was never sent is sent by the next connection, with a new id") {
    connected_line line;
    line.join(1);
    line.disconnected();
    CHECK(line.create_fails(1, outcome::not_sent) == "");
    CHECK(line.list_fails(outcome::not_sent) == "");
    CHECK(line.connected() == "create 1, list");
    CHECK(line.ids.count() == 1);
}

TEST_CASE("a lost create taints the directory, and is settled behind a barrier") {
    connected_line line;
    line.join(1);
    line.disconnected();
    CHECK(line.create_fails(1, outcome::lost) == "taint 1");
    line.list_fails(outcome::lost);
    CHECK(line.connected() == "settle");
    SUBCASE("by creating what is missing, with an id that was never used") {
        const auto lost = line.id_of(1);
        CHECK(line.listed({}) == "create 1, list");
        CHECK(line.id_of(1) != lost);
        CHECK_FALSE(line.ids.claimed(lost)); // should it come late, it is an orphan
        line.created(1, 4);
        CHECK(line.listed({4}) == "grant 1");
    }
    SUBCASE("by adopting what is there; its czxid is read") {
        line.executed(1, 3);
        CHECK(line.listed({3}) == "watch own 1");
        CHECK(line.own_watched(1) == "grant 1");
        CHECK(line.granted_czxid == 103);
    }
    SUBCASE("by adopting it at its place") {
        line.executed(1, 3);
        CHECK(line.listed({2, 3, 4}) == "watch own 1, watch 2");
        line.watched(2);
        CHECK(line.deleted(2) == "");
        CHECK(line.own_watched(1) == "grant 1");
    }
}

TEST_CASE("only what is missing is created again") {
    connected_line line;
    line.join(1);
    line.join(2);
    line.join(3);
    line.disconnected();
    for (const contender_key k : {1, 2, 3})
        line.create_fails(k, outcome::lost);
    line.list_fails(outcome::lost);
    line.executed(1, 0);
    line.executed(2, 1);
    CHECK(line.connected() == "settle");
    CHECK(line.listed({0, 1}) == "create 3, list, watch own 1, watch own 2");
}

TEST_CASE("nobody is granted while a create of this client is unsettled") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.own_watched(2);
    line.join(3);
    line.create_fails(3, outcome::lost); // on a connection that lives, as far as we know
    CHECK(line.release(1) == "sweep 0, out 1");
    line.executed(3, 2);
    CHECK(line.list_fails(outcome::lost) == "");
    line.disconnected();
    CHECK(line.connected() == "settle, watch own 2");
    CHECK(line.own_watched(2) == "");
    CHECK(line.listed({1, 2}) == "grant 2, watch own 3");
}

TEST_CASE("a lost create on a connection that seems to live is settled by a second listing") {
    connected_line line;
    line.join(1);
    CHECK(line.create_fails(1, outcome::lost) == "taint 1");
    line.executed(1, 0);
    CHECK(line.listed({0}) == "settle"); // this one had no barrier before it
    CHECK(line.listed({0}) == "watch own 1");
}

TEST_CASE("the end of the session takes holds away, and waiters queue again in their order") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    line.waits(3, 2, {0, 1, 2});
    line.disconnected();
    CHECK(line.expired() == "lose 1 with its session, out 1");
    CHECK(line.connected() == "create 2, list, create 3");
    line.created(2, 7);
    line.created(3, 8);
    CHECK(line.listed({7}) == "list, grant 2");
    CHECK(line.ids.session() == stepped_line::first_session + 1);
}

TEST_CASE("who does not want to queue again fails with the session") {
    connected_line line;
    line.waits(1, 0, {0});
    line.join(2, {.fail_on_expiry = true});
    line.join(3);
    line.quit(3);
    line.disconnected();
    CHECK(line.expired() == "lose 1 with its session, out 1, fail 2 session expired, out 2, out 3");
    CHECK(line.line.idle());
}

TEST_CASE("a create of the last session that is answered late changes nothing") {
    connected_line line;
    line.join(1);
    const auto old = line.id_of(1);
    line.disconnected();
    line.expired();
    line.connected();
    line.line.created(1, old, {.result = outcome::lost});
    CHECK(line.wishes() == "");
    line.created(1, 0);
    CHECK(line.listed({0}) == "grant 1");
}

TEST_CASE("a missing directory is made once, and then everybody starts again") {
    connected_line line;
    line.join(1);
    line.join(2);
    CHECK(line.create_fails(1, outcome::missing) == "make parents");
    CHECK(line.create_fails(2, outcome::missing) == "");
    CHECK(line.list_fails(outcome::missing) == "list"); // wanted by 2
    CHECK(line.join(3) == "");
    CHECK(line.list_fails(outcome::missing) == "");
    CHECK(line.parents_made() == "create 1, list, create 2, create 3");
    CHECK(line.create_fails(1, outcome::missing) == "make parents"); // it was reaped again
}

TEST_CASE("a directory that cannot be made fails those who need it, and only those") {
    connected_line line;
    line.join(1);
    line.create_fails(1, outcome::missing);
    CHECK(line.parents_made(outcome::refused, -102) == "fail 1 refused -102, out 1");
}

TEST_CASE("a directory that could not be made yet is tried again") {
    connected_line line;
    line.join(1);
    line.create_fails(1, outcome::missing);
    line.list_fails(outcome::missing);
    SUBCASE("after a while") {
        CHECK(line.parents_made(outcome::later) == "pause");
        CHECK(line.resume() == "create 1, list");
    }
    SUBCASE("by the next connection") {
        line.disconnected();
        CHECK(line.parents_made(outcome::lost) == "");
        CHECK(line.connected() == "create 1, list");
    }
}

TEST_CASE("a listing of a directory that vanished takes everybody's node with it") {
    connected_line line;
    line.waits(1, 0, {0});
    line.join(2);
    line.create_fails(2, outcome::missing);
    CHECK(line.list_fails(outcome::missing) == "lose 1, out 1");
}

TEST_CASE("throttled, the line pauses once, and goes on where it was") {
    connected_line line;
    line.join(1);
    line.join(2);
    CHECK(line.create_fails(1, outcome::later) == "pause");
    CHECK(line.create_fails(2, outcome::later) == "");
    CHECK(line.join(3) == "");
    line.listed({});
    line.listed({});
    CHECK(line.resume() == "create 1, list, create 2, create 3");
    CHECK(line.resume() == "");
}

TEST_CASE("a throttled listing is asked for again after the pause") {
    connected_line line;
    line.join(1);
    line.created(1, 3);
    CHECK(line.list_fails(outcome::later) == "pause");
    CHECK(line.resume() == "list");
}

TEST_CASE("a throttled read is not repeated before the pause is over") {
    connected_line line;
    SUBCASE("of the own node") {
        line.waits(1, 0, {0});
        line.waits(2, 1, {0, 1});
        CHECK(line.own_watched(2, outcome::later) == "pause");
        CHECK(line.resume() == "watch own 2");
    }
    SUBCASE("of a blocker") {
        line.waits(1, 1, {0, 1});
        line.own_watched(1);
        CHECK(line.watched(0, outcome::later) == "pause");
        CHECK(line.resume() == "watch 0");
    }
}

TEST_CASE("without room for a watch the own node is read again and again, but not in a circle") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    CHECK(line.own_watched(2, outcome::done, false) == "pause");
    CHECK(line.resume() == "watch own 2");
    CHECK(line.own_watched(2, outcome::done, false) == "pause");
    line.release(1);
    CHECK(line.resume() == "watch own 2");
    CHECK(line.own_watched(2, outcome::done, false) == "pause, grant 2");
}

TEST_CASE("the last sequence numbers are announced once, and not used") {
    connected_line line;
    line.join(1);
    line.join(2);
    line.join(3);
    CHECK(line.created(1, rules::sequence_warning) == "warn");
    CHECK(line.created(2, rules::sequence_warning + 1) == "");
    CHECK(line.created(3, rules::sequence_limit) ==
          "sweep 2147383647, fail 3 sequence exhausted, out 3");
}

TEST_CASE("a sequence number past the end is not used either") {
    connected_line line;
    line.join(1);
    CHECK(line.created(1, -2147483647) == "sweep -2147483647, fail 1 sequence exhausted, out 1");
}

TEST_CASE("a refused create fails its contender, and nobody else") {
    connected_line line;
    line.join(1);
    line.join(2);
    CHECK(line.create_fails(1, outcome::refused, -102) == "fail 1 refused -102, out 1");
    line.created(2, 0);
    line.listed({0});
    CHECK(line.listed({0}) == "grant 2");
}

TEST_CASE("in a directory that cannot be read nobody waits, and no node stays") {
    connected_line line;
    line.join(1);
    line.created(1, 3);
    line.join(2);
    CHECK(line.list_fails(outcome::refused, -102) == "fail 1 refused -102, sweep 3, out 1, list");
    line.created(2, 4);
    CHECK(line.list_fails(outcome::refused, -102) == "fail 2 refused -102, sweep 4, out 2");
    CHECK(line.line.idle());
}
