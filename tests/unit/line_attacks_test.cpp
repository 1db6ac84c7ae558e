// The attacks on the design (research/counterexamples.md), as far as the rules have to withstand
// them. Each begins with the number that it has there.

#include "unit/stepped_line.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
namespace rules = paddock::rules;

TEST_CASE("A1: a kicked waiter is not granted when its blocker goes") {
    connected_line line;
    line.waits(1, 2, {1, 2}); // a foreigner holds with 1
    SUBCASE("the end of its own node is heard first, on one connection") {
        line.own_watched(1);
        line.watched(1);
        CHECK(line.deleted(2) == "forget 1, create 1, list");
        CHECK(line.deleted(1) == "");
    }
    SUBCASE("its own watch is not armed yet") {
        line.watched(1);
        CHECK(line.deleted(1) == "");
        CHECK(line.own_watched(1, outcome::missing) == "create 1, list");
    }
    SUBCASE("its own watch could not be set") {
        line.own_watched(1, outcome::later);
        line.watched(1);
        CHECK(line.deleted(1) == "");
        CHECK(line.resume() == "watch own 1");
        CHECK(line.own_watched(1, outcome::missing) == "create 1, list");
    }
    SUBCASE("after a reconnect, which tells of its blocker first") {
        line.own_watched(1);
        line.watched(1);
        line.disconnected();
        CHECK(line.connected() == "watch own 1, watch 1");
        CHECK(line.deleted(1) == "");
        CHECK(line.deleted(2) == "create 1, list");
    }
    line.created(1, 4);
    CHECK(line.listed({3, 4}).find("grant") == std::string::npos); // behind the one who has it now
}

TEST_CASE("A1: a kicked waiter is not handed the lock by a local holder either") {
    connected_line line;
    line.waits(1, 1, {1});
    line.waits(2, 2, {1, 2});
    SUBCASE("it is known to be gone") {
        line.own_watched(2);
        CHECK(line.deleted(2) == "create 2, list");
        CHECK(line.release(1) == "sweep 1, out 1");
    }
    SUBCASE("nothing is known of it") {
        CHECK(line.release(1) == "sweep 1, out 1");
        CHECK(line.own_watched(2, outcome::missing) == "create 2, list");
    }
    line.created(2, 4);
    CHECK(line.listed({3, 4}) == "watch own 2, watch 3");
}

TEST_CASE("A5: what other lines of the same directory have is no orphan") {
    rules::claims ids;
    ids.begin(7);
    const rules::naming a("a"), b("b");
    const auto held = ids.claim(), lost = ids.claim();
    const std::vector<std::string> children = {
        a.prefix(ids, held) + "0000000001", b.prefix(ids, held) + "0000000002",
        b.prefix(ids, lost) + "0000000003", curator_name(4), "lock-0000000005"};
    CHECK(rules::orphans(children, ids).empty());
    ids.release(lost);
    CHECK(rules::orphans(children, ids) == std::vector{children[2]});
}

TEST_CASE("A5: one line neither counts nor misses the nodes of another in its directory") {
    connected_line line("a");
    const auto other = rules::naming("b").prefix(line.ids, line.ids.claim()) + "0000000000";
    line.join(1);
    line.created(1, 1);
    CHECK(line.listed_names({other, line.name(1)}) == "grant 1");
}

TEST_CASE("A7: a blocker that is changed is not gone, and is watched again") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    line.own_watched(1);
    line.watched(3);
    CHECK(line.changed(3) == "watch 3");
    CHECK(line.watched(3) == "");
    CHECK(line.changed(3) == "watch 3"); // each time
    CHECK(line.watched(3) == "");
    CHECK(line.deleted(3) == "grant 1");
}

TEST_CASE("A7: an own node that is changed is not gone either, and nothing is granted meanwhile") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    line.own_watched(1);
    line.watched(3);
    CHECK(line.changed(4) == "watch own 1");
    CHECK(line.deleted(3) == "");
    CHECK(line.own_watched(1) == "grant 1");
}

TEST_CASE("A7: gone is for ever: a listing from a server that is behind revives nobody") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    line.own_watched(1);
    line.watched(3);
    line.disconnected();
    line.connected();
    CHECK(line.deleted(3) == "");
    line.join(2); // a reason for a listing
    line.created(2, 5);
    CHECK(line.listed({3, 4, 5}) == "grant 1, watch own 2");
    CHECK(line.listed({3, 4, 5}) == "");
}

TEST_CASE("A7: the news that a blocker never was there is not needed twice") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    line.own_watched(1);
    CHECK(line.deleted(3) == "grant 1");
    CHECK(line.watched(3, outcome::missing) == "");
    CHECK(line.deleted(3) == "");
}

TEST_CASE("B2: a late create that comes after the contender has another node is nobody's") {
    connected_line line;
    line.join(1);
    line.disconnected();
    line.create_fails(1, outcome::lost);
    line.list_fails(outcome::lost);
    const auto late = line.names.prefix(line.ids, line.id_of(1)) + ten_digits(8);
    line.connected();
    CHECK(line.listed({}) == "create 1, list");
    line.created(1, 7);
    CHECK(line.listed_names({line.name(7), late}) == "grant 1");
    CHECK(rules::orphans({line.name(7), late}, line.ids) == std::vector{late});
}

TEST_CASE("B2: no id is ever in two creates, whatever is lost") {
    connected_line line;
    line.join(1);
    for (int n = 0; n < 5; ++n) {
        CHECK(line.disconnected() == "");
        CHECK(line.create_fails(1, outcome::lost) == "taint 1");
        line.list_fails(outcome::lost);
        CHECK(line.connected() == "settle");
        CHECK(line.listed({}) == "create 1, list"); // else the words would be different
    }
    CHECK(line.used.size() == 6);
    CHECK(line.ids.count() == 1);
}

TEST_CASE("B2: a second lost connection before the settling listing changes nothing") {
    connected_line line;
    line.join(1);
    line.disconnected();
    line.create_fails(1, outcome::lost);
    line.list_fails(outcome::lost);
    line.connected();
    line.disconnected();
    CHECK(line.list_fails(outcome::lost) == "");
    line.executed(1, 3);
    CHECK(line.connected() == "settle");
    CHECK(line.listed({3}) == "watch own 1");
}

TEST_CASE("B5: after a lost connection with many joins under way only missing nodes are created") {
    connected_line line;
    constexpr int joins = 100;
    for (contender_key k = 1; k <= joins; ++k)
        line.join(k);
    line.disconnected();
    for (contender_key k = 1; k <= joins; ++k)
        line.create_fails(k, outcome::lost);
    line.list_fails(outcome::lost);
    CHECK(line.connected() == "settle");
    std::vector<std::string> there;
    for (contender_key k = 1; k < joins; ++k) {
        line.executed(k, static_cast<std::int32_t>(k));
        there.push_back(line.name(static_cast<std::int32_t>(k)));
    }
    const auto said = line.listed_names(there);
    CHECK(said.starts_with("create 100, list, watch own 1"));
    CHECK(line.used.size() == joins + 1);
}

TEST_CASE("B5: a settled node keeps who was before it, although somebody else gives up") {
    connected_line line;
    line.join(1);
    line.disconnected();
    line.create_fails(1, outcome::lost);
    line.list_fails(outcome::lost);
    line.executed(1, 3);
    SUBCASE("an immediate contender of the same listing") {
        line.join(2, {.immediate = true});
        CHECK(line.connected() == "create 2, settle");
        line.created(2, 4);
        CHECK(line.listed({2, 3, 4}) == "give up 2, sweep 4, out 2, watch own 1, watch 2");
    }
    SUBCASE("a holder whose node the listing lacks") {
        connected_line other;
        other.waits(9, 1, {1});
        other.join(1);
        other.disconnected();
        other.create_fails(1, outcome::lost);
        other.list_fails(outcome::lost);
        other.executed(1, 3);
        other.connected();
        CHECK(other.listed({2, 3}) == "lose 9, out 9, watch own 1, watch 2");
    }
}

TEST_CASE("C3: after a reconnect the own node is read before a grant, and so is newer than it") {
    connected_line line;
    line.waits(1, 4, {3, 4});
    line.own_watched(1);
    line.watched(3);
    CHECK(line.deleted(3) == "grant 1");
    line.waits(2, 6, {4, 5, 6});
    line.own_watched(2);
    line.disconnected();
    CHECK(line.release(1) == "sweep 4, out 1");
    CHECK(line.connected() == "watch own 2, watch 5");
    CHECK(line.deleted(5) == "");
    CHECK(line.own_watched(2) == "grant 2");
}

TEST_CASE("C4: a released node that is still listed neither blocks nor is an orphan") {
    connected_line line;
    line.waits(1, 0, {0});
    line.release(1);
    line.join(2);
    line.created(2, 1);
    CHECK(rules::orphans({line.name(0), line.name(1)}, line.ids).empty());
    CHECK(line.listed({0, 1}) == "grant 2");
}

TEST_CASE("C9: past the end of the sequence numbers nobody is granted") {
    connected_line line;
    line.join(1);
    const auto said = line.created(1, rules::sequence_limit);
    CHECK(said.find("fail 1 sequence exhausted, out 1") != std::string::npos);
    CHECK(line.listed({rules::sequence_limit}) == "");
}

TEST_CASE("a watch that was forgotten while it was being set is not taken for armed") {
    connected_line line;
    line.waits(1, 1, {0, 1});
    CHECK(line.waits(2, 3, {0, 1, 2, 3}) == "create 2, list, watch own 2, watch 2");
    line.own_watched(2);
    line.watched(2);
    CHECK(line.quit(1) == "sweep 1, forget 0, out 1");
    SUBCASE("its answer comes before the next question") {
        CHECK(line.watched(0) == "");
        CHECK(line.deleted(2) == "list");
        CHECK(line.listed({0, 3}) == "watch 0");
    }
    SUBCASE("its answer comes after the next question, which is the one that counts") {
        CHECK(line.deleted(2) == "list");
        CHECK(line.listed({0, 3}) == "watch 0");
        CHECK(line.watched(0) == "");
        CHECK(line.watched(0, outcome::later) == "pause");
        CHECK(line.resume() == "watch 0");
    }
    CHECK(line.watched(0) == "");
    CHECK(line.deleted(0) == "grant 2");
}

TEST_CASE("a directory that was deleted and begins at 0 again has other nodes before ours") {
    connected_line line;
    line.waits(1, 7, {6, 7});
    line.own_watched(1);
    line.watched(6);
    SUBCASE("the own node's end is heard") {
        CHECK(line.deleted(7) == "forget 6, create 1, list");
        CHECK(line.deleted(6) == "");
        line.created(1, 1);
        CHECK(line.listed({0, 1}) == "watch own 1, watch 0");
    }
    SUBCASE("another contender's listing shows it first") {
        line.join(2);
        line.created(2, 1);
        CHECK(line.listed({0, 1}) == "create 1, list, watch own 2, watch 0");
    }
    SUBCASE("there is no directory when the contender comes back") {
        line.deleted(7);
        CHECK(line.create_fails(1, outcome::missing) == "make parents");
        CHECK(line.list_fails(outcome::missing) == "");
        CHECK(line.parents_made() == "create 1, list");
        line.created(1, 1);
        CHECK(line.listed({0, 1}) == "watch own 1, watch 0");
    }
}

TEST_CASE("an empty line forgets what it knew: the next directory is another one") {
    connected_line line;
    line.waits(1, 7, {6, 7});
    line.own_watched(1);
    line.watched(6);
    line.deleted(6); // granted
    line.release(1);
    line.join(2);
    line.created(2, 9);
    CHECK(line.listed({6, 9}) == "watch own 2, watch 6"); // a listing behind a create is up to date
}
