// One attempt to get a lock on Redis: whom it asks, when it has the lock, and what it leaves
// behind.

#include "redis/rules/attempt.hpp"
#include "redis/rules/obstacle.hpp"
#include "redis/rules/pace.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::redis::rules;
using namespace std::chrono_literals;

namespace {

using kind = answer::kind;
using requests = attempt::requests;
using servers = std::vector<int>;

constexpr boot_clock::time_point asked{1000s};
const lock_timing timing(30s);

answer granted(std::int64_t token) {
    answer out;
    out.what = kind::granted;
    out.token = token;
    return out;
}

answer said(kind what, std::chrono::milliseconds left = 0ms, std::string holder = {}) {
    answer out;
    out.what = what;
    out.left = left;
    out.holder = std::move(holder);
    return out;
}

const auto ours = lock_value(30s, "0123");

struct stepped_attempt : attempt {
    explicit stepped_attempt(std::size_t count, bool one_first = false)
        : attempt(std::vector<bool>(count, true), one_first, timing, 5s) {}
    requests hear(int server, const answer& what) { return answered(server, what, asked, asked); }
};

} // namespace

TEST_CASE("one server grants alone, and its counter is the token") {
    stepped_attempt a(1);
    CHECK(a.start() == requests{{0}, {}, {}});
    CHECK(a.hear(0, granted(7)) == requests{});
    CHECK(a.now() == attempt::state::granted);
    CHECK(a.token() == 7);
    CHECK(a.votes().valid_until() == asked + 27s);
}

TEST_CASE("a quorum is granted once its counters stand at the largest token") {
    stepped_attempt a(3);
    CHECK(a.start() == requests{{0, 1, 2}, {}, {}});
    CHECK(a.hear(1, granted(5)) == requests{});
    CHECK(a.hear(2, granted(9)) == requests{{}, {1}, {}});
    CHECK(a.now() == attempt::state::pending);
    CHECK(a.token() == 9);
    CHECK(a.hear(0, granted(10)) == requests{{}, {0}, {}});
    CHECK(a.hear(1, said(kind::renewed)) == requests{});
    CHECK(a.now() == attempt::state::granted);
    CHECK(a.token() == 9);
}

TEST_CASE("a server that can be reached later takes part, unless it was asked before") {
    attempt a({true, false, true}, false, timing, 5s);
    CHECK(a.start() == requests{{0, 2}, {}, {}});
    CHECK(a.reachable(0) == requests{});
    CHECK(a.reachable(1) == requests{{1}, {}, {}});
    CHECK(a.reachable(1) == requests{});
    CHECK(a.unreachable(2) == requests{});
    CHECK(a.reachable(2) == requests{}); // it may execute the first request
    CHECK(a.answered(1, granted(9), asked, asked) == requests{});
    CHECK(a.now() == attempt::state::pending);
    CHECK(a.answered(0, granted(9), asked, asked) == requests{});
    CHECK(a.now() == attempt::state::granted);
    CHECK(a.reachable(2) == requests{});
}

TEST_CASE("a key that is missing when its counter is raised is no vote") {
    stepped_attempt a(3);
    a.start();
    a.hear(0, granted(1));
    a.hear(1, granted(2));
    CHECK(a.hear(2, said(kind::taken)) == requests{});
    CHECK(a.hear(0, said(kind::set)) == requests{{}, {}, {0, 1}});
    CHECK(a.now() == attempt::state::failed);
}

TEST_CASE("an attempt fails as soon as a quorum is impossible, and releases what it may have") {
    stepped_attempt a(5);
    a.start();
    a.hear(0, granted(1));
    a.hear(1, said(kind::taken));
    a.hear(2, said(kind::young, 5s));
    CHECK(a.now() == attempt::state::pending);
    CHECK(a.hear(3, said(kind::refused)) == requests{{}, {}, {0, 3, 4}});
    CHECK(a.now() == attempt::state::failed);
    CHECK(a.hear(4, granted(1)) == requests{});
}

TEST_CASE("whether a server that is lost has set the key is unknown") {
    stepped_attempt a(3);
    a.start();
    CHECK(a.unreachable(0) == requests{});
    CHECK(a.unreachable(1) == requests{{}, {}, {0, 1, 2}, true});
    stepped_attempt b(1);
    CHECK(b.start().acquire == servers{0});
    CHECK(b.give_up() == requests{{}, {}, {0}, true});
    CHECK(b.now() == attempt::state::failed);
    CHECK(b.give_up() == requests{});
}

TEST_CASE("without a quorum of reachable servers nobody is asked") {
    attempt a({false, true, false}, false, timing, 5s);
    CHECK(a.start() == requests{});
    CHECK(a.now() == attempt::state::failed);
    attempt b({false, true, true}, false, timing, 5s);
    CHECK(b.start() == requests{{1, 2}, {}, {}});
}

TEST_CASE("a grant that took too long to be of use is given back") {
    stepped_attempt a(1);
    a.start();
    CHECK(a.answered(0, granted(1), asked, asked + 23s) == requests{{}, {}, {0}, true});
    CHECK(a.now() == attempt::state::failed);
}

TEST_CASE("a release is told if others may wait for it, and not by a loser") {
    const auto taken = said(kind::taken, 20s, ours);
    stepped_attempt loser(3);
    loser.start();
    loser.hear(0, granted(1));
    loser.hear(1, taken);
    CHECK(loser.hear(2, taken) == requests{{}, {}, {0}});
    stepped_attempt behind(5);
    behind.start();
    for (const int server : {0, 1})
        behind.hear(server, granted(1));
    for (const int server : {2, 3})
        behind.hear(server, taken);
    CHECK(behind.give_up() == requests{{}, {}, {0, 1, 4}, true}); // the last one may agree
    stepped_attempt refused(3);
    refused.start();
    refused.hear(0, granted(1));
    refused.hear(1, said(kind::refused));
    CHECK(refused.hear(2, said(kind::refused)) == requests{{}, {}, {0, 1, 2}});
    stepped_attempt alone(3, true);
    alone.start();
    CHECK(alone.give_up() == requests{{}, {}, {0}, true});
}

TEST_CASE("one server is asked first, and the others once it has agreed") {
    stepped_attempt a(3, true);
    CHECK(a.start() == requests{{0}, {}, {}});
    CHECK(a.hear(0, granted(1)) == requests{{1, 2}, {}, {}});
    stepped_attempt b(3, true);
    b.start();
    CHECK(b.hear(0, said(kind::taken, 20s, ours)) == requests{});
    CHECK(b.now() == attempt::state::failed);
    CHECK(b.first_is_taken());
    attempt c({false, true, true}, true, timing, 5s);
    CHECK(c.start() == requests{{1}, {}, {}});
}

TEST_CASE("a first server that gives no answer of use is passed over") {
    stepped_attempt a(3, true);
    a.start();
    CHECK(a.unreachable(0) == requests{{1}, {}, {}});
    CHECK(a.hear(1, granted(1)) == requests{{2}, {}, {}});
    stepped_attempt b(3, true);
    b.start();
    CHECK(b.hear(0, said(kind::young, 1s)) == requests{{1}, {}, {}});
    CHECK_FALSE(b.first_is_taken());
}

// --- the pause before the next attempt ---

namespace {

pace::plan after(stepped_attempt& a, const std::vector<answer>& all, std::uint64_t random = 0) {
    a.start();
    for (std::size_t n = 0; n < all.size(); ++n)
        a.hear(static_cast<int>(n), all[n]);
    REQUIRE(a.now() == attempt::state::failed);
    return pace(30s).after(a, 10ms, true, random);
}

pace::plan after(const std::vector<answer>& all, std::uint64_t random = 0) {
    stepped_attempt a(all.size());
    return after(a, all, random);
}

} // namespace

TEST_CASE("behind a hold a waiter sleeps until the hold's quorum can end, but not for long") {
    const auto left = [](std::chrono::milliseconds time) { return said(kind::taken, time, ours); };
    CHECK(after({left(4s)}) == pace::plan{4s, false});
    CHECK(after({left(25s)}) == pace::plan{10s, false});
    CHECK(after({left(-1ms)}) == pace::plan{10s, false});
    // Once one of three keys has expired, two are left; once the second has, there is no quorum.
    stepped_attempt three(3);
    CHECK(after(three, {left(2s), left(5s)}) == pace::plan{2s, false});
    CHECK(after({left(4s)}, 7'000'000).sleep == 4s + 7ms);
    CHECK(after({left(4s)}, 23'000'000).sleep == 4s + 3ms);
}

TEST_CASE("nobody tells of the release of another library's key") {
    CHECK(after({said(kind::taken, 25s, "redis-py")}) == pace::plan{1s, false});
    CHECK(after({said(kind::taken, -1ms, "")}) == pace::plan{1s, false});
    CHECK(after({said(kind::taken, 300ms, "redis-py")}) == pace::plan{300ms, false});
}

TEST_CASE("behind a first server that is taken a waiter sleeps, but not long") {
    stepped_attempt a(3, true);
    CHECK(after(a, {said(kind::taken, 4s, ours)}) == pace::plan{1s, false});
}

TEST_CASE("a young server is asked again when it is of age") {
    CHECK(after({said(kind::young, 400ms)}) == pace::plan{400ms, false});
    CHECK(after({said(kind::young, 60s)}) == pace::plan{1s, false});
}

TEST_CASE("after a split vote the pauses double, and one server is asked first") {
    pace calls(30s);
    boot_clock::duration longest{};
    for (int n = 1; n <= 20; ++n) {
        stepped_attempt a(3);
        a.start();
        a.hear(0, said(kind::taken, 30s, lock_value(30s, "a")));
        a.hear(1, said(kind::taken, 30s, lock_value(30s, "b")));
        const auto most = std::min<boot_clock::duration>(10ms * (1 << std::min(n, 10)), 1s);
        const auto plan = calls.after(a, 10ms, true, static_cast<std::uint64_t>(most.count()) - 1);
        CHECK(plan.one_first);
        CHECK(plan.sleep < most);
        longest = std::max(longest, plan.sleep);
    }
    CHECK(longest > 900ms);
    calls.granted();
    stepped_attempt a(3);
    a.start();
    a.hear(0, said(kind::taken, 30s, lock_value(30s, "a")));
    a.hear(1, said(kind::taken, 30s, lock_value(30s, "b")));
    CHECK(calls.after(a, 10ms, true, 1'000'000'000'019).sleep < 20ms);
}

TEST_CASE("a waiter that loses races to others asks later and later after a release") {
    pace waiter(30s);
    const auto lose = [&] {
        stepped_attempt a(1);
        a.start();
        a.hear(0, said(kind::taken, 30s, lock_value(30s, "other")));
        waiter.after(a, 10ms, true, 0);
    };
    constexpr std::uint64_t last = (1ull << 40) - 1; // almost the whole of any time here
    lose();                                          // it did not know whether the lock was free
    CHECK(waiter.after_message(10ms, last) == 0ms);
    boot_clock::duration longest{};
    for (int n = 1; n <= 10; ++n) {
        lose();
        const auto most = 10ms * (1 << std::min(n, 3));
        CHECK(waiter.after_message(10ms, 0) == 0ms);
        for (std::uint64_t random = 0; random < 50; ++random) {
            const auto time = waiter.after_message(10ms, random * 12'345'678'901);
            CHECK(time < most);
            longest = std::max(longest, time);
        }
    }
    CHECK(longest > 60ms);
    waiter.granted();
    CHECK(waiter.after_message(10ms, last) == 0ms);
}

TEST_CASE("the other servers are asked when the first one is silent") {
    stepped_attempt a(3, true);
    CHECK(a.start() == requests{{0}, {}, {}});
    CHECK(a.hurry() == requests{{1, 2}, {}, {}});
    CHECK(a.hurry() == requests{});
    a.hear(1, granted(4));
    a.hear(2, granted(4));
    CHECK(a.now() == attempt::state::granted);
    CHECK(a.hurry() == requests{});
}

TEST_CASE("what keeps a client from a lock is what a quorum cannot do without") {
    using refusals = std::vector<std::optional<answer>>;
    const auto taken = said(kind::taken);
    const auto denied = said(kind::denied);
    const auto mismatch = said(kind::mismatch);
    const auto replica = said(kind::replica);
    CHECK(obstacle_in(refusals{{}}) == obstacle::servers);
    CHECK(obstacle_in(refusals{said(kind::refused)}) == obstacle::servers);
    CHECK(obstacle_in(refusals{taken}) == obstacle::taken);
    CHECK(obstacle_in(refusals{said(kind::young)}) == obstacle::taken);
    CHECK(obstacle_in(refusals{denied}) == obstacle::denied);
    CHECK(obstacle_in(refusals{mismatch}) == obstacle::mismatch);
    CHECK(obstacle_in(refusals{replica}) == obstacle::unsuitable);
    CHECK(obstacle_in(refusals{said(kind::spoilt)}) == obstacle::unsuitable);
    CHECK(obstacle_in(refusals{taken, {}, denied}) == obstacle::taken);
    CHECK(obstacle_in(refusals{{}, {}, denied}) == obstacle::servers);
    CHECK(obstacle_in(refusals{{}, replica, denied}) == obstacle::unsuitable);
    CHECK(obstacle_in(refusals{taken, mismatch, mismatch}) == obstacle::mismatch);
}

TEST_CASE("an administrator hears of a server that refuses, but not of a lock that is taken") {
    const auto text_of = [](kind what) {
        auto one = said(what);
        one.text = "OOM";
        one.left = 5ms;
        return complaint_about(one, {60s, 3});
    };
    CHECK(text_of(kind::refused) == "refuses a request: OOM");
    CHECK(text_of(kind::denied) == "refuses a request: OOM");
    CHECK(text_of(kind::spoilt) == "refuses a request: OOM");
    CHECK(text_of(kind::mismatch)
              .find("other options (OOM; this client has max_ttl 60000 ms, servers 3)") !=
          std::string::npos);
    CHECK(text_of(kind::young).find("no lock for another 5 ms") != std::string::npos);
    CHECK(text_of(kind::young).find("says how") != std::string::npos);
    CHECK(complaint_about(said(kind::young), {60s, 3, true}).find("too early") !=
          std::string::npos);
    CHECK_FALSE(text_of(kind::replica).empty());
    CHECK(text_of(kind::released).find("of a release: OOM") != std::string::npos);
    CHECK(text_of(kind::gone).find("of a release: OOM") != std::string::npos);
    CHECK(complaint_about(said(kind::released), {}).empty());
    CHECK(complaint_about(said(kind::gone), {}).empty());
    for (const auto good :
         {kind::granted, kind::renewed, kind::set, kind::taken, kind::unknown_script})
        CHECK(text_of(good).empty());
}
