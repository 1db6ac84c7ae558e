// One Redis server as one client uses it: real servers, in good and in bad health.

#include "redis/connection/server.hpp"
#include "support/asio_environment.hpp"
#include "support/played_redis.hpp"
#include "support/pump_harness.hpp"
#include "support/redis_caller.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <optional>

using namespace paddock;
using namespace paddock::test;
using redis::rules::answer;
using redis::rules::lock_keys;
using redis::rules::script;
using kind = answer::kind;

namespace {

constexpr redis::rules::deployment trusting{60s, 1, true};

struct server_harness : redis::server_listener {
    server_harness() { place.host = "127.0.0.1"; }

    void on_clock(boot_clock::time_point, std::chrono::microseconds) override {}
    void on_reachable() override {
        CHECK(subject->reachable());
        events += "up ";
        ++up;
        if (when_up) when_up();
    }
    void on_unreachable(const std::string& why) override {
        CHECK_FALSE(subject->reachable());
        events += "down ";
        ++down;
        reason = why;
        if (when_down) when_down();
    }
    void on_refused(const std::string& why) override {
        CHECK_FALSE(subject->reachable());
        events += "refused ";
        ++refused;
        fault = why;
        if (when_refused) when_refused();
    }
    void on_mismatch(const std::string& why) override { on_refused(why); }
    void on_subscribed(const std::string& channel) override {
        subscribed.push_back(channel);
        if (when_subscribed) when_subscribed();
    }
    void on_message(const std::string& channel, const std::string&) override {
        messages.push_back(channel);
        if (when_message) when_message();
    }
    void on_subscription_refused(const std::string& channel, const std::string& why) override {
        deaf.push_back(channel);
        fault = why;
    }
    void on_messages_lost(const std::string& why) override {
        ++lost;
        reason = why;
    }

    void use(std::uint16_t port) {
        place.port = port;
        subject.emplace(*env, place, trusting, limits, *this);
        CHECK(events.empty());
    }
    bool reach(std::uint16_t port) {
        use(port);
        return until([&] { return up == 1; });
    }
    template <class Predicate>
    bool until(Predicate predicate) {
        return run_until(io, predicate, 20s);
    }

    void call(script which, redis::rules::call_words words) {
        subject->call(
            which, std::move(words), [this] { return wanted; },
            [this, asked = env->now()](std::optional<answer> said, auto sent) {
                CHECK(sent >= asked);
                CHECK(sent <= env->now());
                last_sent = sent;
                answers.push_back(std::move(said));
            });
    }
    void acquire(const std::string& value) {
        call(script::acquire, acquire_words(keys, value, 10s, trusting));
    }
    void release(const std::string& value) {
        call(script::release, release_words(keys, value, true));
    }
    /// The kinds of the last answers, once there are so many.
    std::vector<std::optional<kind>> kinds(std::size_t count) {
        until([&] { return answers.size() >= count; });
        std::vector<std::optional<kind>> out;
        for (const auto& one : answers)
            out.push_back(one ? std::optional(one->what) : std::nullopt);
        answers.clear();
        return out;
    }
    using expected = std::vector<std::optional<kind>>;

    asio::io_context io{1};
    std::unique_ptr<environment> env =
        make_asio_environment(asio::make_strand(asio::any_io_executor(io.get_executor())));
    redis::rules::server place;
    redis::connection_limits limits;
    std::optional<redis::server> subject;
    lock_keys keys{"lock"};
    bool wanted = true;
    int up = 0, down = 0, refused = 0, lost = 0;
    std::string events, reason, fault;
    std::vector<std::string> subscribed, messages, deaf;
    std::vector<std::optional<answer>> answers;
    boot_clock::time_point last_sent{};
    std::function<void()> when_up, when_down, when_refused, when_subscribed, when_message;
};

struct real_harness : server_harness {
    explicit real_harness(std::vector<std::string> arguments = {}) : real(std::move(arguments)) {}

    redis_server real;
};

} // namespace

TEST_CASE_FIXTURE(real_harness, "scripts are called in their order") {
    use(real.port());
    CHECK_FALSE(subject->reachable());
    acquire("early");
    CHECK(answers.empty());
    CHECK(kinds(1) == expected{std::nullopt});
    CHECK(until([&] { return up == 1; }));
    CHECK(subject->run_id().size() == 40);
    CHECK(subject->round_trip() > 0ms);
    for (int n = 0; n < 3; ++n) {
        acquire("v");
        acquire("w");
        release("v");
    }
    CHECK(answers.empty());
    const expected round{kind::granted, kind::taken, kind::released};
    expected all;
    for (int n = 0; n < 3; ++n)
        all.insert(all.end(), round.begin(), round.end());
    CHECK(kinds(9) == all);
    CHECK(events == "up ");
    CHECK(subject->round_trip() < scaled(1s));
}

TEST_CASE_FIXTURE(real_harness,
                  "a script that the server has forgotten is sent again if it is still "
                  "wanted, with its first time") {
    REQUIRE(reach(real.port()));
    redis_caller admin(real.port());
    admin({"SCRIPT", "FLUSH"});
    SUBCASE("wanted") {
        const auto before = env->now();
        acquire("v");
        CHECK(kinds(1) == expected{kind::granted});
        CHECK(last_sent - before < scaled(1s));
        CHECK(admin({"GET", "lock"}).text == "v");
        release("v");
        CHECK(kinds(1) == expected{kind::released});
    }
    SUBCASE("not wanted") {
        wanted = false;
        acquire("v");
        CHECK(kinds(1) == expected{kind::unknown_script});
        CHECK(admin({"GET", "lock"}).what == redis::rules::reply::kind::nothing);
    }
    SUBCASE("the order stays") {
        acquire("v");
        release("v");
        acquire("w");
        CHECK(kinds(3) == expected{kind::granted, kind::released, kind::granted});
    }
    SUBCASE("the server object is destroyed when it asks") {
        bool asked = false;
        subject->call(
            script::release, release_words(keys, "v", true),
            [&] {
                subject.reset();
                return asked = true;
            },
            [&](auto&&...) { FAIL_CHECK("called"); });
        CHECK(until([&] { return asked; }));
    }
}

TEST_CASE_FIXTURE(server_harness, "the time of a script that was sent twice is that of the first") {
    played_redis peer(io);
    boot_clock::time_point evaluated{};
    peer.on_command = [&](auto& link, const auto& command) {
        if (command[0] == "EVALSHA") {
            run_for(io, 30ms);
            return link.say("-NOSCRIPT No matching script. Please use EVAL.\r\n");
        }
        if (command[0] == "EVAL") evaluated = env->now();
        link.say(peer.healthy(link, command));
    };
    REQUIRE(reach(peer.port()));
    release("v");
    CHECK(kinds(1) == expected{kind::gone});
    CHECK(last_sent + 30ms <= evaluated);
}

TEST_CASE_FIXTURE(real_harness, "a server that is killed is reached again when it is back") {
    REQUIRE(reach(real.port()));
    const auto run_id = subject->run_id();
    real.kill();
    acquire("v");
    CHECK(kinds(1) == expected{std::nullopt});
    CHECK(until([&] { return down >= 2; }));
    CHECK(reason.find("127.0.0.1 cannot be reached") == 0);
    acquire("v");
    CHECK(answers.empty());
    CHECK(kinds(1) == expected{std::nullopt});
    real.start();
    CHECK(until([&] { return up == 2; }));
    CHECK(subject->run_id() != run_id);
    acquire("v");
    CHECK(kinds(1) == expected{kind::granted});
}

TEST_CASE_FIXTURE(real_harness, "a server that is paused is noticed, also without a call") {
    limits.answer = scaled(200ms);
    limits.silence = 100ms;
    REQUIRE(reach(real.port()));
    real.pause();
    SUBCASE("idle") {
        CHECK(until([&] { return down >= 1; }));
    }
    SUBCASE("with a call") {
        acquire("v");
        CHECK(kinds(1) == expected{std::nullopt});
    }
    CHECK_FALSE(subject->reachable());
    CHECK(reason.find("has not answered for") != std::string::npos);
    real.resume();
    CHECK(until([&] { return up == 2; }));
}

TEST_CASE_FIXTURE(real_harness, "a server that delays its clients is given up after the limit") {
    limits.answer = scaled(200ms);
    REQUIRE(reach(real.port()));
    redis_caller admin(real.port());
    admin({"CLIENT", "PAUSE", std::to_string(scaled(700ms).count()), "ALL"});
    acquire("v");
    CHECK(kinds(1) == expected{std::nullopt});
    CHECK(until([&] { return up == 2; }));
}

TEST_CASE("a server that must not be used is refused, and tried again") {
    std::vector<std::string> arguments;
    std::string expected;
    std::vector<std::string> remedy;
    SUBCASE("a cluster") {
        arguments = {"--cluster-enabled", "yes"};
        expected = "part of a Redis cluster";
    }
    SUBCASE("an eviction policy") {
        arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"};
        expected = "maxmemory with the policy 'allkeys-lru'";
        remedy = {"CONFIG", "SET", "maxmemory-policy", "noeviction"};
    }
    SUBCASE("a replica") {
        arguments = {"--replicaof", "127.0.0.1 1"};
        expected = "role is 'slave'";
        remedy = {"REPLICAOF", "NO", "ONE"};
    }
    real_harness one(arguments);
    one.use(one.real.port());
    CHECK(one.until([&] { return one.refused == 2; }));
    CHECK(one.fault.find(expected) != std::string::npos);
    CHECK(one.events == "refused refused ");
    CHECK_FALSE(one.subject->reachable());
    if (remedy.empty()) return;
    redis_caller admin(one.real.port());
    admin(remedy);
    CHECK(one.until([&] { return one.up == 1; }));
}

TEST_CASE_FIXTURE(real_harness, "a master that becomes a replica is away until it is one again") {
    REQUIRE(reach(real.port()));
    redis_caller admin(real.port());
    admin({"REPLICAOF", "127.0.0.1", "1"});
    acquire("v");
    CHECK(kinds(1) == expected{kind::refused});
    CHECK(until([&] { return down == 1; }));
    CHECK(reason.find("role is 'slave'") != std::string::npos);
    CHECK(refused == 0);
    admin({"REPLICAOF", "NO", "ONE"});
    CHECK(until([&] { return up == 2; }));
}

TEST_CASE("credentials that the server refuses, and those that it takes") {
    real_harness one({"--requirepass", "secret1"});
    redis_caller admin(one.real.port());
    admin({"AUTH", "secret1"});
    std::string expected;
    SUBCASE("none") { expected = "the server refuses INFO: NOAUTH Authentication required."; }
    SUBCASE("a wrong one") {
        one.place.password = "secret2";
        expected = "the server refuses AUTH: WRONGPASS invalid username-password pair";
    }
    SUBCASE("of a user without rights") {
        admin({"ACL", "SETUSER", "bob", "on", ">secret2", "~*", "+auth"});
        one.place.user = "bob";
        one.place.password = "secret2";
        expected = "the server refuses INFO: NOPERM this user has no permissions to run the 'info'";
    }
    SUBCASE("of a user who must not load scripts") {
        admin({"ACL", "SETUSER", "bob", "on", ">secret2", "~*", "+@all", "-script"});
        one.place.user = "bob";
        one.place.password = "secret2";
        expected = "the server refuses SCRIPT LOAD: NOPERM this user has no permissions to run the";
    }
    SUBCASE("the right one") { one.place.password = "secret1"; }
    SUBCASE("of a user with the rights that are needed") {
        admin({"ACL",        "SETUSER",      "bob",          "on",       ">secret2", "~*",
               "&*",         "+info",        "+script|load", "+evalsha", "+eval",    "+ping",
               "+subscribe", "+unsubscribe", "+time",        "+hmget",   "+hset",    "+get",
               "+set",       "+del",         "+pttl",        "+pexpire", "+publish", "+append"});
        one.place.user = "bob";
        one.place.password = "secret2";
    }
    one.use(one.real.port());
    if (expected.empty()) {
        one.subject->subscribe("c");
        CHECK(one.until([&] { return one.up == 1 && one.subscribed.size() == 1; }));
        one.acquire("v");
        CHECK(one.kinds(1) == server_harness::expected{kind::granted});
        return;
    }
    CHECK(one.until([&] { return one.refused == 1; }));
    CHECK(one.fault.find(expected) == 0);
    CHECK(one.fault.find("secret") == std::string::npos);
    // The user gets all rights.
    admin(
        {"CONFIG", "SET", "requirepass", one.place.user.empty() ? one.place.password : "secret1"});
    admin({"ACL", "SETUSER", "bob", "+@all"});
    CHECK(one.until([&] { return one.up == 1; }));
}

TEST_CASE_FIXTURE(server_harness, "a server that still loads its data is asked again") {
    played_redis peer(io);
    int loading = 2;
    peer.on_command = [&](auto& link, const auto& command) {
        if (command[0] == "INFO" && command[1] == "persistence" && loading-- > 0)
            return link.say("$9\r\nloading:1\r\n");
        link.say(peer.healthy(link, command));
    };
    CHECK(reach(peer.port()));
    CHECK(events == "down down up ");
    CHECK(reason == "the server still loads its data");
}

TEST_CASE_FIXTURE(server_harness, "every callback may destroy the server") {
    played_redis peer(io);
    const auto destroy = [&] { subject.reset(); };
    SUBCASE("reachable") { when_up = destroy; }
    SUBCASE("unreachable") {
        when_down = destroy;
        peer.on_command = [](auto& link, const auto&) { link.close(); };
    }
    SUBCASE("refused") {
        when_refused = destroy;
        peer.on_command = [](auto& link, const auto&) { link.say("-NOAUTH who are you\r\n"); };
    }
    SUBCASE("subscribed") { when_subscribed = destroy; }
    SUBCASE("a message") {
        when_message = destroy;
        when_subscribed = [&] {
            peer.links.back()->say("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n1\r\n");
        };
    }
    SUBCASE("a call that failed") {
        use(peer.port());
        subject->call(script::release, {}, {}, [&](auto&&...) { subject.reset(); });
        CHECK(until([&] { return !subject; }));
        return;
    }
    SUBCASE("a call") {
        when_up = [&] {
            subject->call(script::release, {}, {}, [&](auto&&...) { subject.reset(); });
        };
    }
    use(peer.port());
    subject->subscribe("c");
    CHECK(until([&] { return !subject; }));
    io.restart();
    io.poll();
}
