// Requests of a queue that the ensemble refuses, for a while or for good.

#include "unit/stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
namespace rules = paddock::rules;

TEST_CASE("a missing directory is created once, and then every contender starts again") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    CHECK(queue.create_fails(1, outcome::missing) == "make parents");
    CHECK(queue.create_fails(2, outcome::missing) == "");
    CHECK(queue.list_fails(outcome::missing) == ""); // nobody has a node
    CHECK(queue.join(3) == "");
    CHECK(queue.parents_made() == "create 1, list, create 2, create 3");
    CHECK(queue.create_fails(1, outcome::missing) == "make parents"); // it was reaped again
}

TEST_CASE("a directory that cannot be created fails the contenders that need it, and only those") {
    connected_queue queue;
    queue.join(1);
    queue.create_fails(1, outcome::missing);
    CHECK(queue.parents_made(outcome::refused, -102) == "fail 1 refused -102, out 1");
}

TEST_CASE("the create of a directory is repeated after a temporary failure") {
    connected_queue queue;
    queue.join(1);
    queue.create_fails(1, outcome::missing);
    queue.list_fails(outcome::missing);
    SUBCASE("after a while") {
        CHECK(queue.parents_made(outcome::later) == "pause");
        CHECK(queue.resume() == "create 1, list");
    }
    SUBCASE("by the next connection") {
        queue.disconnected();
        CHECK(queue.parents_made(outcome::lost) == "");
        CHECK(queue.connected() == "create 1, list");
    }
}

TEST_CASE("a listing of a directory that vanished ends every contender's node") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.join(2);
    queue.create_fails(2, outcome::missing);
    CHECK(queue.list_fails(outcome::missing) == "lose 1, out 1");
}

TEST_CASE("throttled, the queue pauses once, and goes on where it was") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    CHECK(queue.create_fails(1, outcome::later) == "pause");
    CHECK(queue.create_fails(2, outcome::later) == "");
    CHECK(queue.join(3) == "");
    queue.listed({});
    queue.listed({});
    CHECK(queue.resume() == "create 1, list, create 2, create 3");
    CHECK(queue.resume() == "");
}

TEST_CASE("a throttled listing is repeated after the pause") {
    connected_queue queue;
    queue.join(1);
    queue.created(1, 3);
    CHECK(queue.list_fails(outcome::later) == "pause");
    CHECK(queue.resume() == "list");
}

TEST_CASE("a throttled read is not repeated before the pause is over") {
    connected_queue queue;
    SUBCASE("of the own node") {
        queue.waits(1, 0, {0});
        queue.waits(2, 1, {0, 1});
        CHECK(queue.own_watched(2, outcome::later) == "pause");
        CHECK(queue.resume() == "watch own 2");
    }
    SUBCASE("of a blocker") {
        queue.waits(1, 1, {0, 1});
        queue.own_watched(1);
        CHECK(queue.watched(0, outcome::later) == "pause");
        CHECK(queue.resume() == "watch 0");
    }
}

TEST_CASE("without room for a watch the own node is read again and again, with pauses") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    CHECK(queue.own_watched(2, outcome::done, false) == "pause");
    CHECK(queue.resume() == "watch own 2");
    CHECK(queue.own_watched(2, outcome::done, false) == "pause");
    queue.release(1);
    CHECK(queue.resume() == "watch own 2");
    CHECK(queue.own_watched(2, outcome::done, false) == "pause, grant 2");
}

TEST_CASE("the queue warns once of the last sequence numbers, and does not use them") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    queue.join(3);
    CHECK(queue.created(1, rules::sequence_warning) == "warn");
    CHECK(queue.created(2, rules::sequence_warning + 1) == "");
    CHECK(queue.created(3, rules::sequence_limit) ==
          "sweep 2147383647, fail 3 sequence exhausted, out 3");
}

TEST_CASE("a sequence number past the end is not used either") {
    connected_queue queue;
    queue.join(1);
    CHECK(queue.created(1, -2147483647) == "sweep -2147483647, fail 1 sequence exhausted, out 1");
}

TEST_CASE("a refused create fails its own contender only") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    CHECK(queue.create_fails(1, outcome::refused, -102) == "fail 1 refused -102, out 1");
    queue.created(2, 0);
    queue.listed({0});
    CHECK(queue.listed({0}) == "grant 2");
}

TEST_CASE("in a directory that cannot be read every contender fails, and no node stays") {
    connected_queue queue;
    queue.join(1);
    queue.created(1, 3);
    queue.join(2);
    CHECK(queue.list_fails(outcome::refused, -102) == "fail 1 refused -102, sweep 3, out 1, list");
    queue.created(2, 4);
    CHECK(queue.list_fails(outcome::refused, -102) == "fail 2 refused -102, sweep 4, out 2");
    CHECK(queue.queue.idle());
}
