// Until when a quorum of Redis servers certainly has a hold's key.

#include "redis/rules/server_clock.hpp"
#include "redis/rules/votes.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::redis::rules;
using namespace std::chrono_literals;

namespace {

constexpr boot_clock::time_point start{1000s};
const lock_timing timing(30s);
using kind = answer::kind;

answer said(kind what, std::chrono::milliseconds left = 0ms) {
    answer out;
    out.what = what;
    out.left = left;
    return out;
}

} // namespace

TEST_CASE("one server's vote ends a tenth before its key expires") {
    votes one(1, timing);
    CHECK(one.valid_until() == boot_clock::time_point::min());
    one.confirmed(0, start);
    CHECK(one.valid_until() == start + 27s);
    CHECK(one.renewal_due(0) == start + 10s);
}

TEST_CASE("a quorum lasts as long as the vote that it cannot do without") {
    votes five(5, timing);
    five.confirmed(0, start + 4s);
    five.confirmed(1, start + 1s);
    CHECK(five.valid_until() == boot_clock::time_point::min());
    five.confirmed(2, start + 3s);
    CHECK(five.valid_until() == start + 28s);
    five.confirmed(3, start + 2s);
    CHECK(five.valid_until() == start + 29s);
    five.confirmed(4, start);
    CHECK(five.valid_until() == start + 29s);
    CHECK(five.quorum() == 3);
}

TEST_CASE("an answer to an earlier request takes nothing back") {
    votes one(1, timing);
    one.confirmed(0, start + 5s);
    one.confirmed(0, start);
    CHECK(one.valid_until() == start + 32s);
}

TEST_CASE("a renewal is repeated until the server confirms it") {
    votes one(1, timing);
    one.confirmed(0, start);
    one.renewing(0, start + 10s);
    CHECK(one.renewal_due(0) == start + 11s);
    one.answered(0, said(kind::refused), start + 10s, start + 10s);
    CHECK(one.renewal_due(0) == start + 11s);
    one.answered(0, said(kind::renewed), start + 11s, start + 12s);
    CHECK(one.renewal_due(0) == start + 21s);
    CHECK(one.valid_until() == start + 38s);
}

TEST_CASE("a server that is young confirms only a key that it has had all the time") {
    votes one(1, timing);
    one.confirmed(0, start);
    one.answered(0, said(kind::set, 5s), start + 10s, start + 10s);
    CHECK(one.valid_until() == start + 27s);
    one.answered(0, said(kind::renewed, 5s), start + 26s, start + 26s);
    CHECK(one.valid_until() == start + 53s);
    one.answered(0, said(kind::renewed, 1ms), start + 53s, start + 53s);
    CHECK(one.valid_until() == start + 53s);
    one.answered(0, said(kind::set), start + 54s, start + 54s);
    CHECK(one.valid_until() == start + 81s);
}

TEST_CASE("a young server that answers when its vote is over has perhaps forgotten another key") {
    votes one(1, timing);
    one.confirmed(0, start);
    one.answered(0, said(kind::renewed, 5s), start + 26s, start + 27s);
    CHECK(one.valid_until() == start + 27s);
    one.answered(0, said(kind::renewed), start + 26s, start + 27s);
    CHECK(one.valid_until() == start + 53s);
}

TEST_CASE("a quorum is impossible once so many servers have another key") {
    votes three(3, timing);
    three.confirmed(0, start);
    three.confirmed(1, start);
    three.answered(2, said(kind::taken), start, start + 1s);
    CHECK_FALSE(three.impossible());
    CHECK(three.renewal_due(2) == start + 11s);
    three.answered(1, said(kind::taken), start + 2s, start + 2s);
    CHECK(three.impossible());
    CHECK(three.valid_until() == start + 27s);
    three.answered(2, said(kind::set), start + 11s, start + 11s);
    CHECK_FALSE(three.impossible());
}

TEST_CASE("a server that grants late gets the token at once") {
    votes three(3, timing);
    three.answered(2, said(kind::granted), start, start + 1s);
    CHECK(three.renewal_due(2) == start + 1s);
}

TEST_CASE("a server's clock may be slewed, not set") {
    constexpr std::chrono::microseconds epoch{1'700'000'000'000'000};
    server_clock one;
    const auto hear = [&](std::chrono::milliseconds at, std::chrono::milliseconds clock) {
        return one.stepped(start + at, start + at + 2ms, epoch + clock);
    };
    CHECK_FALSE(hear(0ms, 0ms));
    CHECK_FALSE(hear(10s, 10s + 830ms));
    CHECK_FALSE(hear(20s, 20s));
    CHECK(hear(20s + 10ms, 20s + 200ms));
    CHECK_FALSE(hear(20s + 20ms, 20s + 210ms));
    CHECK(hear(20s + 30ms, 20s));
    CHECK(hear(21s, 3621s));
}

TEST_CASE("an answer that took long says little about the server's clock") {
    constexpr std::chrono::microseconds epoch{1'700'000'000'000'000};
    server_clock one;
    CHECK_FALSE(one.stepped(start, start + 1s, epoch));
    CHECK_FALSE(one.stepped(start + 1s, start + 60s, epoch + 1s));
    CHECK_FALSE(one.stepped(start + 60s, start + 61s, epoch + 60s));
    CHECK(one.stepped(start + 61s, start + 62s, epoch + 80s));
}

TEST_CASE("a quorum confirms a hold by requests that were sent late enough") {
    votes three(3, timing);
    three.confirmed(0, start);
    three.confirmed(1, start + 2s);
    CHECK(three.confirmed_since(start));
    CHECK_FALSE(three.confirmed_since(start + 1s));
    three.confirmed(2, start + 1s);
    CHECK(three.confirmed_since(start + 1s));
    three.confirmed(2, start); // a late answer to an earlier request
    CHECK(three.confirmed_since(start + 1s));
}
