// One connection to a Redis server: to a server that the test plays, mostly in bad health.

#include "redis_connection_support.hpp"
#include "support/ports.hpp"
#include "support/redis_server.hpp"

#include <optional>

using namespace paddock;
using namespace paddock::test;
using redis::connection;
using redis::ending;
using redis::rules::reply;

using words = connection::words;

TEST_CASE_FIXTURE(connection_harness, "commands of one turn leave as one write") {
    REQUIRE(open());
    for (int n = 0; n < 5; ++n)
        CHECK(send({"ECHO", std::to_string(n)}));
    CHECK(replies.empty());
    CHECK(until([&] { return replies.size() == 5; }));
    CHECK(peer.packets ==
          std::vector<std::vector<std::string>>{std::vector<std::string>(5, "ECHO")});
}

TEST_CASE_FIXTURE(connection_harness, "every reply belongs to its command, in 1-byte pieces too") {
    peer.on_command = [](auto& link, const words& command) {
        link.say_slowly("$3\r\n" + command.at(1) + "\r\n");
    };
    REQUIRE(open());
    send({"ECHO", "one"});
    CHECK(until([&] { return replies.size() == 1; }));
    send({"ECHO", "two"});
    CHECK(until([&] { return replies.size() == 2; }));
    CHECK(replies == words{"one", "two"});
}

TEST_CASE_FIXTURE(connection_harness,
                  "a connection authenticates itself and selects its database") {
    SUBCASE("nothing to do") {}
    SUBCASE("a password") { place.password = "secret"; }
    SUBCASE("a user") {
        place.password = "secret";
        place.user = "bob";
    }
    SUBCASE("a database") { place.database = 3; }
    SUBCASE("both") {
        place.password = "secret";
        place.database = 3;
    }
    REQUIRE(open());
    std::vector<words> expected;
    if (!place.user.empty())
        expected.push_back({"AUTH", "bob", "secret"});
    else if (!place.password.empty())
        expected.push_back({"AUTH", "secret"});
    if (place.database != 0) expected.push_back({"SELECT", "3"});
    CHECK(peer.commands == expected);
    CHECK(peer.packets.size() <= 1);
}

TEST_CASE_FIXTURE(connection_harness, "no text has the password in it, whatever the server says") {
    place.password = "secret";
    place.database = 1;
    SUBCASE("it does not know AUTH") {
        answer_with("-ERR unknown command 'AUTH', with args beginning with: 'secret' \r\n");
    }
    SUBCASE("it quotes in its own way, and not the whole password") {
        answer_with("-what is AUTH secre...?\r\n");
    }
    SUBCASE("its error is the password") { answer_with("-secret\r\n"); }
    SUBCASE("it sends everything back") { answer_with("*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"); }
    SUBCASE("it quotes the password later") {
        peer.on_command = [](auto& link, const words& command) {
            link.say(command[0] == "AUTH" ? "+OK\r\n" : "-ERR secret\r\n");
        };
    }
    SUBCASE("it quotes the beginning of the password later") {
        peer.on_command = [](auto& link, const words& command) {
            link.say(command[0] == "AUTH"
                         ? "+OK\r\n"
                         : "-ERR unknown command `x`, with args beginning with: `secre`\r\n");
        };
    }
    SUBCASE("it quotes the password unasked") {
        peer.on_command = [](auto& link, const words&) {
            link.say("+OK\r\n+OK\r\n-ERR secret\r\n");
        };
    }
    opened = !open();
    CHECK(until([&] { return ended.has_value(); }));
    INFO(reason);
    CHECK(reason.find("secr") == std::string::npos);
    CHECK(reason.find("server") != std::string::npos);
}

TEST_CASE("an error in reply to AUTH or SELECT says what to do") {
    struct refusal {
        std::string said, shown;
        ending how = ending::refused;
        bool has_password = true;
    };
    const std::string no_password = "AUTH: the server has no password";
    for (const auto& [said, shown, how, has_password] : std::initializer_list<refusal>{
             {"WRONGPASS invalid username-password pair or user is disabled.",
              "AUTH: WRONGPASS invalid username-password pair or user is disabled."},
             {"ERR AUTH <password> called without any password configured for the default user. "
              "Are you sure your configuration is correct?",
              no_password},
             {"ERR Client sent AUTH, but no password is set", no_password},
             {"ERR wrong number of arguments for 'auth' command", "AUTH: ERR"},
             {"ERR max number of clients reached", "AUTH: ERR max number of clients reached",
              ending::lost},
             {"ERR DB index is out of range", "SELECT: ERR DB index is out of range",
              ending::refused, false},
             {"LOADING Redis is loading", "SELECT: LOADING Redis is loading", ending::lost, false},
         }) {
        connection_harness one;
        if (has_password) one.place.password = "secret";
        one.place.database = 99;
        one.answer_with("-" + said + "\r\n");
        CHECK_FALSE(one.open());
        CHECK(one.reason == "the server refuses " + shown);
        CHECK(one.ended == how);
    }
}

TEST_CASE_FIXTURE(connection_harness, "a server that closes a connection without a word may want "
                                      "TLS, or be none") {
    place.password = "secret";
    peer.on_command = [](auto& link, const auto&) { link.close(); };
    CHECK_FALSE(open());
    CHECK(reason == "the server has closed the connection without a word: its port expects TLS "
                    "(rediss://), or no Redis server is there");
}

TEST_CASE_FIXTURE(connection_harness, "what no server says ends the connection, and open commands "
                                      "are told that their outcome is unknown") {
    std::string expected;
    REQUIRE(open());
    SUBCASE("garbage") {
        answer_with("HTTP/1.1 400 Bad Request\r\n\r\n");
        expected = "the server has sent a reply that is not of the Redis protocol";
    }
    SUBCASE("a list of a billion items") {
        answer_with("*1000000000\r\n");
        expected = "the server has sent a reply that has a list of an impossible size";
    }
    SUBCASE("a line without end") {
        answer_with("+" + std::string(200'000, 'x'));
        expected = "the server has sent a reply that is larger than 64 KiB";
    }
    SUBCASE("it closes in the middle of a reply") {
        peer.on_command = [](auto& link, const auto&) {
            link.say("$100\r\nabc");
            link.close();
        };
        expected = "the server has closed the connection";
    }
    SUBCASE("one reply too many") {
        answer_with("+a\r\n+b\r\n+c\r\n");
        expected = "the server has sent a reply to no command";
    }
    SUBCASE("an error that nothing has caused") {
        answer_with("+a\r\n+b\r\n-ERR closing\r\n");
        expected = "the server says: ERR closing";
    }
    send({"GET", "x"});
    send({"GET", "y"});
    CHECK(until([&] { return ended.has_value(); }));
    CHECK(ended == ending::lost);
    CHECK(reason == expected);
    CHECK(replies.size() == 2);
    CHECK(replies[1] == (replies[0] == "a" ? "b" : "?"));
    CHECK_FALSE(send({"GET", "x"}));
}

TEST_CASE_FIXTURE(connection_harness, "messages of a subscriber stand between replies") {
    peer.on_command = [&](auto& link, const words& command) {
        if (command[0] == "SUBSCRIBE") link.say("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n1\r\n");
        link.say(peer.healthy(link, command));
        link.say("*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$1\r\n1\r\n");
    };
    REQUIRE(open(connection::kind::subscriber));
    send({"SUBSCRIBE", "a"});
    send({"PING"});
    send({"UNSUBSCRIBE", "a"});
    CHECK(until([&] { return messages.size() == 4; }));
    CHECK(messages == words{"a", "b", "b", "b"});
    CHECK(replies.size() == 3);
    messages.clear();
    when_message = [&] { subject.reset(); };
    send({"PING"});
    CHECK(until([&] { return !subject; }));
    CHECK(replies.size() == 4);
}

TEST_CASE_FIXTURE(connection_harness,
                  "a server that takes no bytes costs no more than the budget") {
    limits.unsent_bytes = 100'000;
    peer.on_command = [](auto&, const auto&) {};
    REQUIRE(open());
    std::size_t bytes = 0;
    const std::string large(10'000, 'x');
    SUBCASE("in one turn") {
        while (send({"ECHO", large}))
            bytes += large.size();
        CHECK(bytes <= limits.unsent_bytes);
        CHECK(bytes >= limits.unsent_bytes * 8 / 10);
        CHECK(replies.empty());
        CHECK(until([&] { return send({"ECHO", large}); }));
    }
    CHECK_FALSE(send({"ECHO", std::string(100'000, 'x')}));
    CHECK(send({"ECHO", "x"}));
    CHECK_FALSE(ended);
}

TEST_CASE_FIXTURE(connection_harness, "a server that does not answer is given up, once") {
    limits.answer = 100ms;
    peer.on_command = [](auto&, const auto&) {};
    REQUIRE(open());
    const auto begun = env->now();
    send({"GET", "x"});
    CHECK(until([&] { return ended.has_value(); }));
    CHECK(env->now() - begun >= limits.answer);
    CHECK(reason == "the server has not answered for 100 ms");
    CHECK(replies == words{"?"});
    run_for(io, 300ms);
    CHECK(replies.size() == 1);
}

TEST_CASE_FIXTURE(connection_harness, "the addresses of a name are tried in their order") {
    // localhost has 127.0.0.1, and mostly ::1, where no server listens.
    place.host = "localhost";
    SUBCASE("a server") {
        CHECK(open());
        CHECK(until([&] { return peer.links.size() == 1; }));
    }
    SUBCASE("none") {
        reserved_port silent;
        connect(silent.number());
        CHECK(until([&] { return ended.has_value(); }));
        CHECK(reason.find(" cannot be reached: Connection refused") != std::string::npos);
        CHECK(ended == ending::lost);
    }
    SUBCASE("no address") {
        place.host = "no-such-host.invalid";
        connect(peer.port());
        CHECK(run_until(
            io, [&] { return ended.has_value(); }, 30s));
        CHECK(reason.find("the name no-such-host.invalid has no address: ") == 0);
    }
    SUBCASE("a number that is no address") {
        place.host = "1.2.3";
        connect(peer.port());
        CHECK(until([&] { return ended.has_value(); }));
        CHECK(reason == "1.2.3 cannot be reached: Invalid argument");
    }
}

TEST_CASE_FIXTURE(connection_harness, "every callback may destroy the connection") {
    const auto destroy = [&] { subject.reset(); };
    SUBCASE("when it opens") {
        when_open = destroy;
        connect(peer.port());
    }
    SUBCASE("when it opens behind AUTH") {
        place.password = "secret";
        when_open = destroy;
        connect(peer.port());
    }
    SUBCASE("when it ends") {
        when_ended = destroy;
        REQUIRE(open());
        send({"GET", "x"});
        send({"GET", "y"});
        peer.on_command = [](auto& link, const auto&) { link.close(); };
    }
    SUBCASE("when a command is answered") {
        REQUIRE(open());
        subject->send({"GET", "x"}, [&](auto&&...) { subject.reset(); });
        send({"GET", "y"});
    }
    SUBCASE("when a command's outcome is unknown") {
        REQUIRE(open());
        subject->send({"GET", "x"}, [&](auto&&...) { subject.reset(); });
        send({"GET", "y"});
        peer.on_command = [](auto& link, const auto&) { link.close(); };
    }
    SUBCASE("while it connects") {
        connect(peer.port());
        subject.reset();
    }
    SUBCASE("while it looks up the name") {
        place.host = "localhost";
        connect(peer.port());
        subject.reset();
    }
    SUBCASE("with commands that are not written yet") {
        REQUIRE(open());
        send({"GET", "x"});
        subject->give_up(ending::lost, "enough");
        subject.reset();
    }
    CHECK(until([&] { return !subject; }));
    run_for(io, 20ms);
    CHECK(replies.empty());
}

TEST_CASE_FIXTURE(connection_harness, "a connection that is given up takes no reply any more") {
    REQUIRE(open());
    subject->send({"GET", "x"}, [&](auto&&...) { subject->give_up(ending::refused, "enough"); });
    send({"GET", "y"});
    CHECK(until([&] { return ended.has_value(); }));
    CHECK(reason == "enough");
    CHECK(ended == ending::refused);
    CHECK(replies == words{"?"});
}

TEST_CASE_FIXTURE(connection_harness, "a real server that is paused, and one that is killed") {
    redis_server real;
    limits.answer = 200ms;
    limits.silence = 50ms;
    connect(real.port());
    REQUIRE(until([&] { return opened; }));
    send({"SET", "x", "1"});
    send({"GET", "x"});
    CHECK(until([&] { return replies == words{"OK", "1"}; }));
    run_for(io, 200ms); // PINGs are answered
    CHECK_FALSE(ended);
    SUBCASE("paused: the PING is not answered") {
        real.pause();
        CHECK(until([&] { return ended.has_value(); }));
        CHECK(reason == "the server has not answered for 200 ms");
        real.resume();
    }
    SUBCASE("killed") {
        real.kill();
        CHECK(until([&] { return ended.has_value(); }));
        CHECK((reason == "the server has closed the connection" ||
               reason.find("the connection is broken: ") == 0));
    }
}
