// When a connection to a Redis server speaks, waits and gives up, in virtual time.

#include "redis/connection/connection.hpp"
#include "support/fake_environment.hpp"
#include "support/fake_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using redis::connection;
using redis::ending;

namespace {

const std::string ping = "*1\r\n$4\r\nPING\r\n";

struct stage : connection::user {
    void on_open() override { opened = true; }
    void on_message(const std::string&, const std::string&) override {}
    void on_end(ending, const std::string& why) override {
        CHECK_FALSE(ended);
        ended = true;
        reason = why;
    }

    void begin(std::string host = "10.0.0.1") {
        redis::rules::server place;
        place.host = std::move(host);
        subject.emplace(env, place, connection::kind::commands, limits, *this);
        env.run();
    }
    void open() {
        begin();
        network.accept();
        env.run();
        REQUIRE(opened);
    }
    bool send(std::string word) {
        return subject->send({std::move(word)}, [this](const auto& said, auto sent) {
            ++(said ? answered : unknown);
            sent_at = sent;
        });
    }

    fake_environment env;
    fake_network network{env};
    redis::connection_limits limits;
    std::optional<connection> subject;
    bool opened = false, ended = false;
    std::string reason;
    int answered = 0, unknown = 0;
    boot_clock::time_point sent_at{};
};

} // namespace

TEST_CASE_FIXTURE(stage, "each address of a name has its time, in the resolver's order") {
    env.names["redis"] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
    begin("redis");
    REQUIRE(network.links.size() == 1);
    CHECK(network.last().address == "10.0.0.1");
    CHECK(network.last().port == 6379);
    env.advance(limits.connect - 1ms);
    CHECK(network.links.size() == 1);
    env.advance(1ms);
    REQUIRE(network.links.size() == 2);
    CHECK_FALSE(network.links[0]->open);
    CHECK(network.last().address == "10.0.0.2");
    network.accept(boost::asio::error::connection_refused);
    env.run();
    REQUIRE(network.links.size() == 3);
    SUBCASE("the last one answers") {
        network.accept();
        env.run();
        CHECK(opened);
    }
    SUBCASE("none answers") {
        env.advance(limits.connect);
        CHECK(reason == "10.0.0.3 cannot be reached: Connection timed out");
        CHECK_FALSE(network.last().open);
    }
    env.advance(limits.connect * 2);
    CHECK(network.links.size() == 3);
}

TEST_CASE_FIXTURE(stage, "a name without an address, and a look-up that comes too late") {
    SUBCASE("unknown") {
        begin("redis");
        CHECK(reason.find("the name redis has no address: Host not found") == 0);
    }
    SUBCASE("empty") {
        env.names["redis"] = {};
        begin("redis");
        CHECK(reason == "the name redis has no address: none is known");
    }
    SUBCASE("late") {
        env.names["redis"] = {"10.0.0.1"};
        env.resolve_time = 1h; // there is no limit but the resolver's
        begin("redis");
        env.advance(59min);
        CHECK_FALSE(ended);
        subject.reset();
        env.advance(2min);
        CHECK(network.links.empty());
    }
    CHECK(env.asked.size() == 1);
}

TEST_CASE_FIXTURE(stage,
                  "an idle connection is asked with PING, and ends when that is not answered") {
    open();
    for (int n = 0; n < 3; ++n) {
        env.advance(limits.silence - 1ms);
        CHECK(network.taken().empty());
        env.advance(1ms);
        CHECK(network.taken() == ping);
        network.say("+PONG\r\n");
        env.run();
    }
    env.advance(limits.silence);
    CHECK(network.taken() == ping);
    env.advance(limits.answer);
    CHECK_FALSE(ended);
    env.advance(100ms); // the answer may have waited in the system's buffer
    CHECK(ended);
    CHECK(reason == "the server has not answered for 4000 ms");
    CHECK_FALSE(network.last().open);
    CHECK(env.armed() == 0);
}

TEST_CASE_FIXTURE(stage, "a command without a reply does not arrive after the connection's end") {
    open();
    SUBCASE("with one") {
        send("A");
        network.break_off();
        env.run();
        CHECK(ended);
        CHECK(network.last().aborted);
    }
    SUBCASE("without one") {
        network.break_off();
        env.run();
        CHECK(ended);
        CHECK_FALSE(network.last().aborted);
    }
    SUBCASE("the last commands of a client that is destroyed") {
        send("A");
        subject.reset();
        CHECK_FALSE(network.last().aborted);
    }
}

TEST_CASE_FIXTURE(stage, "a late reply is not missed when the event loop was stuck") {
    open();
    send("GET");
    env.run();
    env.stall(limits.answer * 3);
    SUBCASE("it has arrived meanwhile") {
        env.advance(0ms); // the timer is first
        network.say("+x\r\n");
        env.run();
        CHECK(answered == 1);
        env.advance(limits.silence - 1ms);
        CHECK_FALSE(ended);
        CHECK(network.taken().find(ping) == std::string::npos);
    }
    SUBCASE("it arrives in pieces") {
        env.advance(0ms);
        network.say("$1\r\n");
        env.advance(50ms);
        network.say("x\r\n");
        env.run();
        CHECK(answered == 1);
        CHECK_FALSE(ended);
    }
    SUBCASE("it has not") {
        env.advance(100ms);
        CHECK(ended);
        CHECK(unknown == 1);
    }
}

TEST_CASE_FIXTURE(stage, "a reply in small pieces has no more time than others") {
    open();
    send("GET");
    env.run();
    network.say("$1000\r\n");
    for (int n = 0; n < 500 && !ended; ++n) {
        network.say("x");
        env.advance(50ms);
    }
    CHECK(ended);
    CHECK(env.now() - sent_at <= limits.answer + 150ms);
}

TEST_CASE_FIXTURE(stage, "commands wait for the write in flight, and then leave together") {
    open();
    network.last().takes_bytes = false;
    send("ONE");
    CHECK(network.last().writes.size() == 1); // the server has nothing to do
    const auto begun = env.now();
    send("TWO");
    env.advance(1s);
    send("THREE");
    env.run();
    CHECK(network.last().writes.size() == 1);
    network.let_write_end();
    env.run();
    CHECK(network.last().writes.size() == 2);
    network.say("+1\r\n");
    env.run();
    CHECK(sent_at == begun);
    network.say("+2\r\n");
    env.run();
    CHECK(sent_at == begun + 1s); // it left only then
    network.say("+3\r\n");
    env.run();
    CHECK(answered == 3);
}

TEST_CASE_FIXTURE(stage, "bytes of a write in flight count in the budget") {
    limits.unsent_bytes = 1000;
    open();
    network.last().takes_bytes = false;
    CHECK(send(std::string(600, 'x')));
    env.run();
    REQUIRE(network.last().writes.size() == 1);
    CHECK(send(std::string(100, 'x')));
    CHECK_FALSE(send(std::string(400, 'x')));
    CHECK(unknown == 0);
    network.let_write_end();
    env.run();
    CHECK(send(std::string(400, 'x')));
    network.let_write_end(boost::asio::error::broken_pipe);
    env.run();
    CHECK(reason == "the connection is broken: Broken pipe");
    CHECK(unknown == 3);
}

TEST_CASE_FIXTURE(stage, "a reply to a command that is not sent yet is none") {
    open();
    network.say("+x\r\n");
    env.run();
    CHECK(reason == "the server has sent a reply to no command");
}

TEST_CASE_FIXTURE(stage, "a server that takes TLS connections only is named as such") {
    open();
    CHECK(send("x"));
    network.say(std::string_view("\x15\x03\x01\x00\x02\x02\x46", 7));
    env.run();
    CHECK(reason == "the server takes TLS connections only (its tls-port): see rediss://");
}
