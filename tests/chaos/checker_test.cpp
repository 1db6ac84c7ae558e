// The checker finds the faults that the other tests look for.

#include "checker.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

namespace {

hold_record hold(std::int64_t from, std::int64_t until, std::int64_t token,
                 share kind = share::exclusive) {
    hold_record h;
    h.lock = "lock";
    h.contender = "w" + std::to_string(token);
    h.kind = kind;
    h.from = from;
    h.until = h.promise = h.released = until;
    h.token = {token, 0};
    h.end = fate::released;
    return h;
}
hold_record reading(std::int64_t from, std::int64_t until, std::int64_t token) {
    return hold(from, until, token, share::shared);
}
hold_record permits(int weight, std::int64_t from, std::int64_t until) {
    auto h = hold(from, until, 0, share::permits);
    h.weight = weight;
    return h;
}

std::size_t violations(std::vector<hold_record> holds) {
    const auto found = check(std::move(holds), 3);
    for (const auto& each : found.violations)
        MESSAGE(each);
    return found.violations.size();
}

} // namespace

TEST_CASE("consecutive holds of a mutex are valid in any order of their records") {
    CHECK(violations({}) == 0);
    CHECK(violations({hold(10, 20, 1), hold(21, 30, 2), hold(31, 31, 3)}) == 0);
    CHECK(violations({hold(31, 31, 3), hold(21, 30, 2), hold(10, 20, 1)}) == 0);
}

TEST_CASE("the checker finds an overlap, even of a single moment") {
    CHECK(violations({hold(10, 20, 1), hold(15, 30, 2)}) == 1);
    CHECK(violations({hold(10, 20, 1), hold(20, 30, 2)}) == 1);
    CHECK(violations({hold(10, 40, 1), hold(15, 20, 2)}) == 1);
    // Not only with the neighbour in time.
    CHECK(violations({hold(10, 40, 1), hold(15, 20, 2), hold(30, 35, 3)}) == 2);
}

TEST_CASE("holds of other locks do not matter") {
    auto other = hold(15, 30, 2);
    other.lock = "other";
    CHECK(violations({hold(10, 20, 1), other}) == 0);
}

TEST_CASE("readers may overlap, and a writer must be alone") {
    CHECK(violations({reading(10, 30, 1), reading(15, 20, 2)}) == 0);
    CHECK(violations({reading(10, 30, 1), reading(15, 20, 2), hold(25, 40, 3)}) == 1);
    CHECK(violations({hold(10, 30, 1), reading(15, 20, 2)}) == 1);
    CHECK(violations({reading(10, 30, 1), reading(12, 20, 2), hold(31, 40, 3)}) == 0);
}

TEST_CASE("the checker finds a hold that ended too early, unless it was released") {
    auto stopped = hold(10, 20, 1);
    stopped.promise = 50;
    stopped.released = 0;
    stopped.end = fate::held;
    CHECK(violations({stopped, hold(40, 60, 2)}) == 1);
    CHECK(violations({stopped, hold(51, 60, 2)}) == 0);
    stopped.released = 30;
    CHECK(violations({stopped, hold(40, 60, 2)}) == 0);
    CHECK(violations({stopped, hold(30, 60, 2)}) == 1);
}

TEST_CASE("the checker finds a token that does not grow") {
    CHECK(violations({hold(10, 20, 2), hold(21, 30, 1)}) == 1);
    CHECK(violations({hold(10, 20, 2), hold(21, 30, 2)}) == 1);
    CHECK(violations({hold(10, 20, 3), hold(21, 30, 1), hold(31, 40, 2)}) == 2);
    CHECK(violations({hold(10, 20, 2), reading(21, 30, 0), hold(31, 40, 1)}) == 1);
    CHECK(violations({reading(10, 20, 0), hold(21, 30, 2), reading(31, 40, 0)}) == 0);
    auto passed_on = hold(21, 30, 2);
    passed_on.token.sub = 1;
    CHECK(violations({hold(10, 20, 2), passed_on}) == 0);
    CHECK(violations({passed_on, hold(31, 40, 2)}) == 1);
}

TEST_CASE("the checker finds too many permits") {
    CHECK(violations({permits(1, 10, 40), permits(2, 20, 30), permits(2, 31, 50)}) == 0);
    CHECK(violations({permits(1, 10, 40), permits(2, 20, 30), permits(1, 30, 50)}) == 1);
    CHECK(violations({permits(3, 10, 20), permits(1, 15, 30)}) == 1);
}

TEST_CASE("the checker counts holds from journal files") {
    const temporary_folder made;
    const auto folder = made.path().string();
    {
        hold_journal one(folder + "/one.holds"), two(folder + "/two.holds");
        auto held = hold(1'000, 1'000, 7);
        held.end = fate::held;
        const auto place = one.add(held);
        two.add(hold(9'000, 9'500, 8));
        auto lost = hold(9'600, 9'700, 9);
        lost.end = fate::lost;
        one.add(lost);
        held.until = 8'999;
        one.write_over(place, held);
    }
    const auto found = check(read_all_holds(folder), 1);
    CHECK(found.violations.empty());
    CHECK(found.holds == 3);
    CHECK(found.lost == 1);
    CHECK(found.unfinished == 1);
    CHECK(found.grants.at("lock") == 3);
    CHECK(found.longest_pause.count() == 8'000);
    CHECK(found.pause_began.time_since_epoch().count() == 1'000);
    CHECK(read_holds(folder + "/one.holds").front().until == 8'999);
    CHECK(read_holds(folder + "/one.holds", 2).size() == 2);
    CHECK(read_holds(folder + "/one.holds", 1).front().token.zxid == 9);
    CHECK(read_holds(folder + "/none.holds").empty());
}
