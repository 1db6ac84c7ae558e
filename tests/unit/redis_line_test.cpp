// When a client tries to get a lock on Redis for its calls that wait for it, step by step.

#include "redis/rules/line.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>

using namespace paddock;
using namespace std::chrono_literals;
using redis::rules::answer;
using redis::rules::line;
using redis::rules::obstacle;

namespace {

/// The line of a lock on three servers, 1 ms away. Takes events, and returns the wanted actions in
/// words; a timer with the milliseconds until it ends.
struct stepped_line {
    std::string actions() {
        std::string text;
        for (const auto& a : rules.take())
            text += (text.empty() ? "" : ", ") + words(a);
        return text;
    }
    std::string words(const line::action& a) const {
        using kind = line::action::kind;
        switch (a.what) {
        case kind::take_turn:
            return "turn";
        case kind::leave_turns:
            return "no turn";
        case kind::attempt:
            return a.one_first ? "attempt at one" : "attempt";
        case kind::hurry:
            return "hurry";
        case kind::give_up:
            return "give up";
        case kind::turn_away:
            return "turn away";
        case kind::fail:
            return "fail";
        case kind::listen:
            return "listen";
        case kind::stop_listening:
            return "do not listen";
        case kind::set_timer:
            return "wait " + std::to_string((a.until - facts.now) / 1ms);
        case kind::stop_timer:
            return "stop";
        case kind::forget:
            return "forget";
        }
        return "?";
    }
    template <typename What, typename... Args>
    std::string say(What what, const Args&... args) {
        rules.present(facts);
        (rules.*what)(args...);
        return actions();
    }

    std::string join(bool immediate = false) {
        if (++facts.calls == 1) facts.immediate = immediate;
        return say(&line::joined);
    }
    std::string leave() {
        facts.calls = 0;
        return say(&line::deserted);
    }
    std::string turn() { return say(&line::turn_got); }
    /// The first call has the lock.
    std::string granted() {
        const auto then = say(&line::granted);
        hold();
        return then;
    }
    void hold() {
        facts.held = true;
        --facts.calls;
    }
    /// By the servers 0 and 1.
    std::string refused() {
        const redis::rules::lock_timing timing(30s);
        redis::rules::attempt failed({true, true, true}, false, timing, 5s);
        failed.start();
        answer said;
        said.what = answer::kind::taken;
        said.left = 30s;
        said.holder = redis::rules::lock_value(30s, "another client's");
        failed.answered(0, said, facts.now, facts.now);
        failed.answered(1, said, facts.now, facts.now);
        return say(&line::refused, failed, obstacle::taken);
    }
    /// None of them can be asked.
    std::string in_vain(obstacle why) {
        redis::rules::attempt failed({false, false, false}, false, redis::rules::lock_timing(30s),
                                     5s);
        failed.start();
        return say(&line::refused, failed, why);
    }
    std::string tick() { return say(&line::tick); }
    std::string message(int server = 0) { return say(&line::message, server); }
    std::string subscribed(int server) { return say(&line::subscribed, server); }
    std::string unsubscribed(int server) { return say(&line::unsubscribed, server); }
    std::string servers_changed() { return say(&line::servers_changed); }
    bool pass_on() {
        rules.present(facts);
        return rules.pass_on();
    }
    std::string release() {
        rules.release_begins();
        facts.held = false;
        return say(&line::hold_ended);
    }
    /// So many clients heard of the release.
    std::string confirmed(std::int64_t listeners) { return say(&line::release_ended, listeners); }

    /// A first call waits behind another client's hold.
    std::string sleep() {
        join();
        turn();
        return refused();
    }
    void take() {
        join();
        turn();
        granted();
    }
    /// Others listen.
    void know_rivals() {
        take();
        release();
        confirmed(1);
        tick(); // nobody has come
    }

    line::facts facts{.now = boot_clock::time_point(1h), .round_trip = 1ms, .connected = true};
    std::uint64_t random = 0;
    line rules{30s, 3, [this] { return random; }};
};

} // namespace

TEST_CASE("a line makes one attempt at a time, for its first call") {
    stepped_line s;
    CHECK(s.join() == "turn");
    CHECK(s.join().empty());
    CHECK(s.turn() == "wait 15000, attempt");
    CHECK(s.join().empty());
    CHECK(s.granted() == "stop");
    CHECK(s.join().empty()); // behind the hold
}

TEST_CASE("a line whose calls have left wants no turn and no answer") {
    stepped_line s;
    s.join();
    SUBCASE("it waits for its turn") { CHECK(s.leave() == "no turn, stop, forget"); }
    SUBCASE("it has asked") {
        s.turn();
        CHECK(s.leave() == "give up");
        CHECK(s.in_vain(obstacle::servers) == "stop, forget");
        CHECK_FALSE(s.rules.latest_obstacle()); // what was not answered
    }
    SUBCASE("it sleeps") {
        s.turn();
        s.refused();
        CHECK(s.leave() == "stop, wait 5000"); // and listens for a while
        CHECK(s.tick() == "do not listen, forget");
    }
}

TEST_CASE("servers that stand still end an attempt") {
    stepped_line s;
    SUBCASE("after half of the time to live") {
        s.join();
        CHECK(s.turn() == "wait 15000, attempt");
    }
    SUBCASE("soon, for a call that does not wait") {
        s.join(true);
        CHECK(s.turn() == "wait 900, attempt");
    }
    CHECK(s.tick() == "give up");
}

TEST_CASE("a server that is asked first is not waited for as long as all of them") {
    stepped_line s;
    s.sleep();
    s.message();
    CHECK(s.tick() == "stop, turn");
    CHECK(s.turn() == "wait 20, attempt at one");
    CHECK(s.tick() == "wait 15000, hurry");
    CHECK(s.tick() == "give up");
}

TEST_CASE("who does not hear of releases yet sleeps for a second, and then asks at once") {
    stepped_line s;
    CHECK(s.sleep() == "stop, listen, wait 1000");
    SUBCASE("the lock may have been released before") { CHECK(s.subscribed(0) == "stop, turn"); }
    SUBCASE("nothing comes") { CHECK(s.tick() == "stop, turn"); }
    s.turn();
    CHECK(s.refused() == "stop, wait 1000");
}

TEST_CASE("who hears of releases sleeps for longer, but not once messages may be missed") {
    stepped_line s;
    s.subscribed(0);
    s.subscribed(1);
    CHECK(s.sleep() == "stop, listen, wait 10000");
    s.facts.now += 1s;
    CHECK(s.subscribed(2) == "stop, turn");
    s.turn();
    CHECK(s.refused() == "stop, wait 10000");
    CHECK(s.unsubscribed(0).empty()); // a quorum still tells
    CHECK(s.unsubscribed(1) == "wait 1000");
    CHECK(s.unsubscribed(2).empty());
}

TEST_CASE("a release that is told starts a race, and those who lost some begin later") {
    stepped_line s;
    s.random = 12'345'678; // nanoseconds
    s.sleep();
    CHECK(s.message() == "wait 0");
    CHECK(s.message().empty()); // another server tells of it
    CHECK(s.tick() == "stop, turn");
    CHECK(s.turn() == "wait 20, attempt at one");
    s.refused();
    s.random = 1'500'000;
    CHECK(s.message() == "wait 1"); // up to two round trips
}

TEST_CASE("a release during an attempt that a server has refused starts a race as well") {
    stepped_line s;
    s.join();
    s.turn();
    SUBCASE("the server has refused") {
        CHECK(s.message(0).empty());
        CHECK(s.refused() == "stop, listen, wait 0");
        s.tick();
        CHECK(s.turn() == "wait 20, attempt at one");
    }
    SUBCASE("another one has not") {
        CHECK(s.message(2).empty());
        CHECK(s.refused() == "stop, listen, wait 1000");
    }
}

TEST_CASE("without a quorum a line sleeps until it hears of a server, however long") {
    stepped_line s;
    s.facts.connected = false;
    s.join();
    s.turn();
    CHECK(s.in_vain(obstacle::servers) == "stop, listen");
    CHECK(s.servers_changed() == "stop, turn");
    s.turn();
    CHECK(s.servers_changed().empty());
}

TEST_CASE("servers that come do not wake those who wait behind a hold") {
    stepped_line s;
    s.sleep();
    CHECK(s.servers_changed().empty());
}

TEST_CASE("an obstacle that does not heal fails all calls") {
    stepped_line s;
    s.join();
    s.join();
    s.turn();
    CHECK(s.in_vain(obstacle::denied) == "stop, fail, forget");
    CHECK(s.rules.latest_obstacle() == obstacle::denied);
}

TEST_CASE("a call that does not wait is turned away, and the next one sleeps") {
    stepped_line s;
    s.join(true);
    SUBCASE("alone") {
        s.turn();
        CHECK(s.refused() == "stop, turn away, forget");
    }
    SUBCASE("before another") {
        s.join();
        s.turn();
        CHECK(s.refused() == "stop, turn away, listen, wait 1000");
    }
    CHECK(s.rules.latest_obstacle() == obstacle::taken);
}

TEST_CASE("sixteen grants in a row, and then the client rests for others") {
    stepped_line s;
    for (int n = 0; n < 17; ++n)
        s.join();
    s.turn();
    s.granted();
    for (int n = 1; n < 16; ++n) {
        REQUIRE(s.pass_on());
        s.hold();
    }
    CHECK_FALSE(s.pass_on());
    CHECK(s.release() == "listen, wait 2"); // a message, and a request
    CHECK(s.tick() == "stop, turn");
    s.turn();
    s.granted();
    s.join();
    CHECK(s.pass_on()); // counted anew
}

TEST_CASE("keys are passed on to a call that waits, unless the line asks for new ones already") {
    stepped_line s;
    s.take();
    CHECK_FALSE(s.pass_on()); // to nobody
    SUBCASE("they are held") {
        s.join();
        CHECK(s.pass_on());
    }
    SUBCASE("their lease has lapsed") {
        s.facts.held = false;
        CHECK(s.join() == "turn");
        CHECK_FALSE(s.pass_on());
    }
}

TEST_CASE("the first release that others hear of lets them ask first") {
    stepped_line s;
    s.take();
    s.facts.now += 800ms;
    CHECK(s.release().empty());
    SUBCASE("nobody else hears") { CHECK(s.confirmed(0) == "forget"); }
    SUBCASE("another client does") {
        CHECK(s.confirmed(1) == "wait 100");
        CHECK(s.join() == "listen");
        SUBCASE("it has had the lock") {
            CHECK(s.message() == "stop, turn");
            CHECK(s.turn() == "wait 20, attempt at one");
        }
        SUBCASE("it does not come") {
            CHECK(s.tick() == "stop, turn");
            CHECK(s.turn() == "wait 15000, attempt");
        }
    }
}

TEST_CASE("who knows that others listen lets them ask behind each hold, at once") {
    stepped_line s;
    s.know_rivals();
    s.take();
    s.join();
    CHECK(s.release() == "listen, wait 10");
    CHECK(s.confirmed(2).empty()); // no news: the other one and this client
    SUBCASE("a call that leaves does not shorten that") { CHECK(s.leave().empty()); }
    SUBCASE("nor does one that comes") { CHECK(s.join().empty()); }
}

TEST_CASE("the own subscription is nobody else's") {
    stepped_line s;
    s.sleep();
    s.tick();
    s.turn();
    s.granted();
    CHECK(s.release().empty());
    CHECK(s.confirmed(1) == "wait 5000");
}

TEST_CASE("a line is of use while a release is not confirmed, or a guard of a lost hold exists") {
    stepped_line s;
    s.take();
    SUBCASE("the release") {
        CHECK(s.release().empty());
        CHECK(s.confirmed(0) == "forget");
    }
    SUBCASE("the guard") {
        s.facts.held = false;
        s.facts.has_guards = true;
        CHECK(s.say(&line::hold_ended).empty());
        s.facts.has_guards = false;
        CHECK(s.say(&line::older_hold_ended) == "forget");
    }
}

TEST_CASE("a lock that is wanted again soon keeps its subscription") {
    stepped_line s;
    s.sleep();
    CHECK(s.leave() == "stop, wait 5000");
    CHECK(s.join() == "turn");
    s.turn();
    CHECK(s.refused() == "stop, wait 1000"); // and needs no other one
}

TEST_CASE("a closed line wants nothing any more") {
    stepped_line s;
    s.know_rivals();
    s.take();
    s.rules.closed();
    CHECK(s.release().empty());
    CHECK(s.confirmed(0) == "forget");
}
