// The time between the proofs of a lease: what it costs, and what it leaves room for.

#include "unit/lease_stage.hpp"

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

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
    CHECK(rare >= 118); // a read every 1.125 s, a proof every 2.25 s
    CHECK(rare <= 122);
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

TEST_CASE("a server that goes silent costs no hold if there is another, also with rare proofs") {
    for (const auto& how : {lease_options{}, lease_options{.renew_every = 2250ms},
                            lease_options{.margin = 500ms, .renew_every = 1900ms}}) {
        CAPTURE(how.renew_every.count());
        for (auto phase = 0ms; phase < 2500ms; phase += 50ms) {
            CAPTURE(phase.count());
            lease_stage s(with(how));
            s.core->set_servers({{"127.0.0.1", 1, true}, {"127.0.0.1", 2, true}});
            const auto held = s.hold();
            s.pass(20s + phase);
            s.c->answers_heartbeats = false;
            const auto before = s.c->last_identity;
            for (int n = 0; n < 120 && s.c->last_identity == before; ++n)
                s.env->advance(50ms);
            CHECK(s.c->last_identity == before + 1);
            s.c->answers_heartbeats = true;
            s.env->advance(300ms);
            REQUIRE(s.core->state() == client_state::connected);
            CHECK(held->valid());
            CHECK_FALSE(held->ended());
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
    SUBCASE("so long that it overflows") { lease.renew_every = std::chrono::milliseconds::max(); }
    SUBCASE("that it is short again") { lease.renew_every = 11'971'936'903'837'499ms; }
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
