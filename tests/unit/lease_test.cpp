// The lease of a session, step by step: what extends it, and what its end means.

#include "locks/call/node_hold.hpp"
#include "support/session_stage.hpp"

#include <paddock/guard.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using detail::answered_by;
using detail::lane;
using words = std::vector<std::string>;

namespace {

struct nothing final : detail::held_resource {
    void release() override { ++released; }
    void when_deleted(unique_function<void(error_code)> gone) override { gone({}); }
    int released = 0;
};

client_options with(lease_options lease) {
    client_options options;
    options.lease = lease;
    return options;
}

/// Session timeout 9 s: gap 2.7 s, a beat every 1.44 s, at least 2.25 s for a new hold.
struct lease_stage : session_stage {
    using session_stage::session_stage;

    std::shared_ptr<detail::hold> hold() {
        return std::make_shared<detail::node_hold>(core, std::make_shared<nothing>(), "/n",
                                                   fencing_token{1, 0});
    }
    boot_clock::duration left() const { return core->lease().term()->until() - env->now(); }
    /// One request, and its answer after a while.
    void ask(answered_by by, boot_clock::duration time = 0s, int code = native::code::ok) {
        detail::request what = detail::requests::exists{"/x"};
        if (by == answered_by::leader) what = detail::requests::sync{"/x"};
        if (by == answered_by::quorum) what = detail::requests::remove{"/x"};
        core->dispatcher().submit(lane::user, what, [](const native::reply&) {});
        env->run();
        pass(time);
        answer(code);
    }
    /// Lets time pass in which the server sends packets but answers no request of the lease.
    void pass(boot_clock::duration time) {
        for (; time > 0s; time -= 100ms) {
            c->last_heard = env->now();
            env->advance(std::min<boot_clock::duration>(time, 100ms));
        }
    }
    /// The server goes on answering reads, but no write gets a quorum.
    void cut_off_server() { c->heartbeat_code = native::code::connection_loss; }
};

} // namespace

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

TEST_CASE("with longer times between proofs a hold costs less") {
    const auto requests_of = [](lease_options how) {
        lease_stage s(with(how));
        const auto held = s.hold();
        const auto before = s.c->beats;
        s.pass(90s);
        CHECK(held->valid());
        CHECK(s.left() > 3500ms);
        return s.c->beats - before;
    };
    const auto usual = requests_of({});
    CHECK(usual >= 122); // a read and a proof every 1.44 s
    CHECK(usual <= 128);
    const auto rare = requests_of({.renew_every = 2250ms});
    CHECK(rare >= 78); // either every 1.125 s
    CHECK(rare <= 82);
}

TEST_CASE("with the longest time between proofs one lost answer and one reconnect cost no hold") {
    const std::vector<lease_options> all{
        {.renew_every = 2250ms},
        {.margin = 1s, .renew_every = 1700ms},
        {.tick_time = 3s, .renew_every = 1880ms},
        {.tick_time = 2s, .proof = lease_proof::sync, .renew_every = 1880ms}};
    for (const auto& how : all) {
        CAPTURE(how.renew_every.count());
        // At every moment between two proofs: the answer of the next one is lost.
        for (auto phase = 0ms; phase < 2500ms; phase += 50ms) {
            CAPTURE(phase.count());
            lease_stage s(with(how));
            const auto held = s.hold();
            s.pass(20s + phase);
            s.c->answers_heartbeats = false;
            s.pass(how.renew_every); // a proof was sent, and is not answered
            s.c->hang_up();
            s.c->answers_heartbeats = true;
            s.env->advance(450ms); // the reconnect
            REQUIRE(s.core->state() == client_state::connected);
            CHECK(held->valid());
            CHECK_FALSE(held->ended());
            s.c->answers_heartbeats = false;
            s.pass(9s); // a session timeout
            CHECK_FALSE(held->valid());
        }
    }
}

TEST_CASE("a longer time between proofs than the lease has room for is refused") {
    lease_options lease{.renew_every = 2251ms};
    SUBCASE("longer than a quarter") {}
    SUBCASE("with a margin") { lease = {.margin = 1s, .renew_every = 2000ms}; }
    SUBCASE("with long ticks") { lease = {.tick_time = 4s, .renew_every = 1500ms}; }
    SUBCASE("far too short") { lease.renew_every = 300ms; }
    SUBCASE("negative") { lease.renew_every = -1ms; }
    asio::io_context io;
    auto options = with({.renew_every = 2250ms});
    options.session_timeout = 9s;
    CHECK_NOTHROW(client(io, "10.0.0.1", options));
    options.lease = lease;
    try {
        client zk(io, "10.0.0.1", options);
        FAIL("it is not refused");
    } catch (const system_error& error) {
        CHECK(error.code() == errc::bad_argument);
        CHECK(std::string(error.what()).find("lease.renew_every") != std::string::npos);
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
    CHECK(s.troubles[0].find("too slow for this session timeout") != std::string::npos);
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
