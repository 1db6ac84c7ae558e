// The messages of a Redis server's channels, while their connection comes and goes.

#include "redis/connection/subscriptions.hpp"
#include "support/asio_environment.hpp"
#include "support/played_redis.hpp"
#include "support/pump_harness.hpp"
#include "support/redis_caller.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <optional>
#include <set>

using namespace paddock;
using namespace paddock::test;

namespace {

using names = std::vector<std::string>;

struct listener : redis::server_listener {
    void on_clock(boot_clock::time_point, std::chrono::microseconds) override {}
    void on_reachable() override {}
    void on_unreachable(const std::string&) override {}
    void on_refused(const std::string&) override {}
    void on_mismatch(const std::string&) override {}
    void on_subscribed(const std::string& channel) override { subscribed.push_back(channel); }
    void on_message(const std::string& channel, const std::string&) override {
        messages.push_back(channel);
    }
    void on_subscription_refused(const std::string& channel, const std::string& why) override {
        refused.push_back(channel);
        reason = why;
    }
    void on_messages_lost(const std::string& why) override {
        ++lost;
        reason = why;
    }

    names subscribed, messages, refused;
    std::string reason;
    int lost = 0;
};

struct messages_harness : listener {
    messages_harness() { place.host = "127.0.0.1"; }

    void use(std::uint16_t port) {
        place.port = port;
        subject.emplace(*env, place, limits, *this);
        subject->use_server(true);
    }
    template <class Predicate>
    bool until(Predicate predicate) {
        return run_until(io, predicate, 20s);
    }
    bool until_subscribed(std::size_t count) {
        return until([&] { return subscribed.size() >= count; }) && subscribed.size() == count;
    }

    asio::io_context io{1};
    std::unique_ptr<environment> env =
        make_asio_environment(asio::make_strand(asio::any_io_executor(io.get_executor())));
    redis::rules::server place;
    redis::connection_limits limits;
    std::optional<redis::subscriptions> subject;
};

struct real_harness : messages_harness {
    real_harness() { use(real.port()); }

    /// How many clients got the message.
    std::int64_t publish(const std::string& channel) {
        return admin({"PUBLISH", channel, "free"}).number;
    }
    std::size_t subscribers() {
        const auto text = admin({"CLIENT", "LIST", "TYPE", "pubsub"}).text;
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }

    redis_server real;
    redis_caller admin{real.port()};
};

struct played_harness : messages_harness {
    played_harness() { use(peer.port()); }

    played_redis peer{io};
};

} // namespace

TEST_CASE_FIXTURE(real_harness, "messages of the channels that are subscribed, and of no other") {
    subject->subscribe("a");
    subject->subscribe("b");
    CHECK(subscribed.empty());
    CHECK(until_subscribed(2));
    CHECK(publish("a") == 1);
    CHECK(publish("c") == 0);
    CHECK(publish("b") == 1);
    CHECK(until([&] { return messages == names{"a", "b"}; }));
    subject->unsubscribe("a");
    CHECK(until([&] { return publish("a") == 0; }));
    CHECK(publish("b") == 1);
    CHECK(until([&] { return messages.back() == "b" && messages.size() >= 3; }));
    subject->subscribe("b"); // once more: it is told at once
    CHECK(subscribed.size() == 2);
    CHECK(until_subscribed(3));
    CHECK(subscribers() == 1);
}

TEST_CASE_FIXTURE(real_harness, "a subscriber without channels has no connection at first") {
    run_for(io, 50ms);
    CHECK(subscribers() == 0);
    subject->unsubscribe("a");
    subject->subscribe("a");
    subject->unsubscribe("a");
    subject->subscribe("b");
    CHECK(until_subscribed(1));
    CHECK(subscribed == names{"b"});
}

TEST_CASE_FIXTURE(real_harness, "after its connection was killed it subscribes everything again") {
    constexpr std::size_t many = 500;
    for (std::size_t n = 0; n < many; ++n)
        subject->subscribe("channel" + std::to_string(n));
    CHECK(until_subscribed(many));
    CHECK(admin({"CLIENT", "KILL", "TYPE", "pubsub"}).number == 1);
    subject->unsubscribe("channel7");
    CHECK(until([&] { return lost == 1; }));
    CHECK(reason == "the server has closed the connection");
    subject->unsubscribe("channel8");
    CHECK(until_subscribed(many + many - 2));
    CHECK(std::set(subscribed.begin(), subscribed.end()).size() == many);
    CHECK(publish("channel7") == 0);
    CHECK(publish("channel8") == 0);
    CHECK(publish("channel9") == 1);
    CHECK(until([&] { return messages == names{"channel9"}; }));
}

TEST_CASE_FIXTURE(real_harness, "while the server cannot be used it is not connected to") {
    subject->subscribe("a");
    CHECK(until_subscribed(1));
    subject->use_server(false);
    admin({"CLIENT", "KILL", "TYPE", "pubsub"});
    CHECK(until([&] { return lost == 1; }));
    run_for(io, 250ms); // longer than the first pause
    CHECK(subscribed.size() == 1);
    subject->use_server(true);
    CHECK(until_subscribed(2));
}

TEST_CASE_FIXTURE(real_harness, "a half-open connection is noticed") {
    limits.answer = scaled(200ms);
    limits.silence = 100ms;
    use(real.port());
    subject->subscribe("a");
    CHECK(until_subscribed(1));
    run_for(io, 250ms); // PINGs of a subscriber are answered
    CHECK(lost == 0);
    real.pause();
    CHECK(until([&] { return lost == 1; }));
    real.resume();
    CHECK(until_subscribed(2));
}

TEST_CASE_FIXTURE(real_harness, "a channel that the server refuses leaves the others alone") {
    admin({"ACL", "SETUSER", "bob", "on", ">secret", "+@all", "resetchannels", "&good*"});
    place.user = "bob";
    place.password = "secret";
    use(real.port());
    subject->subscribe("good1");
    subject->subscribe("bad");
    subject->subscribe("good2");
    CHECK(until_subscribed(2));
    CHECK(subscribed == names{"good1", "good2"});
    CHECK(refused == names{"bad"});
    CHECK(reason.find("NOPERM") == 0);
    subject->unsubscribe("bad");
    subject->subscribe("bad");
    CHECK(until([&] { return refused.size() == 2; }));
    CHECK(lost == 0);
}

TEST_CASE_FIXTURE(played_harness, "subscriptions and their ends may cross their confirmations") {
    std::vector<played_redis::words> held;
    peer.on_command = [&](auto&, const auto& command) { held.push_back(command); };
    const auto confirm = [&] {
        CHECK(until([&] { return held.size() == 1; }));
        auto& link = *peer.links.back();
        link.say(peer.healthy(link, held.front()));
        return std::exchange(held, {}).front();
    };
    using words = played_redis::words;
    subject->subscribe("a");
    CHECK(until([&] { return held.size() == 1; }));
    SUBCASE("unsubscribed before the confirmation") {
        subject->unsubscribe("a");
        CHECK(confirm() == words{"SUBSCRIBE", "a"});
        CHECK(confirm() == words{"UNSUBSCRIBE", "a"});
        CHECK(subscribed.empty());
        subject->subscribe("a");
        CHECK(confirm() == words{"SUBSCRIBE", "a"});
        CHECK(until_subscribed(1));
    }
    SUBCASE("subscribed again before the confirmation") {
        subject->unsubscribe("a");
        subject->subscribe("a");
        CHECK(confirm() == words{"SUBSCRIBE", "a"});
        CHECK(until_subscribed(1));
    }
    SUBCASE("subscribed again before the end is confirmed") {
        confirm();
        CHECK(until_subscribed(1));
        subject->unsubscribe("a");
        CHECK(until([&] { return held.size() == 1; }));
        subject->subscribe("a");
        CHECK(confirm() == words{"UNSUBSCRIBE", "a"});
        CHECK(confirm() == words{"SUBSCRIBE", "a"});
        CHECK(until_subscribed(2));
    }
    SUBCASE("unsubscribed while others wait, and subscribed again") {
        for (int n = 0; n < 70; ++n) // more than are asked for at a time
            subject->subscribe("b" + std::to_string(n));
        subject->unsubscribe("b69");
        subject->subscribe("b69");
        subject->unsubscribe("b68");
        CHECK(until([&] { return held.size() == 64; }));
        peer.on_command = [&](auto& link, const auto& command) {
            link.say(peer.healthy(link, command));
        };
        for (const auto& command : std::exchange(held, {}))
            peer.links.back()->say(peer.healthy(*peer.links.back(), command));
        CHECK(until_subscribed(70)); // a, b0 … b67, b69
        CHECK(peer.commands.size() == 70);
    }
    SUBCASE("the connection ends before the confirmation") {
        subject->subscribe("b");
        subject->unsubscribe("a");
        CHECK(until([&] { return held.size() == 2; }));
        held.clear();
        peer.links.back()->close();
        CHECK(until([&] { return lost == 1; }));
        CHECK(confirm() == words{"SUBSCRIBE", "b"});
        CHECK(until_subscribed(1));
    }
    run_for(io, 20ms);
    CHECK(held.empty());
}

TEST_CASE_FIXTURE(played_harness, "a server that is too busy to subscribe is asked again") {
    int busy = 1;
    peer.on_command = [&](auto& link, const auto& command) {
        link.say(busy-- > 0 ? "-BUSY Redis is busy running a script.\r\n"
                            : peer.healthy(link, command));
    };
    subject->subscribe("a");
    CHECK(until_subscribed(1));
    CHECK(lost == 1);
    CHECK(reason == "the server says: BUSY Redis is busy running a script.");
    CHECK(refused.empty());
}
