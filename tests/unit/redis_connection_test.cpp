// When a connection to a Redis server speaks, waits and gives up, in virtual time.

#include "redis/connection/connection.hpp"
#include "redis/connection/server.hpp"
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

// --- server ---

namespace {

struct server_stage : redis::server_listener {
    void on_clock(boot_clock::time_point, std::chrono::microseconds) override {}
    void on_reachable() override { ++up; }
    void on_unreachable(const std::string& why) override {
        ends.push_back(env.now());
        reason = why;
    }
    void on_refused(const std::string&) override { ends.push_back(env.now()); }
    void on_mismatch(const std::string&) override {}
    void on_subscribed(const std::string&) override { ++subscribed; }
    void on_message(const std::string&, const std::string&) override {}
    void on_subscription_refused(const std::string&, const std::string&) override {}
    void on_messages_lost(const std::string&) override {}

    /// The pause until the next attempt, which the test makes fail.
    boot_clock::duration next_pause() {
        const auto links = network.links.size();
        const auto since = env.now();
        while (network.links.size() == links && env.now() - since < 1min)
            env.advance(1ms);
        const auto pause = env.now() - since;
        network.accept(boost::asio::error::connection_refused);
        env.run();
        return pause;
    }
    void become_reachable() {
        network.accept();
        env.run();
        for (const auto section : redis::rules::server_info::sections) {
            const std::string text =
                section == "server" ? "redis_version:7\r\nrole:master\r\n" : "x\r\n";
            network.say("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
        }
        network.say("*0\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n");
        env.run();
    }

    /// PINGs are answered.
    void pass(boot_clock::duration time) {
        for (const auto end = env.now() + time; env.now() < end; env.run()) {
            env.advance(std::min<boot_clock::duration>(1s, end - env.now()));
            if (network.taken().ends_with(ping)) network.say("+PONG\r\n");
        }
    }

    fake_environment env;
    fake_network network{env};
    const redis::rules::server place{"10.0.0.1", 6379, {}, {}, 0};
    std::vector<boot_clock::time_point> ends;
    std::string reason;
    int up = 0, subscribed = 0;
    std::optional<redis::server> subject;
    std::optional<redis::subscriptions> messages;
};

} // namespace

TEST_CASE_FIXTURE(server_stage, "the pauses between attempts grow, and are short again when a "
                                "connection has lasted") {
    subject.emplace(env, place, redis::rules::deployment{}, redis::connection_limits{}, *this);
    network.accept(boost::asio::error::connection_refused);
    env.run();
    CHECK(next_pause() <= 100ms);
    for (int n = 0; n < 12; ++n)
        next_pause();
    const auto long_pause = next_pause();
    CHECK(long_pause >= 1s);
    CHECK(long_pause <= 2s);
    CHECK(ends.size() == 15);
    boot_clock::duration lasts = 400ms, least = 1s, most = 2s;
    SUBCASE("it breaks soon") {}
    SUBCASE("it has lasted as long as the shortest timeout of a server") {
        lasts = 1s;
        least = 0s;
        most = 100ms;
    }
    while (!network.last().connected)
        env.advance(1ms);
    become_reachable();
    REQUIRE(up == 1);
    pass(lasts);
    CHECK(subject->reachable());
    network.break_off();
    env.run();
    CHECK(ends.size() == 16);
    const auto pause = next_pause();
    CHECK(pause >= least);
    CHECK(pause <= most);
}

TEST_CASE_FIXTURE(server_stage, "a budget that is too small for the scripts is said to be") {
    redis::connection_limits limits;
    limits.unsent_bytes = 1000;
    subject.emplace(env, place, redis::rules::deployment{}, limits, *this);
    network.accept();
    env.run();
    CHECK(ends.size() == 1);
    CHECK(reason.find("the budget for bytes that wait to be sent is too small") == 0);
}

TEST_CASE_FIXTURE(server_stage, "one late answer says little of the round trip") {
    subject.emplace(env, place, redis::rules::deployment{}, redis::connection_limits{}, *this);
    CHECK(subject->round_trip() == 0ms);
    become_reachable();
    const auto call = [&](boot_clock::duration takes) {
        subject->call(redis::rules::script::release, {}, {}, [](auto&&...) {});
        env.run();
        env.advance(takes);
        network.say("*1\r\n$4\r\ngone\r\n");
        env.run();
    };
    for (int n = 0; n < 100; ++n)
        call(8ms);
    CHECK(subject->round_trip() == 8ms);
    call(88ms);
    CHECK(subject->round_trip() == 9ms);
    call(2ms);
    CHECK(subject->round_trip() == 2ms);
    env.advance(redis::connection_limits{}.silence); // a PING is asked
    env.run();
    env.advance(1ms);
    network.say("+PONG\r\n");
    env.run();
    CHECK(subject->round_trip() == 1ms);
}

TEST_CASE_FIXTURE(server_stage, "the connection for messages stays for a while without channels") {
    messages.emplace(env, place, redis::connection_limits{}, *this);
    messages->use_server(true);
    CHECK(network.links.empty());
    messages->subscribe("c");
    REQUIRE(network.links.size() == 1);
    network.accept();
    env.run();
    network.say("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    CHECK(subscribed == 0);
    env.run();
    CHECK(subscribed == 1);
    pass(1min);
    CHECK(network.last().open);
    messages->unsubscribe("c");
    env.run();
    network.say("*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n");
    pass(29s);
    CHECK(network.last().open);
    SUBCASE("and is closed then") {
        pass(2s);
        CHECK_FALSE(network.last().open);
        messages->subscribe("c");
        CHECK(network.links.size() == 2);
    }
    SUBCASE("unless there is one again") {
        messages->subscribe("c");
        env.run();
        network.say("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
        pass(1min);
        CHECK(subscribed == 2);
        CHECK(network.last().open);
    }
}
