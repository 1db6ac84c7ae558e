// The rules of a sticky lock, step by step: hand-offs, and how long it lingers.

#include "stepped_sticky.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;
using stepped = stepped_sticky;

TEST_CASE("one contender stands for all waiters") {
    stepped s(handoffs);
    CHECK(s.join(1) == "join 1");
    CHECK(s.join(2).empty());
    CHECK(s.join(3).empty());
    CHECK(s.granted() == "grant 1/0, watch");
}

TEST_CASE("a lock that only one caller wants costs no listing without linger") {
    stepped s(handoffs);
    CHECK(s.join(1) == "join 1");
    CHECK(s.granted() == "grant 1/0");
    CHECK(s.released() == "release");
    CHECK(s.line.idle());
}

TEST_CASE("no hand-off comes before the watch is known to be set") {
    stepped s(handoffs);
    s.join(1);
    s.join(2);
    CHECK(s.granted() == "grant 1/0, watch");
    CHECK(s.released() == "keep"); // waits for the listing
    CHECK(s.listed(listing::alone) == "unkeep, grant 2/1");
}

TEST_CASE("a listing that shows others allows so many hand-offs, and no more") {
    stepped s(handoffs);
    s.crowd(5);
    CHECK(s.changed() == "watch");
    CHECK(s.listed(listing::company).empty());
    CHECK(s.released() == "grant 2/1");
    CHECK(s.released() == "grant 3/2");
    CHECK(s.released() == "release, join 4");
    CHECK(s.granted() == "grant 4/0, watch"); // another node, behind the others
}

TEST_CASE("hand-offs are counted anew when nobody else waits any more") {
    stepped s(handoffs);
    s.crowd(9);
    s.changed();
    s.listed(listing::company);
    CHECK(s.released() == "grant 2/1");
    CHECK(s.changed() == "watch");
    CHECK(s.listed(listing::alone).empty());
    CHECK(s.released() == "grant 3/2");
    CHECK(s.released() == "grant 4/3");
    CHECK(s.released() == "grant 5/4");
    s.changed();
    s.listed(listing::company);
    CHECK(s.released() == "grant 6/5");
    CHECK(s.released() == "grant 7/6");
    CHECK(s.released() == "release, join 8");
}

TEST_CASE("a node that will be given up anyway costs no more listings") {
    stepped s(lingers);
    s.crowd(1);
    s.changed();
    s.listed(listing::company);
    CHECK(s.changed().empty());
    CHECK(s.released() == "release");
}

TEST_CASE("an event while a listing is in flight makes another one necessary") {
    stepped s(handoffs);
    s.join(1);
    s.join(2);
    CHECK(s.granted() == "grant 1/0, watch");
    CHECK(s.changed().empty()); // one listing at a time
    CHECK(s.listed(listing::alone) == "watch");
    CHECK(s.released() == "keep");
    CHECK(s.listed(listing::alone) == "unkeep, grant 2/1");
}

TEST_CASE("a free lock is given up if others come faster than the listings") {
    stepped s(handoffs);
    s.join(1);
    s.join(2);
    s.granted();
    CHECK(s.released() == "keep");
    CHECK(s.changed().empty());
    CHECK(s.listed(listing::company) == "unkeep, release, join 2");
}

TEST_CASE("a lock whose time to linger is over is given up") {
    stepped s(lingers);
    s.linger();
    CHECK(s.tick(99ms) == "keep");
    CHECK(s.tick(100ms) == "unkeep, release");
    CHECK(s.line.idle());
}

TEST_CASE("a lock that is wanted again and again is given up after ten times its linger") {
    stepped s(lingers);
    s.linger();
    for (int i = 1; i < 20; ++i) {
        s.at(i * 50ms);
        REQUIRE(s.join(static_cast<std::uint64_t>(i) + 1).starts_with("unkeep, grant"));
        REQUIRE(s.released() == "keep");
    }
    CHECK(s.tick(999ms) == "keep");
    s.at(1000ms);
    CHECK(s.join(30) == "unkeep, grant 30/20"); // not given up under a waiter
    CHECK(s.released() == "release");
    CHECK(s.join(31) == "join 31");
    CHECK(s.granted() == "grant 31/0, watch");
}

TEST_CASE("others that queue end the lingering at once") {
    stepped s(both);
    s.linger();
    CHECK(s.changed() == "watch");
    CHECK(s.listed(listing::company) == "unkeep, release");
}

TEST_CASE("a lock does not linger while others wait") {
    stepped s(both);
    s.crowd(1);
    s.changed();
    s.listed(listing::company);
    CHECK(s.released() == "release");
}

TEST_CASE("with linger alone a lock passes on only while nobody else waits") {
    stepped s(lingers);
    s.crowd(4);
    CHECK(s.released() == "grant 2/1");
    s.changed();
    s.listed(listing::company);
    CHECK(s.released() == "release, join 3");
    CHECK(s.granted() == "grant 3/0, watch");
    CHECK(s.released() == "keep"); // who waits behind this node is to be seen
}

TEST_CASE("no hand-off is made without a connection, nor before the directory is seen again") {
    stepped s(handoffs);
    s.crowd(3);
    CHECK(s.say(&sticky::disconnected).empty());
    CHECK(s.say(&sticky::connected) == "watch");
    CHECK(s.released() == "keep");
    CHECK(s.listed(listing::alone) == "unkeep, grant 2/1");
    s.say(&sticky::disconnected);
    CHECK(s.released() == "release, join 3");
}

TEST_CASE("the waiters queue again after a loss, or fail if they do not want to") {
    stepped s(handoffs);
    s.crowd(3);
    CHECK(s.say(&sticky::lost, false) == "join 2");
    CHECK(s.released().empty()); // by the guard of the lost hold
    CHECK(s.granted() == "grant 2/0, watch");
    CHECK(s.say(&sticky::lost, true) == "fail 3");
    CHECK(s.line.idle());
}

TEST_CASE("a try_lock finds the lock taken while a local caller has it or waits") {
    stepped s(both);
    CHECK(s.join(1) == "join 1");
    CHECK(s.join(2, true) == "busy 2");
    s.granted();
    CHECK(s.join(3, true) == "busy 3");
    CHECK(s.join(4).empty());
    CHECK(s.released() == "keep");
    CHECK(s.join(5, true) == "busy 5");
}

TEST_CASE("a try_lock that comes before the listing waits for it, and no longer") {
    stepped s(both);
    s.join(1);
    s.granted();
    CHECK(s.released() == "keep");
    CHECK(s.join(2, true).empty());
    CHECK(s.listed(listing::alone) == "unkeep, grant 2/1");
    s.released();
    s.changed();
    CHECK(s.join(3, true).empty());
    CHECK(s.join(4).empty());
    CHECK(s.listed(listing::failed) == "unkeep, release, busy 3, join 4");
}
