// No contender is granted the lock on a lease that is about to end.

#include "unit/stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

TEST_CASE("on a short lease a grant waits until it is renewed") {
    connected_queue l;
    CHECK(l.join(1) == "create 1, list");
    l.created(1, 0);
    l.queue.lease(false);
    CHECK(l.listed({0}) == "await lease, watch own 1");
    CHECK(l.own_watched(1) == "");
    CHECK(l.lease_renewed() == "grant 1");
}

TEST_CASE("a renewed lease does not replace the knowledge that the own node exists") {
    connected_queue l;
    l.join(1);
    l.created(1, 0);
    l.queue.lease(false);
    CHECK(l.listed({0}) == "await lease, watch own 1");
    CHECK(l.lease_renewed() == "");
    CHECK(l.own_watched(1) == "grant 1");
}

TEST_CASE("a hand-off waits likewise, and asks for the lease once") {
    connected_queue l;
    l.waits(1, 0, {0});
    l.waits(2, 1, {0, 1});
    l.own_watched(2);
    l.queue.lease(false);
    CHECK(l.release(1) == "sweep 0, out 1, await lease");
    l.waits(3, 2, {1, 2});
    CHECK(l.lease_renewed() == "grant 2");
}

TEST_CASE("a node that is deleted meanwhile is not granted by the renewal") {
    connected_queue l;
    l.join(1);
    l.created(1, 0);
    l.queue.lease(false);
    l.listed({0});
    l.own_watched(1);
    CHECK(l.deleted(0) == "create 1, list");
    CHECK(l.lease_renewed() == "");
}

TEST_CASE("a wait for the lease of one session is repeated in the next") {
    connected_queue l;
    l.join(1);
    l.created(1, 0);
    l.queue.lease(false);
    l.listed({0});
    l.disconnected();
    l.expired();
    l.connected();
    l.created(1, 0);
    CHECK(l.listed({0}) == "await lease, watch own 1");
}

TEST_CASE("readers wait for the lease, too") {
    connected_queue l(rules::naming::of_shared_mutex());
    l.join(1, {.as = rules::role::shared});
    l.created(1, 0);
    l.join(2, {.as = rules::role::shared});
    l.created(2, 1);
    l.queue.lease(false);
    l.listed({0});
    CHECK(l.listed({0, 1}).find("grant") == std::string::npos);
    l.own_watched(1);
    l.own_watched(2);
    CHECK(l.lease_renewed() == "grant 1, grant 2");
}
