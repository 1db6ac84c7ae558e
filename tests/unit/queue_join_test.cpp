// How contenders join and leave the queue, and how the lock passes through it.

#include "unit/stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

TEST_CASE("create and listing are sent together, and that listing grants a free lock") {
    connected_queue queue;
    CHECK(queue.join(1) == "create 1, list");
    CHECK(queue.created(1, 0) == "");
    CHECK(queue.listed({0}) == "grant 1");
    CHECK(queue.granted_czxid == 100);
    CHECK_FALSE(queue.queue.idle());
}

TEST_CASE("a released node is swept, and the queue is empty again") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    CHECK(queue.release(1) == "sweep 0, out 1");
    CHECK(queue.swept_id == queue.id_of(1));
    CHECK(queue.ids.claimed(queue.id_of(1))); // until the sweeper says that it is gone
    CHECK(queue.queue.idle());
}

TEST_CASE("a contender that joins without a connection starts with the next connection") {
    stepped_queue queue;
    CHECK(queue.join(1) == "");
    CHECK(queue.join(2) == "");
    CHECK(queue.connected() == "create 1, list, create 2");
}

namespace {

/// At most two creates are under way at one time.
struct narrow_queue : stepped_queue {
    narrow_queue() : stepped_queue(paddock::rules::naming("lock"), 2) {
        connected();
        CHECK(join(1) == "create 1, list");
        CHECK(join(2) == "create 2");
        for (const auto key : {3, 4, 5})
            CHECK(join(key) == "");
    }
};

} // namespace

TEST_CASE("while enough creates are under way others wait, and start in their order") {
    narrow_queue queue;
    CHECK(queue.created(2, 0) == "create 3");
    CHECK(queue.created(1, 1) == "create 4");
    CHECK(queue.join(6) == "");
    CHECK(queue.created(3, 2) == "create 5");
    CHECK(queue.created(4, 3) == "create 6");
    CHECK(queue.created(5, 4) == "");
    CHECK(queue.join(7) == "create 7");
}

TEST_CASE("a contender that leaves before its create was sent needs no request") {
    narrow_queue queue;
    CHECK(queue.quit(3) == "out 3");
    CHECK(queue.created(1, 0) == "create 4");
    CHECK(queue.quit(2) == ""); // its create is under way
    CHECK(queue.created(2, 1) == "sweep 1, out 2, create 5");
}

TEST_CASE("a create that was refused, lost or not sent makes room for the next one") {
    narrow_queue queue;
    SUBCASE("refused") {
        CHECK(queue.create_fails(1, outcome::refused, -102) ==
              "fail 1 refused -102, out 1, create 3");
    }
    SUBCASE("lost: not before its outcome is known") {
        CHECK(queue.create_fails(1, outcome::lost) == "taint 1");
        CHECK(queue.disconnected() == "");
        CHECK(queue.create_fails(2, outcome::not_sent) == "");
        CHECK(queue.connected() == "settle");
        CHECK(queue.listed({}) == "create 1, create 2, list");
        CHECK(queue.created(1, 0) == "create 3");
    }
    SUBCASE("neither was sent") {
        queue.disconnected();
        CHECK(queue.create_fails(1, outcome::not_sent) == "");
        CHECK(queue.create_fails(2, outcome::not_sent) == "");
        CHECK(queue.connected() == "create 1, list, create 2");
        CHECK(queue.created(2, 0) == "create 3");
    }
    SUBCASE("the session has ended") {
        queue.expired();
        CHECK(queue.connected() == "create 1, list, create 2");
        CHECK(queue.created(1, 0) == "create 3");
    }
    SUBCASE("the directory is missing") {
        CHECK(queue.create_fails(1, outcome::missing) == "make parents");
        CHECK(queue.create_fails(2, outcome::missing) == "");
        CHECK(queue.parents_made() == "create 1, create 2");
        CHECK(queue.created(1, 0) == "create 3");
    }
    SUBCASE("the ensemble is busy") {
        CHECK(queue.create_fails(1, outcome::later) == "pause");
        CHECK(queue.created(2, 0) == "");
        CHECK(queue.resume() == "create 1, create 3");
        CHECK(queue.created(1, 1) == "create 4");
    }
}

TEST_CASE("a contender that lost its node starts before those that were never sent") {
    narrow_queue queue;
    queue.created(1, 0);
    queue.created(2, 1);
    CHECK(queue.listed({0}) == "grant 1, list");
    queue.join(6);
    CHECK(queue.deleted(1) == "");
    CHECK(queue.created(4, 3) == "create 2");
}

TEST_CASE("listings are coalesced: one under way, one wanted") {
    connected_queue queue;
    CHECK(queue.join(1) == "create 1, list");
    CHECK(queue.join(2) == "create 2");
    CHECK(queue.join(3) == "create 3");
    queue.created(1, 0);
    queue.created(2, 1);
    queue.created(3, 2);
    CHECK(queue.listed({0}) == "grant 1, list");
    CHECK(queue.listed({0, 1, 2}) == "watch own 2, watch own 3");
}

TEST_CASE("a contender needs a listing that was sent after its create") {
    connected_queue queue;
    queue.join(1);
    queue.created(1, 5);
    queue.join(2); // its create comes after the listing that is under way
    queue.created(2, 7);
    CHECK(queue.listed({5}) == "grant 1, list");
    CHECK(queue.release(1) == "sweep 5, out 1"); // 2 does not know its predecessors yet
    CHECK(queue.listed({6, 7}) == "watch own 2, watch 6");
}

TEST_CASE("a node that an earlier listing lacks is not gone") {
    connected_queue queue;
    queue.join(1);
    queue.join(2);
    queue.created(1, 0);
    queue.created(2, 1); // answered before the listing, but sent behind it
    const auto id = queue.id_of(2);
    queue.listed({0});
    CHECK(queue.id_of(2) == id);
    CHECK(queue.listed({0, 1}) == "watch own 2");
}

TEST_CASE("the nearest foreign node and the own one are watched in the same flight") {
    connected_queue queue;
    CHECK(queue.waits(1, 7, {3, 5, 7, 9}) == "create 1, list, watch own 1, watch 5");
    CHECK(queue.own_watched(1) == "");
    CHECK(queue.watched(5) == "");
}

TEST_CASE("when the watched blocker goes and others remain, one listing shows which are left") {
    connected_queue queue;
    queue.waits(1, 7, {3, 5, 7});
    queue.own_watched(1);
    queue.watched(5);
    CHECK(queue.deleted(5) == "list");
    CHECK(queue.listed({3, 7}) == "watch 3");
    CHECK(queue.watched(3) == "");
    CHECK(queue.deleted(3) == "grant 1"); // and nothing is read: the own node's watch is silent
}

TEST_CASE("blockers only become fewer: a node behind never becomes one") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    queue.own_watched(1);
    queue.watched(3);
    CHECK(queue.waits(2, 6, {3, 4, 5, 6}) == "create 2, list, watch own 2, watch 5");
    CHECK(queue.deleted(3) == "grant 1");
}

TEST_CASE("each waiter behind another process has a watch, and each node only one") {
    connected_queue queue;
    queue.waits(1, 1, {0, 1});
    CHECK(queue.waits(2, 3, {0, 1, 2, 3}) == "create 2, list, watch own 2, watch 2");
    CHECK(queue.waits(3, 4, {0, 1, 2, 3, 4}) == "create 3"); // behind a local one: none
    CHECK(queue.waits(4, 6, {0, 1, 2, 3, 4, 5, 6}) == "create 4, list, watch own 4, watch 5");
    CHECK(queue.quit(1) == "sweep 1, forget 0, out 1");
}

TEST_CASE("a blocker that does not exist when its watch is set is gone") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    CHECK(queue.own_watched(1) == "");
    CHECK(queue.watched(3, outcome::missing) == "grant 1");
}

TEST_CASE("the lock passes through a chain of local waiters without a request in between") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    CHECK(queue.waits(2, 1, {0, 1}) == "create 2, list, watch own 2");
    CHECK(queue.waits(3, 2, {0, 1, 2}) == "create 3, list, watch own 3");
    queue.own_watched(2);
    queue.own_watched(3);
    CHECK(queue.release(1) == "sweep 0, out 1, grant 2");
    CHECK(queue.release(2) == "sweep 1, out 2, grant 3");
    CHECK(queue.release(3) == "sweep 2, out 3");
}

TEST_CASE("a local waiter whose own watch is not armed yet is granted by its answer") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    CHECK(queue.release(1) == "sweep 0, out 1"); // its watch is still being set
    CHECK(queue.own_watched(2) == "grant 2");
}

TEST_CASE("the own nodes of the next 16 local waiters are watched in advance, and of no more") {
    connected_queue queue;
    queue.queue.show_positions(true); // so that each has its listing at once
    queue.waits(1, 0, {0});
    for (int k = 2; k <= 20; ++k) {
        const auto key = static_cast<contender_key>(k);
        queue.join(key);
        queue.created(key, k - 1);
        const auto wanted = k <= 17 ? "watch own " + std::to_string(k) : std::string();
        std::vector<std::string> all;
        for (int n = 0; n < k; ++n)
            all.push_back(queue.name(n));
        CHECK(queue.listed_names(all) == wanted);
        if (k <= 17) queue.own_watched(key);
    }
    CHECK(queue.release(1) == "sweep 0, out 1, grant 2, watch own 18");
}

TEST_CASE("a foreign contender between local ones has its turn") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    CHECK(queue.waits(2, 2, {0, 1, 2}) == "create 2, list, watch own 2, watch 1");
    queue.own_watched(2);
    queue.watched(1);
    CHECK(queue.release(1) == "sweep 0, out 1");
    CHECK(queue.deleted(1) == "grant 2");
}

TEST_CASE("a contender that leaves before it was started leaves nothing") {
    stepped_queue queue;
    queue.join(1);
    CHECK(queue.quit(1) == "out 1");
    CHECK(queue.queue.idle());
    CHECK(queue.connected() == "");
}

TEST_CASE("a contender that leaves during its create is done when the node is known and swept") {
    connected_queue queue;
    queue.join(1);
    CHECK(queue.quit(1) == "");
    CHECK_FALSE(queue.queue.idle());
    CHECK(queue.created(1, 0) == "sweep 0, out 1");
    CHECK(queue.listed({0}) == "");
    CHECK(queue.queue.idle());
}

TEST_CASE("a contender that leaves during its create is done at once if the create fails") {
    connected_queue queue;
    queue.join(1);
    queue.quit(1);
    SUBCASE("for good") { CHECK(queue.create_fails(1, outcome::refused, -102) == "out 1"); }
    SUBCASE("because the directory is missing") {
        CHECK(queue.create_fails(1, outcome::missing) == "out 1");
    }
    SUBCASE("with the connection") {
        CHECK(queue.create_fails(1, outcome::lost) == "taint 1, out 1");
    }
    SUBCASE("unsent") { CHECK(queue.create_fails(1, outcome::not_sent) == "out 1"); }
    CHECK(queue.ids.count() == 0);
}

TEST_CASE("a contender that leaves with an unknown create leaves its node to the taint") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    CHECK(queue.create_fails(1, outcome::lost) == "taint 1");
    CHECK(queue.quit(1) == "out 1");
    CHECK_FALSE(queue.ids.claimed(queue.id_of(1)));
    CHECK(queue.connected() == "");
}

TEST_CASE("a waiter that leaves is swept, and the waiter behind it takes over its watches") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    CHECK(queue.waits(2, 4, {2, 3, 4}) == "create 2, list");
    CHECK(queue.quit(1) == "sweep 3, watch own 2, out 1");
    queue.own_watched(2);
    queue.watched(2);
    CHECK(queue.deleted(2) == "grant 2");
}

TEST_CASE("the last waiter that leaves removes its watch") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    CHECK(queue.quit(1) == "sweep 3, forget 2, out 1");
}

TEST_CASE("a waiter that leaves at the moment of its grant has the lock, and releases it") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    CHECK(queue.quit(1) == "");
    CHECK(queue.release(1) == "sweep 0, out 1");
    CHECK(queue.release(1) == "");
}

TEST_CASE("a waiter cannot release, and unknown keys have no effect") {
    connected_queue queue;
    queue.waits(1, 3, {2, 3});
    CHECK(queue.release(1) == "");
    CHECK(queue.quit(77) == "");
    CHECK(queue.release(77) == "");
    CHECK(queue.watch_hold(77) == "");
    CHECK(queue.watch_hold(1) == "");
}

TEST_CASE("an immediate contender is granted a free lock") {
    connected_queue queue;
    CHECK(queue.waits(1, 0, {0}).find("give up") == std::string::npos);
    queue.release(1);
    queue.join(2, {.immediate = true});
    queue.created(2, 1);
    CHECK(queue.listed({0, 1}) ==
          "grant 2"); // an own node that is being deleted blocks no contender
}

TEST_CASE("an immediate contender gives up a taken lock, and its node is swept") {
    connected_queue queue;
    queue.join(1, {.immediate = true});
    queue.created(1, 4);
    CHECK(queue.listed({3, 4}) == "give up 1, sweep 4, out 1");
    CHECK(queue.queue.idle());
}

TEST_CASE("of two immediate contenders one is granted") {
    connected_queue queue;
    queue.join(1, {.immediate = true});
    queue.join(2, {.immediate = true});
    queue.created(1, 0);
    queue.created(2, 1);
    CHECK(queue.listed({0}) == "list, grant 1");
    CHECK(queue.listed({0, 1}) == "give up 2, sweep 1, out 2");
}

TEST_CASE("an immediate contender fails at once when the connection is lost") {
    connected_queue queue;
    SUBCASE("while its node is being created") {
        queue.join(1, {.immediate = true});
        CHECK(queue.disconnected() == "fail 1 not connected");
        CHECK(queue.create_fails(1, outcome::lost) == "taint 1, out 1");
    }
    SUBCASE("while the listing is awaited") {
        queue.join(1, {.immediate = true});
        queue.created(1, 0);
        CHECK(queue.disconnected() == "fail 1 not connected, sweep 0, out 1");
    }
    CHECK(queue.queue.ahead_of(1) == std::nullopt);
}
