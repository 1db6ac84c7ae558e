// How long a client whose hold has ended lets others ask for the lock first.

#include "redis/rules/attempt.hpp"
#include "redis/rules/pace.hpp"
#include "support/redis_stage.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock;
using namespace paddock::test;
using redis::rules::pace;

namespace {

constexpr auto trip = 1ms;

/// An attempt, behind a yield, is granted: nobody has used it.
void waste_yields(pace& one) {
    for (int n = 0; n < 4; ++n) {
        CHECK(one.yield(1ms, trip) == 10ms);
        one.granted();
    }
}

/// The key has this value. Returns how long to sleep.
boot_clock::duration sleep_behind(pace& one, const std::string& holder, bool hears) {
    redis::rules::attempt failed({true}, false, redis::rules::lock_timing(30s), 5s);
    failed.start();
    redis::rules::answer said;
    said.what = redis::rules::answer::kind::taken;
    said.left = 30s;
    said.holder = holder;
    failed.answered(0, said, boot_clock::time_point(1s), boot_clock::time_point(1s));
    return one.after(failed, trip, hears, 0).sleep;
}

void be_refused(pace& one) {
    redis::rules::attempt failed({true}, false, redis::rules::lock_timing(30s), 5s);
    failed.start();
    redis::rules::answer said;
    said.what = redis::rules::answer::kind::taken;
    said.left = 1s;
    failed.answered(0, said, boot_clock::time_point(1s), boot_clock::time_point(1s));
    one.after(failed, trip, true, 0);
}

} // namespace

TEST_CASE("who does not hear of releases asks once a second") {
    pace one(30s);
    const auto ours = redis::rules::lock_value(30s, "x");
    CHECK(sleep_behind(one, ours, true) == 10s);
    CHECK(sleep_behind(one, ours, false) == 1s);
    CHECK(sleep_behind(one, "another program's", true) <= 1s);
}

TEST_CASE("behind a program that takes the lock again and again the looks come closer") {
    pace one(30s);
    CHECK(sleep_behind(one, "1", true) == 1s);
    CHECK(sleep_behind(one, "1", true) == 1s); // one long hold
    for (int n = 2; n < 6; ++n)
        sleep_behind(one, std::to_string(n), true);
    CHECK(sleep_behind(one, "6", true) == 20ms);
    for (int n = 0; n < 10; ++n)
        sleep_behind(one, "6", true); // a long one again
    CHECK(sleep_behind(one, "6", true) == 1s);
}

TEST_CASE("rivals may ask first for an eighth of the hold, some round trips at least") {
    pace one(30s);
    CHECK(one.yield(0ms, trip) == 10ms);
    CHECK(one.yield(600ms, trip) == 75ms);
    CHECK(one.yield(600ms, 15ms) == 75ms);
    CHECK(one.yield(600ms, 40ms) == 160ms);
    CHECK(one.yield(1h, trip) == 250ms);
    CHECK(one.yield(1h, 100ms) == 400ms);
}

TEST_CASE("rivals that never ask cost an eighth of the holds, and no more") {
    pace one(30s);
    waste_yields(one);
    boot_clock::duration all{};
    for (int n = 0; n < 1000; ++n) {
        all += one.yield(1ms, trip);
        one.granted();
    }
    CHECK(all > 100ms);
    CHECK(all <= 125ms);
    CHECK(one.yield(600ms, trip) >= 75ms); // as before
}

TEST_CASE("rivals of which one asks again are let ask after each hold") {
    pace one(30s);
    waste_yields(one);
    REQUIRE(one.yield(1ms, trip) == 0ms);
    SUBCASE("it had the lock") { one.rival_had_it(); }
    SUBCASE("it has the lock") { be_refused(one); }
    waste_yields(one);
    CHECK(one.yield(1ms, trip) == 0ms);
}

TEST_CASE("a yield that a rival has used is not counted") {
    pace one(30s);
    for (int n = 0; n < 20; ++n) {
        CHECK(one.yield(1ms, trip) == 10ms);
        one.rival_had_it();
        one.granted();
    }
}

namespace {

/// Another client listens to the lock 0; the answer to a release says so.
struct listener_stage : redis_stage {
    void hold(boot_clock::duration time) {
        const auto call = ask(lock(0));
        serve();
        grant();
        REQUIRE(call->done());
        env->advance(time);
        held(call) = guard();
        serve();
        confirm_release(2);
    }
    bool asks_within(boot_clock::duration time) {
        const auto before = attempts.size();
        env->advance(time);
        serve();
        return attempts.size() > before;
    }
};

/// The client knows it.
struct rival_stage : listener_stage {
    rival_stage() {
        hold(0ms);
        env->advance(10ms);
    }
};

} // namespace

TEST_CASE_FIXTURE(listener_stage, "the first release that rivals hear of lets them ask first") {
    hold(800ms);
    const auto call = ask(lock(0));
    serve();
    CHECK_FALSE(asks_within(99ms));
    CHECK(asks_within(1ms));
}

TEST_CASE_FIXTURE(listener_stage, "so does the one behind sixteen holds of one client") {
    std::vector<lock_call> calls;
    for (int n = 0; n <= 16; ++n)
        calls.push_back(ask(lock(0)));
    serve();
    env->advance(5ms); // a round trip
    grant();
    env->advance(800ms);
    for (std::size_t n = 0; n < 16; ++n) {
        REQUIRE(calls[n]->done());
        held(calls[n]) = guard();
        serve();
    }
    REQUIRE(releases.size() == 1);
    CHECK_FALSE(asks_within(5ms));
    confirm_release(2);
    CHECK_FALSE(asks_within(99ms));
    CHECK(asks_within(3ms)); // the hold was kept for 810 ms
    CHECK_FALSE(calls[16]->done());
}

TEST_CASE_FIXTURE(rival_stage, "a client that locks again asks when its rivals could ask") {
    hold(800ms);
    const auto call = ask(lock(0));
    serve();
    CHECK_FALSE(asks_within(99ms));
    SUBCASE("nobody has asked") { CHECK(asks_within(1ms)); }
    SUBCASE("one has had the lock") {
        let_listen();
        const auto before = attempts.size();
        tell_of_release("0");
        CHECK(attempts.size() == before + 1);
    }
}

TEST_CASE_FIXTURE(rival_stage, "a call that gives up does not help the next one") {
    hold(800ms);
    const auto call = ask_for(lock(0), 10ms);
    serve();
    CHECK_FALSE(asks_within(10ms));
    REQUIRE(call->done());
    const auto next = ask(lock(0));
    serve();
    CHECK_FALSE(asks_within(89ms));
    CHECK(asks_within(1ms));
}

TEST_CASE_FIXTURE(rival_stage, "a rival that stands still does not slow every release down") {
    for (int n = 0; n < 4; ++n) {
        hold(0ms);
        env->advance(10ms);
    }
    hold(0ms);
    const auto call = ask(lock(0));
    serve();
    CHECK(attempts.size() == 7);
}
