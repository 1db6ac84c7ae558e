// How contenders come into the line, how they leave it, and how the lock goes through it.

#include "unit/stepped_line.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

TEST_CASE("create and listing go out together, and a free lock is granted by that listing") {
    connected_line line;
    CHECK(line.join(1) == "create 1, list");
    CHECK(line.created(1, 0) == "");
    CHECK(line.listed({0}) == "grant 1");
    CHECK(line.granted_czxid == 100);
    CHECK_FALSE(line.line.idle());
    CHECK_FALSE(line.line.idle());
}

TEST_CASE("a released node is swept, and the line is empty again") {
    connected_line line;
    line.waits(1, 0, {0});
    CHECK(line.release(1) == "sweep 0, out 1");
    CHECK(line.swept_id == line.id_of(1));
    CHECK(line.ids.claimed(line.id_of(1))); // until the sweeper says that it is gone
    CHECK(line.line.idle());
    CHECK(line.line.idle());
}

TEST_CASE("who joins while not connected is started by the connection") {
    stepped_line line;
    CHECK(line.join(1) == "");
    CHECK(line.join(2) == "");
    CHECK(line.connected() == "create 1, list, create 2");
}

TEST_CASE("listings are coalesced: one under way, one wanted") {
    connected_line line;
    CHECK(line.join(1) == "create 1, list");
    CHECK(line.join(2) == "create 2");
    CHECK(line.join(3) == "create 3");
    line.created(1, 0);
    line.created(2, 1);
    line.created(3, 2);
    CHECK(line.listed({0}) == "list, grant 1");
    CHECK(line.listed({0, 1, 2}) == "watch own 2, watch own 3");
}

TEST_CASE("a contender needs a listing that was sent after its create") {
    connected_line line;
    line.join(1);
    line.created(1, 5);
    line.join(2); // its create comes after the listing that is under way
    line.created(2, 7);
    CHECK(line.listed({5}) == "list, grant 1");
    CHECK(line.release(1) == "sweep 5, out 1"); // 2 does not know yet what is before it
    CHECK(line.listed({6, 7}) == "watch own 2, watch 6");
}

TEST_CASE("who is not in a listing sent before its create is not gone") {
    connected_line line;
    line.join(1);
    line.join(2);
    line.created(1, 0);
    line.created(2, 1); // answered before the listing, but sent behind it
    const auto id = line.id_of(2);
    line.listed({0});
    CHECK(line.id_of(2) == id);
    CHECK(line.listed({0, 1}) == "watch own 2");
}

TEST_CASE("the nearest foreign node and the own one are watched in the same flight") {
    connected_line line;
    CHECK(line.waits(1, 7, {3, 5, 7, 9}) == "create 1, list, watch own 1, watch 5");
    CHECK(line.own_watched(1) == "");
    CHECK(line.watched(5) == "");
}

TEST_CASE("when the watched blocker goes and others are before it, one listing tells of them all") {
    connected_line line;
    line.waits(1, 7, {3, 5, 7});
    line.own_watched(1);
    line.watched(5);
    CHECK(line.deleted(5) == "list");
    CHECK(line.listed({3, 7}) == "watch 3");
    CHECK(line.watched(3) == "");
    CHECK(line.deleted(3) == "grant 1"); // and nothing is read: the own node's watch is silent
}

TEST_CASE("blockers only become fewer: a node behind never becomes one") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    line.own_watched(1);
    line.watched(3);
    CHECK(line.waits(2, 6, {3, 4, 5, 6}) == "create 2, list, watch own 2, watch 5");
    CHECK(line.deleted(3) == "grant 1");
}

TEST_CASE("each waiter behind another process has a watch, and each node only one") {
    connected_line line;
    line.waits(1, 1, {0, 1});
    CHECK(line.waits(2, 3, {0, 1, 2, 3}) == "create 2, list, watch own 2, watch 2");
    CHECK(line.waits(3, 4, {0, 1, 2, 3, 4}) == "create 3, list"); // behind a local one: none
    CHECK(line.waits(4, 6, {0, 1, 2, 3, 4, 5, 6}) == "create 4, list, watch own 4, watch 5");
    CHECK(line.quit(1) == "sweep 1, forget 0, out 1");
}

TEST_CASE("a blocker that was already gone when it was to be watched is gone") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    CHECK(line.own_watched(1) == "");
    CHECK(line.watched(3, outcome::missing) == "grant 1");
}

TEST_CASE("the lock is handed down a chain of local waiters without a question in between") {
    connected_line line;
    line.waits(1, 0, {0});
    CHECK(line.waits(2, 1, {0, 1}) == "create 2, list, watch own 2");
    CHECK(line.waits(3, 2, {0, 1, 2}) == "create 3, list, watch own 3");
    line.own_watched(2);
    line.own_watched(3);
    CHECK(line.release(1) == "sweep 0, out 1, grant 2");
    CHECK(line.release(2) == "sweep 1, out 2, grant 3");
    CHECK(line.release(3) == "sweep 2, out 3");
}

TEST_CASE("a local waiter whose own watch is not armed yet is granted by its answer") {
    connected_line line;
    line.waits(1, 0, {0});
    line.waits(2, 1, {0, 1});
    CHECK(line.release(1) == "sweep 0, out 1"); // its watch is still being set
    CHECK(line.own_watched(2) == "grant 2");
}

TEST_CASE("the own nodes of the next 16 local waiters are watched beforehand, and of no more") {
    connected_line line;
    line.waits(1, 0, {0});
    for (int k = 2; k <= 20; ++k) {
        const auto key = static_cast<contender_key>(k);
        line.join(key);
        line.created(key, k - 1);
        const auto wanted = k <= 17 ? "watch own " + std::to_string(k) : std::string();
        std::vector<std::string> all;
        for (int n = 0; n < k; ++n)
            all.push_back(line.name(n));
        CHECK(line.listed_names(all) == wanted);
        if (k <= 17) line.own_watched(key);
    }
    CHECK(line.release(1) == "sweep 0, out 1, grant 2, watch own 18");
}

TEST_CASE("between local contenders a foreign one has its turn") {
    connected_line line;
    line.waits(1, 0, {0});
    CHECK(line.waits(2, 2, {0, 1, 2}) == "create 2, list, watch own 2, watch 1");
    line.own_watched(2);
    line.watched(1);
    CHECK(line.release(1) == "sweep 0, out 1");
    CHECK(line.deleted(1) == "grant 2");
}

TEST_CASE("who leaves before it was started leaves nothing") {
    stepped_line line;
    line.join(1);
    CHECK(line.quit(1) == "out 1");
    CHECK(line.line.idle());
    CHECK(line.connected() == "");
}

TEST_CASE("who leaves while its node is being created waits for the node, and sweeps it") {
    connected_line line;
    line.join(1);
    CHECK(line.quit(1) == "");
    CHECK_FALSE(line.line.idle());
    CHECK(line.created(1, 0) == "sweep 0, out 1");
    CHECK(line.listed({0}) == "");
    CHECK(line.line.idle());
}

TEST_CASE("who leaves while its node is being created leaves at once if that fails") {
    connected_line line;
    line.join(1);
    line.quit(1);
    SUBCASE("for good") { CHECK(line.create_fails(1, outcome::refused, -102) == "out 1"); }
    SUBCASE("for want of the directory") {
        CHECK(line.create_fails(1, outcome::missing) == "out 1");
    }
    SUBCASE("with the connection") {
        CHECK(line.create_fails(1, outcome::lost) == "taint 1, out 1");
    }
    SUBCASE("unsent") { CHECK(line.create_fails(1, outcome::not_sent) == "out 1"); }
    CHECK(line.ids.count() == 0);
}

TEST_CASE("who leaves while its create's fate is unknown leaves the rest to the taint") {
    connected_line line;
    line.join(1);
    line.disconnected();
    CHECK(line.create_fails(1, outcome::lost) == "taint 1");
    CHECK(line.quit(1) == "out 1");
    CHECK_FALSE(line.ids.claimed(line.id_of(1)));
    CHECK(line.connected() == "");
}

TEST_CASE("who leaves while waiting is swept, and its watches go to who is behind it") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    CHECK(line.waits(2, 4, {2, 3, 4}) == "create 2, list");
    CHECK(line.quit(1) == "sweep 3, watch own 2, out 1");
    line.own_watched(2);
    line.watched(2);
    CHECK(line.deleted(2) == "grant 2");
}

TEST_CASE("the last waiter takes its watch with it") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    CHECK(line.quit(1) == "sweep 3, forget 2, out 1");
}

TEST_CASE("who leaves at the moment of the grant is too late: it has the lock, and releases it") {
    connected_line line;
    line.waits(1, 0, {0});
    CHECK(line.quit(1) == "");
    CHECK(line.release(1) == "sweep 0, out 1");
    CHECK(line.release(1) == "");
}

TEST_CASE("who is not granted cannot release, and strangers can do nothing") {
    connected_line line;
    line.waits(1, 3, {2, 3});
    CHECK(line.release(1) == "");
    CHECK(line.quit(77) == "");
    CHECK(line.release(77) == "");
    CHECK(line.guard_own(77) == "");
    CHECK(line.guard_own(1) == "");
}

TEST_CASE("an immediate contender has a free lock") {
    connected_line line;
    CHECK(line.waits(1, 0, {0}).find("give up") == std::string::npos);
    line.release(1);
    line.join(2, {.immediate = true});
    line.created(2, 1);
    CHECK(line.listed({0, 1}) == "grant 2"); // our own node, being deleted, is nobody's
}

TEST_CASE("an immediate contender gives up a taken lock, and its node is swept") {
    connected_line line;
    line.join(1, {.immediate = true});
    line.created(1, 4);
    CHECK(line.listed({3, 4}) == "give up 1, sweep 4, out 1");
    CHECK(line.line.idle());
}

TEST_CASE("of two immediate contenders one has the lock") {
    connected_line line;
    line.join(1, {.immediate = true});
    line.join(2, {.immediate = true});
    line.created(1, 0);
    line.created(2, 1);
    CHECK(line.listed({0}) == "list, grant 1");
    CHECK(line.listed({0, 1}) == "give up 2, sweep 1, out 2");
}

TEST_CASE("an immediate contender fails at once when the connection is lost") {
    connected_line line;
    SUBCASE("while its node is being created") {
        line.join(1, {.immediate = true});
        CHECK(line.disconnected() == "fail 1 not connected");
        CHECK(line.create_fails(1, outcome::lost) == "taint 1, out 1");
    }
    SUBCASE("while the listing is awaited") {
        line.join(1, {.immediate = true});
        line.created(1, 0);
        CHECK(line.disconnected() == "fail 1 not connected, sweep 0, out 1");
    }
    CHECK(line.line.ahead_of(1) == std::nullopt);
}
