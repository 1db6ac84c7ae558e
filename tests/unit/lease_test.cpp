// The lease of a session, step by step: what extends it, and what its end means.

#include "unit/lease_stage.hpp"

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

TEST_CASE("a new session has a lease") {
    lease_stage s;
    CHECK(s.core->lease().fit());
    CHECK(s.left() > 8s);
    CHECK(s.left() <= 9s);
}

TEST_CASE("with a hold, proofs keep the lease alive") {
    lease_stage s;
    const auto held = s.hold();
    for (int n = 0; n < 30; ++n) {
        s.pass(1s);
        CHECK(held->valid());
        CHECK(s.left() > 4500ms);
    }
    CHECK_FALSE(held->ended());
}

TEST_CASE(
    "with no hold the client sends one read per beat, or none if other requests were answered") {
    lease_stage s;
    SUBCASE("idle") {
        s.pass(14400ms);
        CHECK(s.c->beats >= 9);
        CHECK(s.c->beats <= 10);
    }
    SUBCASE("busy") {
        for (int n = 0; n < 140; ++n) {
            s.pass(100ms);
            s.ask(answered_by::server);
        }
        CHECK(s.c->beats == 0);
    }
}

TEST_CASE("after an idle minute the first write renews the lease for a new hold") {
    lease_stage s;
    s.pass(60s);
    CHECK_FALSE(s.core->lease().fit());
    s.ask(answered_by::quorum);
    CHECK(s.core->lease().fit());
    const auto held = s.hold();
    CHECK(held->valid());
    CHECK(held->valid_until() > s.env->now() + 4500ms);
}

TEST_CASE("answered reads alone do not extend the lease") {
    lease_stage s;
    const auto held = s.hold();
    s.cut_off_server();
    s.pass(7s);
    CHECK(held->valid());
    s.pass(3s);
    CHECK(s.core->state() == client_state::connected);
    CHECK_FALSE(held->valid());
    CHECK(held->reason() == errc::lease_lapsed);
}

TEST_CASE("a sync extends the lease only if it was chosen as the proof") {
    SUBCASE("not chosen") {
        lease_stage s;
        const auto held = s.hold();
        s.cut_off_server();
        for (int n = 0; n < 9; ++n)
            s.ask(answered_by::leader, 1s);
        CHECK_FALSE(held->valid());
    }
    SUBCASE("chosen") {
        lease_stage s(with({.tick_time = 1s, .proof = lease_proof::sync}));
        const auto held = s.hold();
        s.cut_off_server();
        s.pass(30s);
        CHECK(held->valid());
    }
}

TEST_CASE("a write that a quorum refused is a proof; a lost write is not") {
    lease_stage s;
    const auto held = s.hold();
    s.cut_off_server();
    int code = 0;
    bool proof = false;
    SUBCASE("no node") { code = static_cast<int>(zk_errc::no_node), proof = true; }
    SUBCASE("not allowed") { code = static_cast<int>(zk_errc::no_auth), proof = true; }
    SUBCASE("throttled") { code = static_cast<int>(zk_errc::throttled); }
    SUBCASE("moved") { code = static_cast<int>(zk_errc::session_moved); }
    for (int n = 0; n < 12; ++n)
        s.ask(answered_by::quorum, 1s, code);
    CHECK(held->valid() == proof);
}

TEST_CASE("a lapsed hold stays lost, whatever is answered later") {
    lease_stage s;
    const auto held = s.hold();
    s.lose_connection();
    const auto until = held->valid_until();
    s.env->stall(until - s.env->now() - 1ms);
    CHECK(held->valid());
    s.env->stall(1ms);
    CHECK_FALSE(held->valid()); // no handler has run: the clock is enough
    CHECK_FALSE(held->ended());
    s.c->accepts = true;
    s.c->set_readable();
    s.env->advance(4s);
    REQUIRE(s.core->state() == client_state::connected);
    s.ask(answered_by::quorum);
    CHECK(s.core->lease().fit()); // for other holds
    CHECK_FALSE(held->valid());
    CHECK(held->ended());
    CHECK(held->reason() == errc::lease_lapsed);
    CHECK(held->valid_until() <= s.env->now());
    const auto next = s.hold();
    CHECK(next->valid());
}

TEST_CASE("a proof that was on its way when the lease ended does not begin another") {
    lease_stage s;
    s.pass(60s);
    s.ask(answered_by::quorum);
    const auto held = s.hold();
    s.cut_off_server();
    const auto rest = s.left();
    s.pass(rest - 300ms);
    s.ask(answered_by::quorum, 600ms); // sent before the end, answered after it
    CHECK_FALSE(held->valid());
    CHECK_FALSE(s.core->lease().fit());
    s.ask(answered_by::quorum);
    CHECK(s.core->lease().fit());
    CHECK_FALSE(held->valid());
}

TEST_CASE("a hold survives suspension if the client reconnects before its lease ends") {
    lease_stage s;
    const auto held = s.hold();
    s.lose_connection();
    s.reconnect();
    CHECK(held->valid());
    s.pass(20s);
    CHECK(held->valid());
}

TEST_CASE("the end of the session ends the lease, and the next epoch does not revive it") {
    lease_stage s;
    const auto held = s.hold();
    const auto old = s.core->lease().term();
    s.expire();
    CHECK(s.core->epoch() == 2);
    CHECK_FALSE(old->alive());
    CHECK_FALSE(held->valid());
    CHECK(s.core->lease().fit());
    s.pass(5s);
    CHECK_FALSE(old->alive());
}

TEST_CASE("a wait for a fit lease causes a proof, and completes once") {
    lease_stage s;
    s.pass(60s);
    int told = 0;
    const auto wait = [&] { s.core->lease().when_fit([&] { ++told; }); };
    SUBCASE("connected") { wait(); }
    SUBCASE("not connected") {
        s.lose_connection();
        wait();
        s.reconnect();
    }
    s.pass(100ms);
    CHECK(told == 1);
    CHECK(s.core->lease().fit());
    s.pass(10s);
    CHECK(told == 1);
}

TEST_CASE(
    "with a margin the loss is reported before the lease ends; the hold is valid until then") {
    lease_stage s(with({.margin = 1s}));
    const auto held = s.hold();
    s.cut_off_server();
    const auto until = held->valid_until();
    s.pass(until - s.env->now() - 1100ms);
    CHECK_FALSE(held->ended());
    s.pass(200ms);
    CHECK(held->ended());
    CHECK(held->reason() == errc::lease_lapsed);
    CHECK(held->valid());
    s.c->heartbeat_code = native::code::ok;
    SUBCASE("a later proof does not renew it") {
        for (int n = 0; n < 8; ++n)
            s.ask(answered_by::quorum, 100ms);
        CHECK(held->valid_until() == until);
        s.pass(500ms);
    }
    SUBCASE("a release ends it") { held->release(); }
    CHECK_FALSE(held->valid());
}

TEST_CASE("a lease term that was seen to have ended cannot be extended") {
    static boot_clock::time_point now;
    now = boot_clock::time_point(10s);
    detail::lease_term term([]() noexcept { return now; }, now + 1s);
    CHECK(term.alive());
    CHECK(term.extend(now + 2s));
    CHECK(term.extend(now + 1s)); // shorter than before
    CHECK(term.until() == now + 2s);
    now += 2s;
    CHECK_FALSE(term.alive());
    CHECK(term.until() == boot_clock::time_point());
    CHECK(term.last_until() == now);
    CHECK_FALSE(term.extend(now + 9s));
    CHECK_FALSE(term.alive());
    now -= 2s; // no real clock does this
    CHECK_FALSE(term.alive());
}

TEST_CASE("a wait for a lease that is not renewed is reported in the log") {
    lease_stage s;
    s.pass(60s);
    s.cut_off_server();
    int told = 0;
    s.core->lease().when_fit([&] { ++told; });
    s.pass(8s);
    CHECK(s.troubles.empty());
    s.pass(10s);
    CHECK(told == 0);
    REQUIRE(s.troubles.size() == 1);
    CHECK(s.troubles[0].starts_with(
        "no lock can be granted under the session timeout of 9.0 s: the server has answered no "
        "write for longer than that. "));
}

TEST_CASE("a wait for a lease whose proofs are answered too late says how late") {
    lease_stage s;
    s.pass(60s);
    s.cut_off_server();
    int told = 0;
    s.core->lease().when_fit([&] { ++told; });
    for (int n = 0; n < 4; ++n)
        s.ask(answered_by::quorum, 5s);
    CHECK(told == 0);
    REQUIRE_FALSE(s.troubles.empty());
    CHECK(s.troubles[0] ==
          "no lock can be granted under the session timeout of 9.0 s: the last write took 5.0 s, "
          "and should take at most 2.6 s. Raise session_timeout, or look after the ensemble's "
          "load and the network");
}

TEST_CASE("a jump of the wall clock makes no lease longer or shorter") {
    lease_stage s;
    const auto held = s.hold();
    const auto until = held->valid_until();
    for (const auto jump : {24h, -24h}) {
        s.env->wall_jump = jump;
        CHECK(held->valid_until() == until);
        CHECK(held->valid());
    }
    s.cut_off_server();
    s.pass(until - s.env->now() - 10ms);
    CHECK(held->valid());
    s.pass(10ms);
    CHECK_FALSE(held->valid());
}

TEST_CASE("a server that grants a shorter session timeout shortens the lease") {
    lease_stage s;
    const auto held = s.hold();
    s.lose_connection();
    CHECK(held->valid());
    s.c->session_timeout = 5s;
    s.reconnect();
    CHECK_FALSE(held->valid());
    CHECK(held->reason() == errc::lease_lapsed);
    s.ask(answered_by::quorum);
    CHECK(s.core->lease().fit());
    CHECK(s.left() <= 5s);
    const auto next = s.hold();
    CHECK(next->valid());
}

TEST_CASE("a reconnect shortly before the lease ends is not said to be a stalled event loop") {
    lease_stage s;
    const auto held = s.hold();
    s.cut_off_server();
    s.lose_connection();
    s.env->advance(7800ms);
    s.c->accepts = true;
    s.c->set_readable();
    while (s.core->state() != client_state::connected)
        s.env->advance(100ms);
    REQUIRE(s.left() > 0s);
    REQUIRE(s.left() < 1400ms); // a heartbeat's time
    while (!held->ended())
        s.pass(100ms);
    CHECK(held->reason() == errc::lease_lapsed);
    const auto has = [&](std::string_view part) {
        return std::any_of(s.troubles.begin(), s.troubles.end(),
                           [&](const std::string& line) { return line.find(part) != line.npos; });
    };
    CHECK(has("the lock /n is lost, held for "));
    CHECK_FALSE(has("stood still"));
}
