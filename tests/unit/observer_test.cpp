// What an observer hears of the lease, the session and the requests, step by step in virtual time.

#include "support/recording_observer.hpp"
#include "unit/lease_stage.hpp"

#include <algorithm>
#include <stdexcept>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

struct observed_stage {
    explicit observed_stage(client_options options = {}, bool requests = false)
        : stage([&] {
            heard->requests = requests;
            options.observer = heard;
            return options;
        }()) {}

    std::shared_ptr<recording_observer> heard = std::make_shared<recording_observer>();
    lease_stage stage;
};

} // namespace

TEST_CASE("a lease that is renewed in time is never late") {
    observed_stage o;
    const auto held = o.stage.hold();
    o.stage.pass(60s);
    CHECK(held->valid());
    CHECK(o.heard->events("late").empty());
    CHECK(o.heard->events("renewed").size() >= 40);
    CHECK(o.heard->events("delay").empty());
    const auto seen = o.stage.core->statistics();
    CHECK(seen.lease_left.count() == o.heard->events("renewed").size());
    // More than half of the session timeout: the bucket from 1 to 5 s has less than that at most.
    CHECK(seen.lease_left.sum >= seen.lease_left.count() * 4500ms);
    CHECK(seen.late_leases == 0);
}

TEST_CASE("a late lease is told once in an outage, in time, and the hold may recover") {
    observed_stage o;
    const auto held = o.stage.hold();
    o.stage.cut_off_server();
    while (o.heard->events("late").empty()) {
        REQUIRE(held->valid());
        o.stage.pass(100ms);
    }
    CHECK(o.stage.left() > 2800ms);
    CHECK(o.stage.left() <= 3s);
    o.stage.pass(1s);
    CHECK(held->valid());
    o.stage.c->heartbeat_code = native::code::ok;
    o.stage.pass(3s);
    CHECK(held->valid());
    CHECK(o.stage.left() > 4500ms);
    CHECK(o.heard->events("late").size() == 1);

    o.stage.cut_off_server();
    o.stage.pass(10s);
    CHECK_FALSE(held->valid());
    CHECK(o.heard->events("late").size() == 2);
    CHECK(o.stage.core->statistics().late_leases == 2);
}

TEST_CASE("with a margin the warning comes before the loss is reported") {
    observed_stage o(with({.margin = 2s}));
    const auto held = o.stage.hold();
    error_code lost;
    held->when_ended([&](error_code why) {
        lost = why;
        CHECK(o.heard->events("late").size() == 1);
    });
    o.stage.cut_off_server();
    o.stage.pass(10s);
    CHECK(lost == errc::lease_lapsed);
}

TEST_CASE("a loop that stood still for too long warns just before the loss, and tells its delay") {
    observed_stage o;
    const auto held = o.stage.hold();
    o.stage.env->stall(20s); // nothing runs meanwhile
    CHECK_FALSE(held->valid());
    held->release(); // before any timer has fired
    CHECK(held->reason() == errc::lease_lapsed);
    CHECK(o.heard->events("late").size() == 1);
    o.stage.env->advance(0s);
    CHECK(o.heard->events("late").size() == 1);
    CHECK(o.heard->events("delay").size() == 1);
    const auto delays = o.stage.core->statistics().loop_delay;
    CHECK(delays.sum > 15s);
}

TEST_CASE("a stall is told although the connection ends before a timer fires") {
    observed_stage o;
    const auto held = o.stage.hold();
    o.stage.env->stall(20s);
    o.stage.lose_connection();
    CHECK(o.heard->events("delay").size() == 1);
    CHECK(o.stage.core->statistics().loop_delay.sum > 15s);
    CHECK(held->reason() == error_code(errc::lease_lapsed));
}

TEST_CASE("states, kinds and outcomes have names, and numbers that are none have not") {
    CHECK(name_of(client_state::suspended) == "suspended");
    CHECK(name_of(lock_kind::simple_mutex) == "simple_mutex");
    CHECK(name_of(wait_outcome::cancelled) == "cancelled");
    CHECK(name_of(static_cast<client_state>(99)) == "unknown");
    CHECK(name_of(static_cast<lock_kind>(99)) == "unknown");
    CHECK(name_of(static_cast<wait_outcome>(99)) == "unknown");
}

TEST_CASE("a loop is stuck after the session timeout") {
    observed_stage o;
    o.stage.env->hold_tasks();
    CHECK(o.stage.core->health().alive);
    o.stage.env->stall(8s);
    CHECK(o.stage.core->health().alive);
    o.stage.env->stall(2s);
    CHECK_FALSE(o.stage.core->health().alive);
    o.stage.env->let_tasks_run();
}

TEST_CASE("credentials that are refused are a reason to restart, a closed client is none") {
    observed_stage refused;
    refused.stage.core->close(errc::auth_failed);
    CHECK_FALSE(refused.stage.core->health().alive);
    CHECK(refused.stage.core->health().reason == "closed: the servers refuse the credentials");
    observed_stage closed;
    closed.stage.core->close(errc::closed);
    CHECK(closed.stage.core->health().alive);
    CHECK_FALSE(closed.stage.core->health().ready);
}

TEST_CASE("without a hold nobody is warned of a lease that nobody renews") {
    observed_stage o;
    o.stage.pass(60s);
    CHECK(o.heard->events("late").empty());
    CHECK(o.heard->events("renewed").empty());
}

TEST_CASE("the states of the session are told, with the epoch") {
    observed_stage o;
    o.stage.expire();
    o.stage.core->close(errc::closed);
    const auto number = [](client_state s) { return std::to_string(static_cast<int>(s)); };
    CHECK(o.heard->events("session") ==
          words{"session " + number(client_state::connected) + " epoch 1",
                "session " + number(client_state::suspended) + " epoch 1",
                "session " + number(client_state::expired) + " epoch 1",
                "session " + number(client_state::connecting) + " epoch 1",
                "session " + number(client_state::connected) + " epoch 2",
                "session " + number(client_state::closed) + " epoch 2"});
    CHECK(o.stage.core->statistics().disconnects == 1);
    CHECK(o.stage.core->statistics().epoch == 2);
}

TEST_CASE("requests are told to those who want them, and counted for all") {
    for (const bool wanted : {false, true}) {
        observed_stage o({}, wanted);
        const auto before = o.stage.core->statistics().servers.at(0);
        o.stage.ask(answered_by::server, 30ms);
        o.stage.ask(answered_by::quorum, 200ms, static_cast<int>(zk_errc::no_node));
        const auto after = o.stage.core->statistics().servers.at(0);
        CHECK(after.reads.count() == before.reads.count() + 1);
        CHECK(after.reads.counts[3] == before.reads.counts[3] + 1); // up to 50 ms
        CHECK(after.writes.count() == before.writes.count() + 1);
        CHECK(after.last_round_trip == 200ms);
        const auto told = o.heard->events("request");
        CHECK(told.empty() == !wanted);
        if (!wanted) continue;
        CHECK(std::count(told.begin(), told.end(), "request exists") >= 1);
        CHECK(told.back() == "request delete: " + make_error_code(zk_errc::no_node).message());
    }
}

TEST_CASE("the log is told to the observer as well") {
    observed_stage o;
    o.stage.expire();
    CHECK(o.stage.trouble_codes == std::vector{log_code::session_expired});
    CHECK(o.heard->events("trouble") == words{"trouble session_expired"});
}

TEST_CASE("an exception of the observer is reported once, and survived") {
    observed_stage o;
    o.heard->then = [](const std::string&) { throw std::runtime_error("of the observer"); };
    const auto held = o.stage.hold();
    o.stage.pass(30s);
    CHECK(held->valid());
    o.stage.expire();
    CHECK(held->reason() == error_code()); // the stage's hold is not of a queue, which would end it
    CHECK(o.heard->events("renewed").size() >= 10);
    CHECK(o.stage.trouble_codes ==
          std::vector{log_code::observer_failed, log_code::session_expired});
}
