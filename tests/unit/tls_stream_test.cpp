// A stream over TLS, in virtual time: OpenSSL plays the server, the test the network between.

#include "unit/tls_stage.hpp"

#include <algorithm>
#include <random>
#include <string>

using namespace paddock;
using namespace paddock::test;

TEST_CASE("bytes arrive on both sides, whatever the pieces of the network are") {
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION})
        for (const std::size_t pieces : {1u, 5u, 1000u, 100'000u}) {
            CAPTURE(pieces);
            tls_server server(of_localhost(), version);
            tls_stage s(server);
            s.begin();
            s.carry(pieces);
            REQUIRE(s.secured);
            REQUIRE_FALSE(*s.secured);
            s.read();
            const std::string much(100'000, 'x');
            s.write(much);
            s.env.run();
            s.carry(pieces);
            CHECK_FALSE(s.writes);
            CHECK((server.heard == much));
            auto said = server.say("hello");
            said += server.say(much);
            for (; !said.empty(); said.erase(0, pieces))
                s.tell(said.substr(0, pieces));
            CHECK((s.heard == "hello" + much));
            CHECK_FALSE(s.ended);
        }
}

TEST_CASE("what the server says with the end of its handshake is not lost") {
    tls_server server(of_localhost());
    tls_stage s(server);
    s.begin();
    s.tell(server.answer(s.network.taken()));
    auto last = server.answer(s.network.taken());
    s.tell(last += server.say("early"));
    CHECK(s.heard.empty());
    s.read();
    s.env.run();
    CHECK(s.heard == "early");
}

TEST_CASE("nothing but the handshake leaves before the server's certificate is accepted") {
    tls_server server(trusted().self_signed());
    tls_stage s(server);
    s.begin();
    s.carry();
    REQUIRE(s.secured);
    CHECK(s.secured->message().find("self-signed certificate") != std::string::npos);
    s.write("secret");
    s.env.run();
    CHECK(s.write_failed);
    server.answer(s.network.taken());
    CHECK(server.heard.empty());
}

TEST_CASE("a server that speaks no TLS is named as such") {
    tls_server unused(of_localhost());
    for (const auto* const said :
         {"-ERR unknown command\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
        tls_stage s(unused);
        s.begin();
        s.tell(said);
        REQUIRE(s.secured);
        CHECK(is_tls_error(*s.secured));
        CAPTURE(s.secured->message());
        CHECK(s.secured->message().starts_with("what it says is not TLS"));
    }
}

TEST_CASE("the end of a connection is told once: in the handshake, and behind it") {
    tls_server server(of_localhost());
    tls_stage s(server);
    s.begin();
    SUBCASE("in the handshake") {
        s.network.break_off();
        s.env.run();
        REQUIRE(s.secured);
        CHECK(*s.secured == boost::asio::error::eof);
        return;
    }
    s.carry();
    s.read();
    const auto last = server.say("last words");
    SUBCASE("as TLS wants it") { s.tell(last + server.end()); }
    SUBCASE("without a word") {
        s.tell(last);
        s.network.break_off();
        s.env.run();
    }
    CHECK(s.heard == "last words");
    REQUIRE(s.ended);
    CHECK(*s.ended == boost::asio::error::eof);
}

TEST_CASE("a record that somebody has changed on its way ends the connection") {
    tls_server server(of_localhost());
    tls_stage s(server);
    s.open();
    auto said = server.say("the lock is yours");
    said.back() ^= 1;
    s.tell(said);
    CHECK(s.heard.empty());
    REQUIRE(s.ended);
    CHECK(is_tls_error(*s.ended));
}

TEST_CASE("new keys in the middle change nothing") {
    tls_server server(of_localhost());
    tls_stage s(server);
    s.open();
    for (int n = 0; n < 3; ++n) {
        s.tell(server.change_keys());
        s.write("x");
        s.env.run();
        s.carry();
    }
    CHECK(s.heard == "kkk");
    CHECK(server.heard == "xxx");
    CHECK_FALSE(s.ended);
}

TEST_CASE("a server that reads slowly: the write ends when all is gone") {
    tls_server server(of_localhost());
    tls_stage s(server);
    s.open();
    s.network.last().takes_bytes = false;
    s.write("slow");
    s.env.run();
    CHECK(s.writes);
    s.network.let_write_end();
    s.env.run();
    CHECK_FALSE(s.writes);
    CHECK_FALSE(s.write_failed);
    s.write("never");
    s.network.let_write_end(boost::asio::error::connection_reset);
    s.env.run();
    REQUIRE(s.write_failed);
    CHECK(*s.write_failed == boost::asio::error::connection_reset);
}

TEST_CASE("what is written in the middle of the server's message follows behind it") {
    tls_server server(of_localhost());
    server.wants_certificate_of(trusted().ca_file());
    server.speaks_in_small_records();
    const auto own = trusted().issue();
    tls_stage s(server);
    s.begin(tls({.ca = trusted().ca_file(), .certificate = own.certificate, .key = own.key}));
    while (!s.secured)
        s.tell(server.answer(s.network.taken()));
    s.read();
    const auto tickets = server.answer(s.network.taken());
    const std::size_t first = 600; // of the first ticket's two records
    REQUIRE(tickets.size() > first);
    s.tell(tickets.substr(0, first));
    s.write("here I am");
    s.env.run();
    CHECK(s.writes);
    CHECK(s.network.taken().empty());
    s.tell(tickets.substr(first));
    CHECK_FALSE(s.writes);
    CHECK_FALSE(s.write_failed);
    server.answer(s.network.taken());
    CHECK(server.heard == "here I am");
}

TEST_CASE("a write that fails beside an alert that is on its way fails once, with the reason") {
    tls_server server(of_localhost());
    tls_stage s(server);
    s.open();
    s.network.last().takes_bytes = false;
    auto said = server.say("changed on its way");
    said.back() ^= 1;
    s.tell(said);
    REQUIRE(s.ended);
    s.network.let_write_end(); // of the alert
    s.write("too late");
    s.env.run();
    CHECK_FALSE(s.writes);
    REQUIRE(s.write_failed);
    CHECK(is_tls_error(*s.write_failed));
}

TEST_CASE("a closed stream calls nobody, and has said so to the server; an aborted one has not") {
    for (const bool aborts : {false, true}) {
        tls_server server(of_localhost());
        tls_stage s(server);
        s.open();
        s.network.say(server.say("too late"));
        if (aborts)
            s.subject->abort();
        else
            s.subject->close();
        s.env.run();
        CHECK(s.heard.empty());
        CHECK_FALSE(s.ended);
        CHECK_FALSE(s.network.last().open);
        CHECK(s.network.last().aborted == aborts);
        server.answer(s.network.taken());
        CHECK(server.was_told_the_end() == !aborts);
    }
}

TEST_CASE("every callback may destroy the stream") {
    for (int which = 0; which < 3; ++which) {
        tls_server server(of_localhost());
        tls_stage s(server);
        auto link = s.env.make_stream();
        link->connect("10.0.0.1", 1, [](error_code) {});
        bool called = false;
        const auto destroy = [&] {
            called = true;
            s.subject.reset();
        };
        s.subject = make_tls_stream(s.env, std::move(link), tls({.ca = trusted().ca_file()}),
                                    "localhost", [&](error_code) {
                                        if (which == 0) destroy();
                                    });
        s.env.run();
        s.carry();
        if (which == 1) s.subject->read_some([&](error_code, std::string_view) { destroy(); });
        s.network.last().takes_bytes = false;
        if (which == 2) s.subject->write("x", [&](error_code) { destroy(); });
        if (which == 2) s.network.let_write_end();
        if (which == 1) s.network.say(server.say("x"));
        s.env.run();
        CHECK(called);
        CHECK_FALSE(s.subject);
    }
}

TEST_CASE("whatever a server sends, the end is told, and nothing is made up") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        tls_server server(of_localhost());
        tls_stage s(server);
        s.begin();
        s.carry(1 + random() % 700);
        REQUIRE((s.secured && !*s.secured));
        s.read();
        const std::string text(random() % 5000, 'y');
        auto bytes = text.empty() ? std::string() : server.say(text);
        const bool spoilt = random() % 2 == 0;
        if (spoilt && !bytes.empty()) bytes[random() % bytes.size()] ^= 1 << (random() % 8);
        for (; !bytes.empty(); bytes.erase(0, std::min<std::size_t>(bytes.size(), 777)))
            s.tell(bytes.substr(0, 777));
        s.network.break_off();
        s.env.run();
        CHECK(s.ended);
        CHECK((s.heard == text.substr(0, s.heard.size())));
        CHECK((spoilt || s.heard == text));
    }
}
