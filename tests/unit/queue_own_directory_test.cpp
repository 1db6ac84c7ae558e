// The queue of a keyed lock: its directory is made with the first node, and deleted with the last.

#include "unit/stepped_queue.hpp"

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock::test;
using paddock::zk_errc;

namespace {

constexpr int node_exists = static_cast<int>(zk_errc::node_exists);
constexpr int no_auth = static_cast<int>(zk_errc::no_auth);
constexpr paddock::rules::contender_terms keyed{.own_directory = true};

struct keyed_queue : connected_queue {
    keyed_queue() { queue.directory_free(true); }

    /// The contender 1 holds the lock in its own directory.
    void holds() {
        CHECK(join(1, keyed) == "create 1 with directory");
        CHECK(created(1, 0) == "grant 1");
    }
};

} // namespace

TEST_CASE("the first contender makes the directory, and is granted without a listing") {
    keyed_queue queue;
    CHECK(queue.join(1, keyed) == "create 1 with directory");
    CHECK(queue.created(1, 0).starts_with("grant 1"));
    CHECK(queue.granted_czxid == 100);
    CHECK(queue.release(1) == "sweep 0 with directory, out 1");
    SUBCASE("and so does the next") { CHECK(queue.join(2, keyed) == "create 2 with directory"); }
}

TEST_CASE("the directory goes with the last node, not with the first") {
    keyed_queue queue;
    queue.holds();
    CHECK(queue.join(2, keyed) == "create 2, list");
    CHECK(queue.created(2, 1) == "");
    CHECK(queue.listed({0, 1}) == "watch own 2");
    CHECK(queue.own_watched(2) == "");
    SUBCASE("the first is released before") {
        CHECK(queue.release(1) == "sweep 0, out 1, grant 2");
        CHECK(queue.release(2) == "sweep 1 with directory, out 2");
    }
    SUBCASE("the first is released after") {
        CHECK(queue.quit(2) == "sweep 1, out 2");
        CHECK(queue.release(1) == "sweep 0 with directory, out 1");
    }
}

TEST_CASE("a contender whose caller has left is deleted with the directory that it has made") {
    keyed_queue queue;
    queue.join(1, keyed);
    CHECK(queue.quit(1) == "");
    CHECK(queue.created(1, 0) == "sweep 0 with directory, out 1");
}

TEST_CASE("while one contender makes the directory the next ones wait, and keep their order") {
    keyed_queue queue;
    CHECK(queue.join(1, keyed) == "create 1 with directory");
    CHECK(queue.join(2, keyed) == "");
    CHECK(queue.join(3, keyed) == "");
    SUBCASE("it is made") { CHECK(queue.created(1, 0) == "grant 1, create 2, list, create 3"); }
    SUBCASE("it exists") {
        CHECK(queue.create_fails(1, outcome::refused, node_exists) ==
              "directory refused -110, create 1, list, create 2, create 3");
    }
    SUBCASE("its parent is missing") {
        CHECK(queue.create_fails(1, outcome::missing) == "make parents of directory");
        CHECK(queue.parents_made() == "create 1 with directory");
    }
    SUBCASE("the answer is lost") {
        CHECK(queue.create_fails(1, outcome::lost) == "taint 1, settle");
        CHECK(queue.listed({}) == "create 1, create 2, create 3, list");
    }
    SUBCASE("the server cannot do it now") {
        CHECK(queue.create_fails(1, outcome::later) == "pause");
        CHECK(queue.resume() == "create 1 with directory");
    }
    SUBCASE("its caller leaves") {
        CHECK(queue.quit(1) == "");
        CHECK(queue.created(1, 0) == "sweep 0, out 1, create 2, list, create 3");
        CHECK(queue.created(2, 1) == "");
        CHECK(queue.created(3, 2) == "");
        CHECK(queue.listed({1, 2}) == "list, grant 2");
        CHECK(queue.listed({1, 2}) == "watch own 3");
        CHECK(queue.own_watched(3) == "");
        CHECK(queue.release(2) == "sweep 1, out 2, grant 3");
        CHECK(queue.release(3) == "sweep 2 with directory, out 3");
    }
}

TEST_CASE("of contenders that waited for a connection the first one makes the directory") {
    keyed_queue queue;
    queue.disconnected();
    CHECK(queue.join(1, keyed) == "");
    CHECK(queue.join(2, keyed) == "");
    CHECK(queue.connected() == "create 1 with directory");
}

TEST_CASE("a contender that may not make a directory joins in the ordinary way") {
    keyed_queue queue;
    SUBCASE("because it is not the lock of a key") { CHECK(queue.join(1) == "create 1, list"); }
    SUBCASE("because others use the directory") {
        queue.queue.directory_free(false);
        CHECK(queue.join(1, keyed) == "create 1, list");
        queue.created(1, 0);
        CHECK(queue.listed({0}) == "grant 1");
        CHECK(queue.release(1) == "sweep 0, out 1, directory left");
    }
}

TEST_CASE("a directory that exists is used in the ordinary way") {
    keyed_queue queue;
    queue.join(1, keyed);
    CHECK(queue.create_fails(1, outcome::refused, node_exists) ==
          "directory refused -110, create 1, list");
    CHECK(queue.created(1, 7) == "");
    CHECK(queue.listed({3, 7}) == "directory shared, watch own 1, watch 3");
    queue.watched(3);
    queue.own_watched(1);
    CHECK(queue.deleted(3) == "grant 1");
    CHECK(queue.release(1) == "sweep 7, out 1, directory left");
}

TEST_CASE("a listing that comes when its contender has left fills no table") {
    keyed_queue queue;
    queue.join(1, keyed);
    queue.create_fails(1, outcome::refused, node_exists);
    CHECK(queue.quit(1) == "");
    CHECK(queue.created(1, 1) == "sweep 1, out 1, directory left");
    CHECK(queue.listed({0, 1}) == "");
    queue.queue.directory_free(true); // the node 0 and its directory are gone
    CHECK(queue.join(2, keyed) == "create 2 with directory");
    CHECK(queue.created(2, 1) == "grant 2");
}

TEST_CASE("foreign nodes are forgotten when the last contender leaves without a node") {
    keyed_queue queue;
    queue.join(1, keyed);
    queue.create_fails(1, outcome::refused, node_exists);
    CHECK(queue.listed({0}) == "directory shared, list"); // the create's answer is late
    CHECK(queue.list_fails(outcome::not_sent) == "pause");
    CHECK(queue.create_fails(1, outcome::refused, no_auth) == "fail 1 refused -102, out 1, "
                                                              "directory left");
    queue.queue.directory_free(true);
    CHECK(queue.join(2, keyed) == "");
    CHECK(queue.resume() == "create 2 with directory");
    CHECK(queue.created(2, 1) == "grant 2");
}

TEST_CASE("a new directory has none of the nodes that were known before") {
    keyed_queue queue;
    queue.join(1, keyed);
    queue.create_fails(1, outcome::refused, node_exists);
    CHECK(queue.listed({0}) == "directory shared, list");
    CHECK(queue.list_fails(outcome::not_sent) == "pause");
    queue.queue.directory_free(true); // the node 0 and its directory are gone
    CHECK(queue.create_fails(1, outcome::later) == "");
    CHECK(queue.resume() == "create 1 with directory");
    CHECK(queue.created(1, 1) == "grant 1");
}

TEST_CASE("a directory that others use, too, is not deleted") {
    keyed_queue queue;
    queue.holds();
    queue.join(2, keyed);
    queue.created(2, 5);
    CHECK(queue.listed({0, 4, 5}) == "directory shared, watch own 2, watch 4");
    queue.queue.directory_free(false);
    CHECK(queue.quit(2) == "sweep 5, forget 4, out 2");
    CHECK(queue.release(1) == "sweep 0, directory shared, out 1, directory remains");
}

TEST_CASE("missing parents of the directory are made, and the directory with its node") {
    keyed_queue queue;
    queue.join(1, keyed);
    CHECK(queue.create_fails(1, outcome::missing) == "make parents of directory");
    CHECK(queue.parents_made() == "create 1 with directory");
    CHECK(queue.created(1, 0).starts_with("grant 1"));
}

TEST_CASE("a create that was lost is settled by a listing") {
    keyed_queue queue;
    queue.join(1, keyed);
    CHECK(queue.create_fails(1, outcome::lost) == "taint 1, settle");
    SUBCASE("it has made the directory") {
        queue.executed(1, 0);
        CHECK(queue.listed({0}) == "watch own 1");
        CHECK(queue.own_watched(1) == "grant 1");
        CHECK(queue.release(1) == "sweep 0 with directory, out 1");
    }
    SUBCASE("it has made nothing yet, or its node was deleted") {
        CHECK(queue.listed({}) == "create 1, list");
        queue.created(1, 1);
        CHECK(queue.listed({1}) == "grant 1");
        CHECK(queue.release(1) == "sweep 1, out 1, directory perhaps remains");
    }
    SUBCASE("its caller has left") {
        CHECK(queue.quit(1) == "out 1, directory perhaps remains"); // the taint finds its node
    }
}

TEST_CASE("no listing is asked for a contender that makes its directory") {
    keyed_queue queue;
    queue.join(1, keyed);
    queue.disconnected();
    queue.create_fails(1, outcome::not_sent);
    CHECK(queue.connected() == "create 1 with directory");
    queue.queue.show_positions(true);
    CHECK(queue.actions() == "");
    CHECK(queue.created(1, 0).starts_with("grant 1"));
}

TEST_CASE("a holder whose node was deleted leaves the directory behind") {
    keyed_queue queue;
    queue.holds();
    CHECK(queue.event(queue.name(0), true) == "lose 1, out 1, directory perhaps remains");
}

TEST_CASE("after an own node was deleted the directory may be another one") {
    keyed_queue queue;
    queue.holds();
    queue.join(2, keyed);
    queue.created(2, 1);
    queue.listed({0, 1});
    queue.own_watched(2);
    SUBCASE("the holder's node, and a waiter joins anew") {
        CHECK(queue.event(queue.name(1), true) == "create 2, list");
        CHECK(queue.event(queue.name(0), true) == "lose 1, out 1");
        queue.created(2, 2);
        CHECK(queue.listed({2}) == "grant 2");
        CHECK(queue.release(2) == "sweep 2, out 2, directory perhaps remains");
    }
    SUBCASE("a waiter's node") {
        CHECK(queue.event(queue.name(1), true) == "create 2, list");
        CHECK(queue.quit(2) == "");
        queue.created(2, 2);
        CHECK(queue.release(1) == "sweep 0, out 1, directory perhaps remains");
    }
}

TEST_CASE("the end of the session leaves the directory behind") {
    keyed_queue queue;
    SUBCASE("with a holder") {
        queue.holds();
        CHECK(queue.expired() == "lose 1 with its session, out 1, directory perhaps remains");
    }
    SUBCASE("with a create that may have been executed") {
        queue.join(1, keyed);
        CHECK(queue.expired() == "directory perhaps remains");
        queue.queue.directory_free(false);
        CHECK(queue.connected() == "create 1, list");
    }
    SUBCASE("but not if there was none") {
        queue.disconnected();
        queue.join(1, keyed);
        CHECK(queue.expired() == "");
    }
}

TEST_CASE("a client that closes deletes all its nodes in the directory that it has made") {
    keyed_queue queue;
    CHECK(queue.queue.own_nodes().empty());
    CHECK_FALSE(queue.queue.made_directory());
    queue.holds();
    queue.join(2, keyed);
    queue.created(2, 5);
    SUBCASE("alone") { queue.listed({0, 5}); }
    SUBCASE("though others use it") {
        queue.listed({0, 4, 5});
        queue.queue.directory_free(false);
    }
    CHECK(queue.queue.made_directory());
    CHECK(queue.queue.own_nodes() == std::vector{queue.name(0), queue.name(5)});
}

TEST_CASE("the node of a create with its directory has a name that is known before") {
    keyed_queue queue;
    queue.join(1, keyed);
    queue.executed(1, 0);
    CHECK(queue.queue.made_directory());
    CHECK(queue.queue.own_nodes() == std::vector{queue.name(0)});
    SUBCASE("its answer is lost") { queue.create_fails(1, outcome::lost); }
    SUBCASE("its answer is under way") { queue.quit(1); }
    CHECK(queue.queue.made_directory());
    CHECK(queue.queue.own_nodes() == std::vector{queue.name(0)});
}

TEST_CASE("company is seen by every listing that shows another node, and at the end") {
    keyed_queue queue;
    queue.holds();
    queue.join(2, keyed);
    queue.created(2, 2);
    CHECK(queue.listed({0, 1, 2}) == "directory shared, watch own 2, watch 1");
    queue.join(3, keyed);
    queue.created(3, 4);
    CHECK(queue.listed({0, 1, 2, 4}) == "");
    queue.join(4, keyed);
    queue.created(4, 6);
    CHECK(queue.listed({0, 1, 2, 4, 5, 6}) == "directory shared");
    queue.quit(4);
    queue.quit(3);
    queue.quit(2);
    CHECK(queue.release(1) == "sweep 0, directory shared, out 1, directory remains");
}

TEST_CASE("with a short lease the holder waits until it is longer") {
    keyed_queue queue;
    queue.join(1, keyed);
    queue.queue.lease(false);
    CHECK(queue.created(1, 0) == "await lease, watch own 1");
    queue.own_watched(1);
    CHECK(queue.lease_renewed() == "grant 1");
}
