// The arithmetic of the lease: which touch a proof confirms, and for how long.

#include "rules/lease_clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace paddock;
using namespace std::chrono_literals;
using rules::lease_clock;
using rules::lease_timing_of;

namespace {

constexpr boot_clock::time_point start{1h};

boot_clock::time_point at(std::chrono::milliseconds since) { return start + since; }

lease_clock clock_of(boot_clock::duration timeout, const rules::lease_settings& wishes = {}) {
    return lease_clock(lease_timing_of(timeout, wishes));
}

/// Touches and proofs at every beat, each answered after the round trip. Returns the validity left
/// at the worst moment, just before an answer comes.
boot_clock::duration steady_state(boot_clock::duration timeout, boot_clock::duration tick,
                                  boot_clock::duration round_trip) {
    auto clock = clock_of(timeout, {.tick = tick});
    clock.connected(start);
    auto until = start + timeout;
    auto worst = timeout;
    const auto beat = clock.timing().beat;
    for (int n = 1; n < 100; ++n) {
        const auto sent = start + n * beat;
        worst = std::min(worst, until - (sent + round_trip));
        clock.touched(sent, sent + round_trip);
        until = clock.proved(sent);
    }
    return worst;
}

} // namespace

TEST_CASE("a proof counts from the newest touch that was answered a gap before it was sent") {
    auto clock = clock_of(10s);
    REQUIRE(clock.timing().gap == 3s);
    clock.connected(start);
    clock.touched(at(1000ms), at(1100ms));
    clock.touched(at(2000ms), at(2100ms));
    clock.touched(at(3000ms), at(3100ms));
    SUBCASE("one that was answered just before it counts") {
        CHECK(clock.proved(at(5100ms)) == at(12'000ms));
    }
    SUBCASE("one that was answered just after it does not, however early it was sent") {
        CHECK(clock.proved(at(5099ms)) == at(11'000ms));
    }
}

TEST_CASE("the lease of a long session does not wait for hours to notice a silent server") {
    for (const auto timeout : {std::chrono::seconds(1h), std::chrono::seconds(24h)}) {
        const auto timing = lease_timing_of(timeout, {});
        CHECK(timing.beat <= 30s);
        CHECK(timing.patience == 30s);
        const auto proofs = timing.beat * timing.beats_of_proof;
        CHECK(proofs <= timeout * 4 / 25);
        CHECK(proofs >= timeout * 4 / 25 - 1s);
    }
    const auto shortest = lease_timing_of(100ms, {});
    CHECK(shortest.beat == 16ms);
    CHECK(shortest.beats_of_proof == 1);
}

TEST_CASE("a handshake counts at once, because the leader itself takes part in it") {
    auto clock = clock_of(10s);
    clock.connected(start);
    CHECK(clock.proved(at(1ms)) == at(10'000ms));
    clock.connected(at(4000ms));
    CHECK(clock.proved(at(4001ms)) == at(14'000ms));
}

TEST_CASE("a touch that was answered too late for one proof counts for the next") {
    auto clock = clock_of(10s);
    clock.connected(start);
    clock.touched(at(1000ms), at(1000ms));
    CHECK(clock.proved(at(2000ms)) == at(10'000ms));
    CHECK(clock.proved(at(4000ms)) == at(11'000ms));
}

TEST_CASE("a proof never shortens the lease") {
    auto clock = clock_of(10s);
    clock.connected(start);
    clock.touched(at(1000ms), at(1000ms));
    CHECK(clock.proved(at(5000ms)) == at(11'000ms));
    CHECK(clock.proved(at(5001ms)) == at(11'000ms));
}

TEST_CASE("touches close together are merged, and old touches are forgotten") {
    auto clock = clock_of(10s);
    clock.connected(start);
    for (int n = 0; n < 1'000'000; ++n)
        clock.touched(start + n * 10ms, start + n * 10ms);
    CHECK(clock.proved(start + 10'000s) >= start + 10'000s - 3s - 200ms + 10s);
}

TEST_CASE("in steady state more than half of the session timeout is left") {
    for (const auto timeout : {4s, 10s, 30s})
        for (const auto tick : {0ms, 800ms})
            for (const auto round_trip : {0ms, 1ms, 20ms, 50ms}) {
                CAPTURE(timeout.count());
                CAPTURE(round_trip.count());
                CHECK(steady_state(timeout, tick, round_trip) > timeout / 2);
            }
    CHECK(steady_state(10s, 2s, 1ms) > 5s); // tickTime = T/5
}

TEST_CASE("a long tick makes the gap longer, and a proof by sync longer still") {
    CHECK(lease_timing_of(10s, {.tick = 2s}).gap == 3s);
    CHECK(lease_timing_of(10s, {.tick = 4s}).gap == 4500ms);
    CHECK(lease_timing_of(10s, {.tick = 3s, .by_sync = true}).gap == 5s);
}

TEST_CASE("the validity that a new hold needs is never more than a healthy lease has") {
    for (const auto tick : {0s, 2s, 4s}) {
        const auto timing = lease_timing_of(10s, {.tick = tick, .margin = 2s, .least = 4s});
        CHECK(timing.margin + timing.least + timing.gap + 2 * timing.beat <= 10s);
        CHECK(timing.least > 0s);
    }
    CHECK(lease_timing_of(10s, {}).least == 2500ms);
    CHECK(lease_timing_of(10s, {.margin = 1s, .least = 1s}).margin == 1s);
    CHECK(lease_timing_of(10s, {.margin = 1s, .least = 1s}).least == 1s);
}
