// The contenders of a queue, and how many are in which state.

#include "rules/contenders.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace paddock;
using rules::contender;
using stage = rules::contender::stage;

TEST_CASE("each state is counted where it belongs") {
    rules::contenders all;
    auto& c = all.add(1, {});
    CHECK(all.counts() == rules::contender_counts{});
    all.move_to(c, stage::creating);
    CHECK(all.counts() == rules::contender_counts{.creating = 1});
    all.change(c, [&] { c.with_directory = true; });
    CHECK(all.counts() == rules::contender_counts{});
    all.move_to(c, stage::unknown);
    CHECK(all.counts() == rules::contender_counts{.unknown = 1});
    all.move_to(c, stage::waiting);
    CHECK(all.counts() == rules::contender_counts{.in_table = 1, .waiting = 1, .unlisted = 1});
    all.change(c, [&] { c.listed = c.reported_stuck = true; });
    CHECK(all.counts() ==
          rules::contender_counts{.in_table = 1, .waiting = 1, .reported_stuck = 1});
    all.change(c, [&] {
        c.at = stage::granted;
        c.reported_stuck = false;
    });
    CHECK(all.counts() == rules::contender_counts{.in_table = 1, .holders = 1});
    all.erase(1);
    CHECK(all.counts() == rules::contender_counts{});
    CHECK(all.empty());
}

TEST_CASE("a granted contender that only passes does not hold") {
    rules::contenders all;
    auto& c = all.add(1, {.turn_only = true});
    all.move_to(c, stage::granted);
    CHECK(all.counts() == rules::contender_counts{.in_table = 1});
}

TEST_CASE("to begin again keeps the terms, and that it was reported, and nothing else") {
    rules::contenders all;
    auto& c = all.add(7, {.immediate = true});
    c.czxid = 5;
    all.change(c, [&] {
        c.at = stage::waiting;
        c.reported_stuck = true;
    });
    all.begin_again(c);
    CHECK(c.key == 7);
    CHECK(c.how.immediate);
    CHECK(c.reported_stuck);
    CHECK(c.at == stage::joining);
    CHECK(c.czxid == 0);
    CHECK(all.counts() == rules::contender_counts{});
}

TEST_CASE("the counts are what a walk counts, whatever happens") {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same numbers each time
    rules::contenders all;
    rules::contender_key last = 0;
    for (int n = 0; n < 2000; ++n) {
        const auto which = random() % (last + 1);
        auto* const c = all.find(which);
        if (!c) {
            all.add(++last, {.turn_only = random() % 2 == 0});
        } else if (random() % 8 == 0) {
            all.erase(which);
        } else {
            all.change(*c, [&] {
                c->at = static_cast<stage>(random() % 5);
                c->listed = random() % 2 == 0;
                c->with_directory = random() % 2 == 0;
                c->reported_stuck = random() % 2 == 0;
            });
        }
        REQUIRE(all.counts() == all.counted());
    }
}
