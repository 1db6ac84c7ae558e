// Attacks on the design, as far as the rules have to withstand them: the ways in which locks like
// this one break.

#include "unit/stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
namespace rules = paddock::rules;

TEST_CASE("a kicked waiter is not granted when its blocker goes") {
    connected_queue queue;
    queue.waits(1, 2, {1, 2}); // a foreigner holds with 1
    SUBCASE("the end of its own node is reported first, on one connection") {
        queue.own_watched(1);
        queue.watched(1);
        CHECK(queue.deleted(2) == "forget 1, create 1, list");
        CHECK(queue.deleted(1) == "");
    }
    SUBCASE("its own watch is not armed yet") {
        queue.watched(1);
        CHECK(queue.deleted(1) == "");
        CHECK(queue.own_watched(1, outcome::missing) == "create 1, list");
    }
    SUBCASE("its own watch could not be set") {
        queue.own_watched(1, outcome::later);
        queue.watched(1);
        CHECK(queue.deleted(1) == "");
        CHECK(queue.resume() == "watch own 1");
        CHECK(queue.own_watched(1, outcome::missing) == "create 1, list");
    }
    SUBCASE("after a reconnect that reports its blocker first") {
        queue.own_watched(1);
        queue.watched(1);
        queue.disconnected();
        CHECK(queue.connected() == "watch own 1, watch 1");
        CHECK(queue.deleted(1) == "");
        CHECK(queue.deleted(2) == "create 1, list");
    }
    queue.created(1, 4);
    CHECK(queue.listed({3, 4}).find("grant") == std::string::npos); // behind the one who has it now
}

TEST_CASE("a kicked waiter is not handed the lock by a local holder either") {
    connected_queue queue;
    queue.waits(1, 1, {1});
    queue.waits(2, 2, {1, 2});
    SUBCASE("it is known to be gone") {
        queue.own_watched(2);
        CHECK(queue.deleted(2) == "create 2, list");
        CHECK(queue.release(1) == "sweep 1, out 1");
    }
    SUBCASE("its node's end is not known yet") {
        CHECK(queue.release(1) == "sweep 1, out 1");
        CHECK(queue.own_watched(2, outcome::missing) == "create 2, list");
    }
    queue.created(2, 4);
    CHECK(queue.listed({3, 4}) == "watch own 2, watch 3");
}

TEST_CASE("a node of another queue in the same directory is no orphan") {
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

TEST_CASE("one queue neither counts nor misses the nodes of another in its directory") {
    connected_queue queue("a");
    const auto other = rules::naming("b").prefix(queue.ids, queue.ids.claim()) + "0000000000";
    queue.join(1);
    queue.created(1, 1);
    CHECK(queue.listed_names({other, queue.name(1)}) == "grant 1");
}

TEST_CASE("a blocker whose data is changed is not gone, and is watched again") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    queue.own_watched(1);
    queue.watched(3);
    CHECK(queue.changed(3) == "watch 3");
    CHECK(queue.watched(3) == "");
    CHECK(queue.changed(3) == "watch 3"); // each time
    CHECK(queue.watched(3) == "");
    CHECK(queue.deleted(3) == "grant 1");
}

TEST_CASE("an own node whose data is changed is not gone, and nothing is granted meanwhile") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    queue.own_watched(1);
    queue.watched(3);
    CHECK(queue.changed(4) == "watch own 1");
    CHECK(queue.deleted(3) == "");
    CHECK(queue.own_watched(1) == "grant 1");
}

TEST_CASE("a listing from a lagging server does not revive a node that is gone") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    queue.own_watched(1);
    queue.watched(3);
    queue.disconnected();
    queue.connected();
    CHECK(queue.deleted(3) == "");
    queue.join(2); // a reason for a listing
    queue.created(2, 5);
    CHECK(queue.listed({3, 4, 5}) == "grant 1, watch own 2");
    CHECK(queue.listed({3, 4, 5}) == "");
}

TEST_CASE("a second report that a blocker is gone changes nothing") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    queue.own_watched(1);
    CHECK(queue.deleted(3) == "grant 1");
    CHECK(queue.watched(3, outcome::missing) == "");
    CHECK(queue.deleted(3) == "");
}

TEST_CASE("a late create that appears after its contender has another node is an orphan") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    queue.create_fails(1, outcome::lost);
    queue.list_fails(outcome::lost);
    const auto late = queue.names.prefix(queue.ids, queue.id_of(1)) + ten_digits(8);
    queue.connected();
    CHECK(queue.listed({}) == "create 1, list");
    queue.created(1, 7);
    CHECK(queue.listed_names({queue.name(7), late}) == "grant 1");
    CHECK(rules::orphans({queue.name(7), late}, queue.ids) == std::vector{late});
}

TEST_CASE("no id is ever in two creates, whatever is lost") {
    connected_queue queue;
    queue.join(1);
    for (int n = 0; n < 5; ++n) {
        CHECK(queue.disconnected() == "");
        CHECK(queue.create_fails(1, outcome::lost) == "taint 1");
        queue.list_fails(outcome::lost);
        CHECK(queue.connected() == "settle");
        CHECK(queue.listed({}) == "create 1, list"); // else the words would be different
    }
    CHECK(queue.used.size() == 6);
    CHECK(queue.ids.count() == 1);
}

TEST_CASE("a second lost connection before the settling listing changes nothing") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    queue.create_fails(1, outcome::lost);
    queue.list_fails(outcome::lost);
    queue.connected();
    queue.disconnected();
    CHECK(queue.list_fails(outcome::lost) == "");
    queue.executed(1, 3);
    CHECK(queue.connected() == "settle");
    CHECK(queue.listed({3}) == "watch own 1");
}

TEST_CASE("after a lost connection with many joins under way only missing nodes are created") {
    connected_queue queue;
    constexpr int joins = 100;
    for (contender_key k = 1; k <= joins; ++k)
        queue.join(k);
    queue.disconnected();
    for (contender_key k = 1; k <= joins; ++k)
        queue.create_fails(k, outcome::lost);
    queue.list_fails(outcome::lost);
    CHECK(queue.connected() == "settle");
    std::vector<std::string> there;
    for (contender_key k = 1; k < joins; ++k) {
        queue.executed(k, static_cast<std::int32_t>(k));
        there.push_back(queue.name(static_cast<std::int32_t>(k)));
    }
    const auto said = queue.listed_names(there);
    CHECK(said.starts_with("create 100, list, watch own 1"));
    CHECK(queue.used.size() == joins + 1);
}

TEST_CASE("an adopted node keeps its predecessors although another contender leaves") {
    SUBCASE("an immediate contender of the same listing") {
        connected_queue queue;
        queue.join(1);
        queue.join(2, {.immediate = true});
        queue.create_fails(1, outcome::lost); // while others are answered
        queue.executed(1, 3);
        queue.created(2, 4);
        CHECK(queue.listed({2}) == "settle");
        CHECK(queue.listed({2, 3, 4}) == "give up 2, sweep 4, out 2, watch own 1, watch 2");
    }
    SUBCASE("a holder whose node the listing lacks") {
        connected_queue queue;
        queue.waits(9, 1, {1});
        queue.join(1);
        queue.disconnected();
        queue.create_fails(1, outcome::lost);
        queue.list_fails(outcome::lost);
        queue.executed(1, 3);
        queue.connected();
        CHECK(queue.listed({2, 3}) == "lose 9, out 9, watch own 1, watch 2");
    }
}

TEST_CASE("after a reconnect the own node is read before a grant, and so is newer than it") {
    connected_queue queue;
    queue.waits(1, 4, {3, 4});
    queue.own_watched(1);
    queue.watched(3);
    CHECK(queue.deleted(3) == "grant 1");
    queue.waits(2, 6, {4, 5, 6});
    queue.own_watched(2);
    queue.disconnected();
    CHECK(queue.release(1) == "sweep 4, out 1");
    CHECK(queue.connected() == "watch own 2, watch 5");
    CHECK(queue.deleted(5) == "");
    CHECK(queue.own_watched(2) == "grant 2");
}

TEST_CASE("a released node that is still listed neither blocks nor is an orphan") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.release(1);
    queue.join(2);
    queue.created(2, 1);
    CHECK(rules::orphans({queue.name(0), queue.name(1)}, queue.ids).empty());
    CHECK(queue.listed({0, 1}) == "grant 2");
}

TEST_CASE("past the end of the sequence numbers no contender is granted") {
    connected_queue queue;
    queue.join(1);
    const auto said = queue.created(1, rules::sequence_limit);
    CHECK(said.find("fail 1 sequence exhausted, out 1") != std::string::npos);
    CHECK(queue.listed({rules::sequence_limit}) == "");
}

TEST_CASE("a lost create that is found past that end is not granted either") {
    for (const auto sequence : {rules::sequence_limit, std::int32_t{-2147483647} - 1}) {
        CAPTURE(sequence);
        connected_queue queue;
        queue.join(1);
        queue.join(2);
        queue.disconnected();
        for (const contender_key key : {1, 2})
            queue.create_fails(key, outcome::lost);
        queue.list_fails(outcome::lost);
        queue.connected();
        queue.executed(1, sequence);
        queue.executed(2, 7);
        const auto number = std::to_string(sequence);
        CHECK(queue.listed({sequence, 7, 3}) ==
              "sweep " + number + ", fail 1 sequence exhausted, out 1, watch own 2, watch 3");
        CHECK(queue.swept_id == queue.id_of(1));
    }
}

TEST_CASE("a lost create that is found near the end raises the warning, too") {
    connected_queue queue;
    queue.join(1);
    queue.disconnected();
    queue.create_fails(1, outcome::lost);
    queue.list_fails(outcome::lost);
    queue.connected();
    queue.executed(1, rules::sequence_warning);
    CHECK(queue.listed({rules::sequence_warning, 3}) == "warn, watch own 1, watch 3");
}

TEST_CASE("a watch that was dropped during its read does not count as armed") {
    connected_queue queue;
    queue.waits(1, 1, {0, 1});
    CHECK(queue.waits(2, 3, {0, 1, 2, 3}) == "create 2, list, watch own 2, watch 2");
    queue.own_watched(2);
    queue.watched(2);
    CHECK(queue.quit(1) == "sweep 1, forget 0, out 1");
    SUBCASE("its answer comes before the next read") {
        CHECK(queue.watched(0) == "");
        CHECK(queue.deleted(2) == "list");
        CHECK(queue.listed({0, 3}) == "watch 0");
    }
    SUBCASE("its answer comes after the next read, which is the one that counts") {
        CHECK(queue.deleted(2) == "list");
        CHECK(queue.listed({0, 3}) == "watch 0");
        CHECK(queue.watched(0) == "");
        CHECK(queue.watched(0, outcome::later) == "pause");
        CHECK(queue.resume() == "watch 0");
    }
    CHECK(queue.watched(0) == "");
    CHECK(queue.deleted(0) == "grant 2");
}

TEST_CASE("a recreated directory numbers from 0, and has foreign nodes before the own one") {
    connected_queue queue;
    queue.waits(1, 7, {6, 7});
    queue.own_watched(1);
    queue.watched(6);
    SUBCASE("the own node's end is reported") {
        CHECK(queue.deleted(7) == "forget 6, create 1, list");
        CHECK(queue.deleted(6) == "");
        queue.created(1, 1);
        CHECK(queue.listed({0, 1}) == "watch own 1, watch 0");
    }
    SUBCASE("another contender's listing shows it first") {
        queue.join(2);
        queue.created(2, 1);
        CHECK(queue.listed({0, 1}) == "create 1, list, watch own 2, watch 0");
    }
    SUBCASE("there is no directory when the contender queues again") {
        queue.deleted(7);
        CHECK(queue.create_fails(1, outcome::missing) == "make parents");
        CHECK(queue.list_fails(outcome::missing) == "");
        CHECK(queue.parents_made() == "create 1, list");
        queue.created(1, 1);
        CHECK(queue.listed({0, 1}) == "watch own 1, watch 0");
    }
}

TEST_CASE("an empty queue forgets its directory's state: the next directory is another one") {
    connected_queue queue;
    queue.waits(1, 7, {6, 7});
    queue.own_watched(1);
    queue.watched(6);
    queue.deleted(6); // granted
    queue.release(1);
    queue.join(2);
    queue.created(2, 9);
    CHECK(queue.listed({6, 9}) ==
          "watch own 2, watch 6"); // a listing behind a create is up to date
}
