// How long the pump waits for a server, how long it pauses, and what it says of those that fail.

#include "pump_stage.hpp"

using namespace paddock;
using namespace paddock::test;
using stage = server_list_stage;
namespace code = native::code;

TEST_CASE("servers that close the connection in the handshake are named as refusing") {
    stage s({literal_server(1), literal_server(2), literal_server(3)});
    s.c->refuses_sessions = true;
    s.env.run();
    REQUIRE(s.troubles() == 1);
    CHECK(s.user.troubles[0].starts_with(
        "127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3 refused the session"));
    CHECK(s.user.troubles[0].find("older") == std::string::npos); // it has seen nothing yet
    CHECK(s.user.refused == 1);
    s.c->refuses_sessions = false;
    s.env.advance(1s);
    REQUIRE(s.user.up);
    s.env.advance(1s);
    s.c->refuses_sessions = true;
    s.c->hang_up();
    s.env.run();
    REQUIRE(s.troubles() == 2);
    CHECK(s.user.troubles[1].find("older") != std::string::npos);
    CHECK(s.user.refused == 2);
}

TEST_CASE("one server of three that refuses is not most of them") {
    // The limit is the pump's, or the C client's.
    for (const auto timeout : {9s, 1s}) {
        CAPTURE(timeout.count());
        stage s({literal_server(1), literal_server(2), literal_server(3)}, timeout);
        s.c->refuses_sessions = true;
        while (s.c->last_identity < 2)
            REQUIRE(s.env.step());
        s.c->refuses_sessions = s.c->answers = false; // the others are silent
        s.env.advance(4s);
        REQUIRE(s.troubles() >= 1);
        CHECK(s.user.troubles[0].find(" refused the session") != std::string::npos);
        CHECK(s.user.troubles[0].find(" accepted the connection, but did not answer: ") !=
              std::string::npos);
        CHECK(s.user.refused == 0);
    }
}

TEST_CASE("a server that accepts connections and says nothing is told from one that is away") {
    stage s({literal_server(1), literal_server(2)}, 9s);
    s.c->answers = false;
    s.env.advance(500ms);
    s.c->accepts = false;
    s.env.advance(6s);
    REQUIRE(s.troubles() >= 1);
    CHECK(s.user.troubles[0].starts_with("127.0.0.1:"));
    CHECK(s.user.troubles[0].find(" accepted the connection, but did not answer: ") !=
          std::string::npos);
    CHECK(s.user.troubles[0].find("no ZooKeeper server at all") != std::string::npos);
    CHECK(s.user.troubles[0].ends_with(
        "; no other server of 127.0.0.1:1, 127.0.0.1:2 answers; still trying"));
}

TEST_CASE("TLS's handshake has a limit of its own, and whoever refuses it refuses no session") {
    stage s({literal_server(1), literal_server(2), literal_server(3)}, 60s);
    s.c->secures = true;
    SUBCASE("a server that is silent in it") {
        s.c->accepts = false;
        s.env.advance(100s);
        REQUIRE(s.troubles() >= 1);
        CHECK(s.user.troubles[0].find(" accepted the connection, but did not answer: ") !=
              std::string::npos);
        const auto attempts = s.c->last_identity;
        s.env.advance(25s); // the limit is 30 s now
        CHECK(s.c->last_identity <= attempts + 1);
    }
    SUBCASE("a server that ends it") {
        s.c->refuses = true;
        s.env.run();
        REQUIRE(s.troubles() >= 1);
        CHECK(s.user.troubles[0].starts_with("no server of "));
    }
    CHECK(s.user.refused == 0);
}

TEST_CASE("an attempt that fails before it has a socket is no refusal") {
    connected_pump s;
    s.c->interest_codes.assign(3, code::connection_loss);
    s.c->hang_up();
    s.env.run();
    REQUIRE_FALSE(s.user.troubles.empty());
    CHECK(s.user.troubles[0].starts_with("no server of 127.0.0.1:1 answers: "));
    CHECK(s.user.refused == 0);
}

TEST_CASE("of a server that is tried twice in a pass, and refuses once, only that is said") {
    stage s({literal_server(1), literal_server(2)}, 9s); // the C client gets one of them twice
    s.c->refuses_sessions = true;
    while (s.c->last_identity < 3)
        REQUIRE(s.env.step());
    s.c->refuses_sessions = s.c->answers = false;
    s.env.advance(2s);
    REQUIRE(s.troubles() >= 1);
    CHECK(s.user.troubles[0].starts_with("127.0.0.1:1, 127.0.0.1:2 refused the session"));
    CHECK(s.user.troubles[0].find("accepted the connection") == std::string::npos);
    CHECK(s.user.troubles[0].find("no other server") == std::string::npos);
}

TEST_CASE("a server that was one before it fell silent is not said to be none") {
    connected_pump s;
    s.c->answers = false;
    s.c->hang_up();
    s.env.advance(6s);
    REQUIRE_FALSE(s.user.troubles.empty());
    CHECK(s.user.troubles[0].find(" accepted the connection, but did not answer: ") !=
          std::string::npos);
    CHECK(s.user.troubles[0].find("no ZooKeeper server") == std::string::npos);
}

TEST_CASE("servers that refuse are tried with pauses, and reported at a limited rate") {
    stage s({literal_server(1), literal_server(2), literal_server(3)});
    s.c->accepts = false;
    // As the C client does it: an attempt per server, then a pause.
    s.env.advance(1min);
    CHECK(s.troubles() >= 3);
    CHECK(s.troubles() <= 15);
    CHECK(s.c->interests < 200);
    CHECK(s.env.asked.empty());
}

TEST_CASE("between two passes is a pause of 0.1 to 2 s, whatever the session timeout") {
    for (const auto timeout : {std::chrono::milliseconds(100), std::chrono::milliseconds(24h)}) {
        CAPTURE(timeout.count());
        stage s({literal_server(1), literal_server(2), literal_server(3)}, timeout);
        s.c->refuses = true;
        std::vector<boot_clock::duration> pauses;
        for (std::uint64_t passes = 1; passes <= 20; ++passes) {
            const auto began = s.env.now();
            while (s.c->last_identity <= 3 * passes)
                s.env.advance(1ms);
            pauses.push_back(s.env.now() - began);
        }
        CHECK(pauses[0] >= 49ms);
        CHECK(pauses[0] <= 101ms);
        for (const auto pause : pauses)
            CHECK(pause <= 2001ms);
        for (std::size_t n = 6; n < pauses.size(); ++n)
            CHECK(pauses[n] >= 999ms);
        s.c->refuses = false;
        s.env.advance(2s);
        CHECK(s.user.connected > 0);
    }
}

TEST_CASE("nothing shortens the pause after a failed pass") {
    stage s({literal_server(1)});
    s.c->refuses = true;
    s.env.run();
    CHECK(s.c->last_identity == 1);
    for (int n = 0; n < 45; ++n) {
        s.pump->schedule_turn();
        s.env.advance(1ms);
    }
    CHECK(s.c->last_identity == 1);
}

TEST_CASE("a connection that has lived is made again at once, one that was lost at once is not") {
    stage s({literal_server(1)});
    s.env.advance(2s);
    s.c->hang_up();
    s.env.run();
    CHECK(s.user.connected == 2);
    s.c->hang_up();
    s.env.run();
    CHECK(s.user.connected == 2);
    CHECK(s.env.waited_for() == 0); // the socket is closed before the pause
    s.env.advance(100ms);
    const auto began = s.env.now();
    while (s.user.connected < 10) {
        if (s.user.up) s.c->hang_up();
        s.env.advance(1ms);
    }
    CHECK(s.env.now() - began > 700ms);
    CHECK(s.env.now() - began < 2s);
}

TEST_CASE("an error of interest is retried after a pause") {
    stage s({literal_server(1)});
    for (int i = 0; i < 8; ++i)
        s.c->interest_codes.push_back(code::system_error);
    s.env.advance(500ms);
    CHECK(s.c->interests < 6);
    CHECK_FALSE(s.user.up);
    s.env.advance(30s);
    CHECK(s.user.up);
}

TEST_CASE("of several servers a silent one is given up after a second, then after two") {
    stage s({literal_server(1), literal_server(2)}, 9s);
    SUBCASE("that accepts nothing") { s.c->accepts = false; }
    SUBCASE("that does not answer the handshake") { s.c->answers = false; }
    s.env.advance(900ms);
    CHECK(s.c->last_identity == 1);
    s.env.advance(200ms);
    CHECK(s.c->last_identity == 2);
    s.env.advance(2s); // the third of the odd list
    CHECK(s.c->last_identity == 4);
    s.env.advance(1800ms);
    CHECK(s.c->last_identity == 4);
    s.env.advance(200ms);
    CHECK(s.c->last_identity == 5);
}

TEST_CASE("a single server that listens, but does not serve yet, costs a second at first") {
    stage s({literal_server(1)}, 1h);
    s.c->answers = false;
    s.env.advance(900ms);
    CHECK(s.c->last_identity == 1);
    s.c->answers = true; // though not of this handshake
    s.env.advance(300ms);
    CHECK(s.c->last_identity == 2);
    CHECK(s.user.up);
}

TEST_CASE("the time limits of a hung server grow, but not without a bound") {
    stage s({literal_server(1)}, 24h);
    boot_clock::duration most{};
    SUBCASE("that accepts nothing") { s.c->accepts = false, most = 4s; }
    SUBCASE("that does not answer the handshake") { s.c->answers = false, most = 30s; }
    s.env.advance(5min);
    for (int n = 0; n < 5; ++n) {
        const auto before = s.c->last_identity;
        const auto began = s.env.now();
        while (s.c->last_identity == before)
            s.env.advance(10ms);
        if (n == 0) continue;
        CHECK(s.env.now() - began > most);
        CHECK(s.env.now() - began < most + 2100ms);
    }
    // It is restarted: it refuses for a while, then listens but does not serve yet.
    s.c->accepts = s.c->answers = true;
    s.c->refuses = true;
    s.c->set_readable();
    s.env.advance(40s);
    s.c->refuses = s.c->answers = false;
    const auto before = s.c->last_identity;
    while (s.c->last_identity == before)
        s.env.advance(10ms);
    s.c->answers = true;
    s.env.advance(1100ms + 2s);
    CHECK(s.user.up);
}

TEST_CASE("a second of a stalled event loop does not count against a server") {
    stage s({literal_server(1), literal_server(2)}, 9s);
    s.c->answers = false;
    s.env.advance(100ms);
    s.env.stall(3s);
    s.env.run();
    CHECK(s.c->last_identity == 1);
    s.env.advance(1100ms);
    CHECK(s.c->last_identity == 2);
}

TEST_CASE("a connection that breaks again and again as soon as it is made is said to do so") {
    connected_pump s;
    for (int n = 0; n < 6; ++n) {
        s.pump->submit([](native::calls&) { return code::ok; }, n == 2 ? 1'200'000 : 480);
        s.c->hang_up();
        s.env.advance(400ms);
        REQUIRE(s.user.up);
    }
    // The first of them had lived for a second.
    REQUIRE(s.user.troubles.size() == 1);
    CHECK(s.user.troubles[0].starts_with("connections to the servers, the last one to 127.0.0.1:1, "
                                         "have broken 5 times in a row, each within 1.0 s: the "
                                         "largest request had 1200000 bytes, "));
    s.env.advance(2s);
    s.c->hang_up();
    s.env.advance(400ms);
    CHECK(s.user.up);
    CHECK(s.user.troubles.size() == 1);
}

TEST_CASE("an answer to the handshake without a session connects nobody") {
    stage s({literal_server(1)}, 9s);
    const auto id = s.c->session;
    s.c->session = 0; // an echo of the handshake
    s.env.advance(100ms);
    CHECK(s.user.connected == 0);
    CHECK(s.c->closed >= 1);
    CHECK(s.c->asked_to_end == 0); // of the session that is none
    REQUIRE_FALSE(s.user.troubles.empty());
    CHECK(s.user.troubles[0].starts_with("the server 127.0.0.1:1 cannot be used: "));
    const auto opened = s.c->opened;
    s.env.advance(1min);
    CHECK(s.c->opened > opened); // again and again
    CHECK(s.c->opened < opened + 60);
    CHECK(s.user.connected == 0);

    s.c->session = id;
    s.env.advance(1min);
    CHECK(s.user.up);
    CHECK_FALSE(s.user.over);
}

TEST_CASE("a client with a session takes an answer without one for the end of the session") {
    connected_pump s;
    s.c->session_timeout = 0ms;
    s.c->hang_up();
    s.env.advance(1s);
    CHECK(s.user.connected == 1);
    CHECK(s.user.over == errc::session_expired);
}
