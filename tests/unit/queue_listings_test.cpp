// When the queue asks for a listing: the longer it is, the fewer.

#include "unit/stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

namespace {

/// Four contenders of this client: 1 holds the lock, 2 and 3 are listed, and 4 is not.
struct long_queue : connected_queue {
    long_queue() {
        waits(1, 0, {0});
        waits(2, 1, {0, 1});
        waits(3, 2, {0, 1, 2});
        own_watched(2);
        own_watched(3);
        CHECK(join(4) == "create 4");
        CHECK(created(4, 4) == "");
    }
};

} // namespace

TEST_CASE("a contender behind two local waiters is listed when one of them is granted") {
    long_queue queue;
    CHECK(queue.release(1) == "sweep 0, out 1, grant 2, list");
    CHECK(queue.listed({1, 2, 3, 4}) == "watch own 4, watch 3"); // it finds a foreign node
    CHECK(queue.release(2) == "sweep 1, out 2, grant 3");
    CHECK(queue.release(3) == "sweep 2, out 3");
    queue.own_watched(4);
    queue.watched(3);
    CHECK(queue.deleted(3) == "grant 4");
}

TEST_CASE("a contender behind two local waiters is listed when one of them goes") {
    long_queue queue;
    SUBCASE("by itself") { CHECK(queue.quit(3) == "sweep 2, out 3, list"); }
    SUBCASE("because somebody deletes its node") {
        CHECK(queue.event(queue.name(2), true) == "create 3, list, watch own 2");
    }
    CHECK(queue.listed({0, 1, 3, 4}) == "watch own 4, watch 3");
}

TEST_CASE("a contender without a listing is not granted") {
    long_queue queue;
    queue.release(1);
    CHECK(queue.release(2) == "sweep 1, out 2, grant 3");
    CHECK(queue.release(3) == "sweep 2, out 3");
    CHECK(queue.listed({3, 4}) == "watch own 4, watch 3");
}

TEST_CASE("contenders whose creates are under way count as well") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.waits(3, 2, {0, 1, 2});
    CHECK(queue.join(4) == "create 4");
    CHECK(queue.join(5) == "create 5, list");
    CHECK(queue.create_fails(4, outcome::refused) == "fail 4 refused 0, out 4");
}

TEST_CASE("a listing that comes late shows who has joined meanwhile") {
    long_queue queue;
    CHECK(queue.join(5) == "create 5, list"); // half of the waiters have none
    CHECK(queue.created(5, 5) == "");
    CHECK(queue.join(6) == "create 6"); // its create is behind that listing
    CHECK(queue.created(6, 6) == "");
    CHECK(queue.listed({0, 1, 2, 4, 5}) == "watch own 4, watch own 5");
    CHECK(queue.queue.ahead_of(5) == 4);
    CHECK(queue.queue.ahead_of(6) == std::nullopt);
}

TEST_CASE("each contender lists while positions are shown") {
    long_queue queue;
    queue.queue.show_positions(true);
    CHECK(queue.actions() == "list");
    CHECK(queue.listed({0, 1, 2, 4}) == "watch own 4");
    CHECK(queue.waits(5, 5, {0, 1, 2, 4, 5}) == "create 5, list, watch own 5");
    queue.queue.show_positions(false);
    CHECK(queue.join(6) == "create 6");
}

TEST_CASE("a contender that gives up at once is listed at once") {
    long_queue queue;
    CHECK(queue.join(5, {.immediate = true}) == "create 5, list");
    queue.created(5, 5);
    CHECK(queue.listed({0, 1, 2, 4, 5}) == "give up 5, sweep 5, out 5, watch own 4");
}

TEST_CASE("after a pause, and after a new connection, nobody lacks a listing") {
    long_queue queue;
    SUBCASE("pause") {
        queue.release(1);
        CHECK(queue.list_fails(outcome::later) == "pause");
        CHECK(queue.release(2) == "sweep 1, out 2, grant 3"); // no listing in the pause
        CHECK(queue.resume() == "list");
        CHECK(queue.listed({2, 4}) == "watch own 4");
    }
    SUBCASE("connection") {
        queue.disconnected();
        CHECK(queue.connected().find("list") != std::string::npos);
        queue.listed({0, 1, 2, 3, 4});
        CHECK(queue.queue.ahead_of(4) == 4);
    }
}

TEST_CASE("a listing serves half of the waiters, however many there are") {
    for (const int waiters : {8, 64, 512}) {
        connected_queue queue;
        int listings = 0;
        std::vector<std::string> nodes;
        contender_key last = 0;
        std::int32_t sequence = 0;
        const auto join = [&] {
            auto said = queue.join(++last);
            said += queue.created(last, sequence);
            nodes.push_back(queue.name(sequence++));
            return said;
        };
        const auto answer = [&](std::string said) {
            while (said.find("list") != std::string::npos) {
                ++listings;
                said = queue.listed_names(nodes);
            }
        };
        for (int n = 0; n <= waiters; ++n)
            answer(join());
        listings = 0;
        const contender_key hand_offs = 4 * static_cast<contender_key>(waiters);
        for (contender_key holder = 1; holder <= hand_offs; ++holder) {
            for (contender_key next = holder; next < holder + 3; ++next)
                queue.own_watched(next);
            answer(queue.release(holder));
            nodes.erase(nodes.begin());
            answer(join());
            REQUIRE(queue.queue.ahead_of(holder + 1) == 0);
        }
        CHECK(listings >= 4);
        CHECK(listings <= 10);
    }
}
