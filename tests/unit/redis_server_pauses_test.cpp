// When a client of one Redis server connects again, and what it thinks of the server, in virtual
// time.

#include "redis/connection/server.hpp"
#include "redis/connection/subscriptions.hpp"
#include "support/fake_environment.hpp"
#include "support/fake_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

const std::string ping = "*1\r\n$4\r\nPING\r\n";

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
                section == "server" ? "redis_version:7\r\nrole:master\r\nrun_id:" + run_id + "\r\n"
                                    : "x\r\n";
            network.say("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
        }
        network.say("*0\r\n+OK\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n");
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
    std::string run_id = "one";
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
    const bool lasted = lasts == 1s;
    while (!network.last().connected)
        env.advance(1ms);
    become_reachable();
    REQUIRE(up == 1);
    pass(lasts);
    CHECK(subject->reachable());
    network.break_off();
    env.run();
    CHECK(ends.size() == (lasted ? 15 : 16)); // an idle connection is opened again at once
    if (lasted) network.accept(boost::asio::error::connection_refused);
    env.run();
    CHECK(ends.size() == 16);
    const auto pause = next_pause();
    CHECK(pause >= least);
    CHECK(pause <= most);
}

TEST_CASE_FIXTURE(server_stage, "an idle connection that the server closes is no outage") {
    subject.emplace(env, place, redis::rules::deployment{}, redis::connection_limits{}, *this);
    become_reachable();
    pass(1s);
    network.taken();
    network.break_off(); // its option `timeout` is 1
    env.run();
    std::vector<std::optional<redis::rules::answer>> said;
    const auto call = [&] {
        subject->call(redis::rules::script::release,
                      redis::rules::release_words(redis::rules::lock_keys("a"), "value", true), {},
                      [&](auto answer, auto) { said.push_back(std::move(answer)); });
        env.run();
    };
    call();
    CHECK(subject->reachable());
    CHECK(ends.empty());
    SUBCASE("it is back") {
        become_reachable();
        CHECK(up == 1); // which is nothing new
        CHECK(network.taken().find("EVALSHA") != std::string::npos);
        CHECK(said.empty());
        network.say("*1\r\n$4\r\ngone\r\n");
        env.run();
        REQUIRE(said.size() == 1);
        CHECK(said[0].has_value());
    }
    SUBCASE("another process is there") {
        run_id = "another";
        become_reachable();
        env.run();
        REQUIRE(said.size() == 1);
        CHECK_FALSE(said[0].has_value());
        CHECK(ends.size() == 1);
        CHECK_FALSE(subject->reachable());
    }
    SUBCASE("it is away") {
        network.accept(boost::asio::error::connection_refused);
        env.run();
        REQUIRE(said.size() == 1);
        CHECK_FALSE(said[0].has_value());
        CHECK(ends.size() == 1);
        CHECK_FALSE(subject->reachable());
        call();
        CHECK(said.size() == 2);
    }
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
