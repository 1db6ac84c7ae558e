// The rules of a sticky lock, step by step: what ends a hold, a wait, or the lingering.

#include "stepped_sticky.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;
using stepped = stepped_sticky;

TEST_CASE("a released lock passes to the next waiter, and each grant has its own count") {
    stepped s(handoffs);
    s.crowd(5);
    CHECK(s.released() == "grant 2/1");
    CHECK(s.released() == "grant 3/2");
    CHECK(s.released() == "grant 4/3");
    CHECK(s.released() == "grant 5/4"); // without a limit while the client is alone
    CHECK(s.released() == "release");
}

TEST_CASE("changes that leave others in the queue do not begin the count anew") {
    stepped s(handoffs);
    s.crowd(5);
    s.changed();
    s.listed(listing::company);
    CHECK(s.released() == "grant 2/1");
    CHECK(s.changed() == "watch");
    CHECK(s.listed(listing::company).empty());
    CHECK(s.released() == "grant 3/2");
    CHECK(s.released() == "release, join 4");
}

TEST_CASE("another client that arrives between release and hand-off is counted") {
    stepped s({.max_local_handoffs = 1});
    s.crowd(4);
    CHECK(s.changed() == "watch");
    CHECK(s.released() == "keep");
    CHECK(s.listed(listing::company) == "unkeep, grant 2/1");
    CHECK(s.released() == "release, join 3");
}

TEST_CASE("a released lock lingers, and the next caller has it at once") {
    stepped s(lingers);
    CHECK(s.join(1) == "join 1");
    CHECK(s.granted() == "grant 1/0, watch");
    s.listed(listing::alone);
    CHECK(s.released() == "keep");
    CHECK(s.join(2) == "unkeep, grant 2/1");
    CHECK(s.released() == "keep");
    CHECK(s.join(3, true) == "unkeep, grant 3/2"); // also for a try_lock
}

TEST_CASE("a lost connection ends the lingering") {
    stepped s(lingers);
    s.linger();
    CHECK(s.say(&sticky::disconnected) == "unkeep, release");
}

TEST_CASE("a listing that a lost connection has overtaken says nothing") {
    stepped s(handoffs);
    s.join(1);
    s.join(2);
    s.granted();
    s.say(&sticky::disconnected);
    CHECK(s.listed(listing::alone).empty());
    CHECK(s.released() == "release, join 2");
}

TEST_CASE("a lapse of the lease ends the lingering") {
    stepped s(lingers);
    s.linger();
    CHECK(s.say(&sticky::lapsed) == "unkeep, release");
}

TEST_CASE("a lease that is about to end, or another one, allows no hand-off") {
    stepped s(both);
    s.crowd(2);
    s.line.lease(false);
    CHECK(s.released() == "release, join 2");
    stepped lingering(lingers);
    lingering.linger();
    lingering.line.lease(false);
    CHECK(lingering.join(2) == "unkeep, release, join 2");
}

TEST_CASE("a hold that was lost, or whose transaction is not answered, is not passed on") {
    stepped s(both);
    s.crowd(2);
    CHECK(s.released(false) == "release, join 2");
    CHECK(s.granted() == "grant 2/0, watch"); // the next node may be passed on again
    s.listed(listing::alone);
    CHECK(s.released() == "keep");
}

TEST_CASE("a request to give the lock back ends the lingering, and allows no hand-off") {
    stepped s(both);
    s.linger();
    CHECK(s.say(&sticky::revoke_requested) == "unkeep, release");
    stepped held(both);
    held.crowd(2);
    CHECK(held.say(&sticky::revoke_requested).empty());
    CHECK(held.released() == "release, join 2");
}

TEST_CASE("a node that is deleted while it lingers is not granted any more") {
    stepped s(lingers);
    s.linger();
    CHECK(s.say(&sticky::lost, false) == "unkeep"); // its own watch tells
    CHECK(s.join(2) == "join 2");
    stepped listed(lingers);
    listed.linger();
    CHECK(listed.changed() == "watch"); // or the directory's
    CHECK(listed.join(2).empty());
    CHECK(listed.listed(listing::gone) == "unkeep, release, join 2");
}

TEST_CASE("a node that is deleted while it is held is not passed on") {
    stepped s(handoffs);
    s.crowd(2);
    s.changed();
    CHECK(s.listed(listing::gone).empty());
    CHECK(s.released() == "release, join 2");
}

TEST_CASE("a directory that cannot be watched allows no hand-off") {
    stepped s(both);
    s.join(1);
    s.join(2);
    s.granted();
    CHECK(s.listed(listing::failed).empty());
    CHECK(s.changed().empty());
    CHECK(s.released() == "release, join 2");
    CHECK(s.granted() == "grant 2/0, watch"); // a new attempt for each node
    CHECK(s.released() == "keep");
    CHECK(s.listed(listing::failed) == "unkeep, release");
}

TEST_CASE("waiters leave the line, and the last one takes the contender with it") {
    stepped s(handoffs);
    s.join(1);
    s.join(2);
    CHECK(s.quit(1).empty());
    CHECK(s.quit(1).empty());
    CHECK(s.quit(2) == "quit");
    CHECK(s.line.idle());
    CHECK(s.join(3) == "join 3");
    CHECK(s.granted() == "grant 3/0");
}

TEST_CASE("a waiter that leaves before the listing is answered is not granted the lock") {
    stepped s(handoffs);
    s.join(1);
    s.join(2);
    s.join(3);
    s.granted();
    CHECK(s.released() == "keep");
    CHECK(s.quit(2).empty());
    CHECK(s.listed(listing::alone) == "unkeep, grant 3/1");
    stepped last(handoffs);
    last.join(1);
    last.join(2);
    last.granted();
    last.released();
    CHECK(last.quit(2) == "unkeep, release"); // it does not linger
}

TEST_CASE("a try_lock that joins the queue and gives up leaves it to the waiters") {
    stepped s(both);
    CHECK(s.join(1, true) == "try 1");
    CHECK(s.join(2).empty());
    CHECK(s.say(&sticky::given_up) == "busy 1, join 2");
    CHECK(s.say(&sticky::failed) == "fail 2");
    CHECK(s.line.idle());
}

TEST_CASE("a try_lock that fails does not fail those that wait") {
    stepped s(both);
    CHECK(s.join(1, true) == "try 1");
    CHECK(s.join(2).empty());
    CHECK(s.say(&sticky::failed) == "fail 1, join 2");
    CHECK(s.quit(2) == "quit");
    CHECK(s.join(3, true) == "try 3");
    CHECK(s.say(&sticky::failed) == "fail 3");
}

TEST_CASE("a node whose count of holds is full is given up") {
    stepped s(both, 2);
    s.crowd(4);
    CHECK(s.released() == "grant 2/1");
    CHECK(s.released() == "grant 3/2");
    CHECK(s.released() == "release, join 4");
    CHECK(s.granted() == "grant 4/0, watch");
    stepped alone(lingers, 1);
    alone.linger();
    CHECK(alone.join(2) == "unkeep, grant 2/1");
    CHECK(alone.released() == "keep");
    CHECK(alone.join(3) == "unkeep, release, join 3");
}

TEST_CASE("what comes too late has no effect") {
    stepped s(both);
    CHECK(s.released().empty());
    CHECK(s.granted().empty());
    CHECK(s.listed(listing::alone).empty());
    CHECK(s.changed().empty());
    CHECK(s.tick(1h).empty());
    CHECK(s.say(&sticky::lost, true).empty());
    CHECK(s.say(&sticky::given_up).empty());
    CHECK(s.say(&sticky::failed).empty());
    CHECK(s.quit(1).empty());
}

TEST_CASE("a waiter that stands behind one hold of its client for long is reported, once") {
    stepped s(both);
    s.crowd(2);
    CHECK(s.line.perhaps_stuck());
    s.at(9s);
    CHECK(s.line.stuck(10s).count == 0);
    CHECK(s.line.stuck(10s).next == boot_clock::time_point(1h + 10s));
    s.at(10s);
    CHECK(s.line.stuck(10s).count == 1);
    CHECK(s.line.stuck(10s).count == 0);
    s.join(3);
    CHECK(s.released() == "grant 2/1");
    s.at(19s);
    CHECK(s.line.stuck(10s).count == 0); // the present hold is younger than that
    s.at(20s);
    CHECK(s.line.stuck(10s).count == 1);
    s.released();
    CHECK_FALSE(s.line.perhaps_stuck());
}

TEST_CASE("a lock that was kept for a waiter lingers when that one leaves") {
    stepped s(lingers);
    s.linger();
    s.join(2);
    s.changed(); // the listing is slow
    CHECK(s.released() == "keep");
    s.join(3);
    CHECK(s.tick(100ms).empty()); // kept for the waiter
    CHECK(s.quit(3) == "unkeep, release");
    s.linger();
    s.join(4);
    s.at(150ms);
    s.changed();
    CHECK(s.released() == "keep");
    s.join(5);
    CHECK(s.tick(200ms).empty());
    CHECK(s.quit(5) == "keep");
    CHECK(s.tick(250ms) == "unkeep, release");
}

TEST_CASE("the time of holds is no lingering") {
    stepped s(lingers);
    s.crowd(1);
    s.at(10s);
    CHECK(s.released() == "keep");
    CHECK(s.tick(10s + 100ms) == "unkeep, release");
}

TEST_CASE("a try_lock that has no connection any more fails") {
    stepped s(lingers);
    s.linger();
    s.changed(); // a listing is in flight
    s.join(2, true);
    CHECK(s.say(&sticky::disconnected) == "fail 2, unkeep, release");
}

TEST_CASE("a lock that lingers is given up for a local call that does not wait") {
    stepped s(lingers);
    s.linger();
    CHECK(s.say(&sticky::end_lingering) == "unkeep, release");
    s.crowd(1);
    CHECK(s.say(&sticky::end_lingering).empty()); // it is held
}

TEST_CASE("nodes that linger take no more room when it is scarce") {
    stepped s(both);
    s.crowd(2);
    s.line.budgets(sticky::room::scarce);
    CHECK(s.released() == "grant 2/1"); // the waiter needs no other node
    CHECK(s.released() == "release");
    s.line.budgets(sticky::room::plenty);
    s.linger();
    s.line.budgets(sticky::room::scarce);
    CHECK(s.say(&sticky::look_at_room) == "unkeep, release");
}

TEST_CASE("others of the client that wait for room come before the next hand-off") {
    stepped s(handoffs);
    s.crowd(3);
    s.line.budgets(sticky::room::wanted);
    CHECK(s.released() == "release, join 2");
}
