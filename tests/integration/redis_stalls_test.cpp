// Servers that stand still, and connections that are cut, while a lock on Redis is held and waited
// for.

#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::array<std::size_t, 2> sizes{1, 3};

/// Without the larger one in a test that is torn down.
std::vector<std::size_t> brief_sizes(co_context& test) {
    return {sizes.begin(), sizes.begin() + test.full_or_brief(2, 1)};
}

} // namespace

CO_TEST("a hold ends in time while its servers stand still, and the lock is free when they go on") {
    if (torn_down(test)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_trouble t(executor, std::get<0>(round));
        const auto quorum = t.own.size() / 2 + 1;
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto end = end_of(held(a));
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(); });
        to_servers(t, quorum, [](auto& one) { one.pause(); });
        co_await finished(end);
        CHECK(end->error == errc::lease_lapsed);
        CHECK_FALSE(held(a).valid());
        CHECK_FALSE(b->done());
        const auto now = ask_for(t.s->lock, t.options.ttl); // a request takes half of it at most
        co_await finished(now);
        CHECK_FALSE(held(now));
        if (t.own.size() == 1) CHECK(now->error == errc::not_connected);
        to_servers(t, quorum, [](auto& one) { one.resume(); });
        co_await granted(b);
        co_await unlocked(b);
    }
}

CO_TEST("servers that stand still for a moment cost neither the holder nor a waiter anything") {
    for (const auto& round : test.each(brief_sizes(test))) {
        redis_trouble t(executor, std::get<0>(round), new_servers(30s));
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(); });
        to_servers(t, t.own.size(), [](auto& one) { one.pause(); });
        const auto released = give_back(held(a));
        const auto late = ask_for(*t.theirs, 100ms);
        co_await finished(late);
        CHECK_FALSE(released->done());
        CHECK_FALSE(b->done());
        to_servers(t, t.own.size(), [](auto& one) { one.resume(); });
        co_await finished(released);
        CHECK_FALSE(released->error);
        co_await granted(b);
        co_await unlocked(b);
    }
}

CO_TEST("a server that stands still is not asked again before it has answered") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, new_servers(scaled(3s)));
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto call = t.call();
    (*call)({"CONFIG", "RESETSTAT"});
    const auto before = held(a).valid_until();
    t.own[0].pause();
    const auto behind = ask_for(t.s->lock, t.options.ttl * 2 / 3); // asks no server
    co_await finished(behind);
    t.own[0].resume();
    co_await eventually([&] { return held(a).valid_until() > before || !held(a).valid(); });
    const auto said = (*call)({"INFO", "commandstats"}).text;
    const std::string calls = "cmdstat_evalsha:calls=";
    const auto at = said.find(calls);
    REQUIRE(at != std::string::npos);
    CHECK(std::stoi(said.substr(at + calls.size())) <=
          3); // the late one, and perhaps the next ones
    co_await unlocked(a);
}

CO_TEST("close ends what waits for servers that stand still") {
    redis_trouble t(executor, 1, new_servers(30s));
    const redis::mutex second(t.s->client, t.s->name + '2');
    const auto a = ask(t.s->lock);
    const auto b = ask(second);
    co_await granted(a);
    co_await granted(b);
    to_servers(t, t.own.size(), [](auto& one) { one.pause(); });
    const auto asked = start([&](auto token) { held(a).verify(std::move(token)); });
    const auto released = give_back(held(b));
    const auto closed = start([&](auto token) { t.s->client.close(std::move(token)); });
    const auto late = start([&](auto token) { held(a).verify(std::move(token)); });
    for (const auto& one : {asked, released, late}) {
        co_await finished(one);
        CHECK_MESSAGE(one->error == errc::closed, one->error.message());
    }
    to_servers(t, t.own.size(), [](auto& one) { one.resume(); });
    co_await finished(closed);
}

CO_TEST("a limit that is shorter than a round trip is no error of a connected client") {
    for (const auto& round : test.each(sizes)) {
        redis_trouble t(executor, std::get<0>(round), new_servers(30s));
        co_await t.s->client.connect();
        const auto theirs = ask(*t.theirs);
        co_await granted(theirs);
        const auto before = ask_for(t.s->lock, 100ms); // listens for a release from now on
        co_await finished(before);
        co_await unlocked(theirs);
        to_servers(t, t.own.size(), [](auto& one) { one.pause(); });
        for (int n = 0; n < 3; ++n) { // the one before has given up an attempt
            const auto a = ask_for(t.s->lock, 1ms);
            co_await finished(a);
            CHECK_MESSAGE(!a->error, a->error.message());
            CHECK_FALSE(held(a));
        }
    }
}

CO_TEST("one of three servers may stand still") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 3, new_servers(30s));
    co_await t.s->client.connect();
    for (auto& one : t.own) {
        one.pause();
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
        one.resume();
    }
}

CO_TEST("no wake-up is lost when the connections of a waiter are cut") {
    const std::vector<std::string> kinds{"both", "normal", "pubsub"};
    const auto brief = std::vector<std::string>{kinds[0]};
    for (const auto& round : test.each(brief_sizes(test), test.full_or_brief(kinds, brief))) {
        redis_trouble t(executor, std::get<0>(round), new_servers(60s));
        const auto& kind = std::get<1>(round);
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(t.own.size() - 1); });
        to_servers(t, t.own.size(), [&](auto& one) {
            const auto call = t.call(one);
            if (kind != "normal") (*call)({"CLIENT", "KILL", "TYPE", "pubsub"});
            if (kind != "pubsub") (*call)({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        });
        co_await unlocked(a);
        const auto released = std::chrono::steady_clock::now();
        co_await granted(b);
        CHECK(b->ended - released < scaled(8s)); // a third of the time to live is 20 s
        co_await unlocked(b);
    }
}

CO_TEST("a hold survives that its connections are cut") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, new_servers(3s));
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto before = held(a).valid_until();
    (*t.call())({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    co_await eventually([&] { return held(a).valid_until() > before; });
    co_await held(a).verify();
    co_await unlocked(a);
}

CO_TEST("a server that has forgotten the scripts is told them again") {
    for (const auto& round : test.each(brief_sizes(test))) {
        redis_trouble t(executor, std::get<0>(round), new_servers(30s));
        const auto forget = [&](auto& one) { (*t.call(one))({"SCRIPT", "FLUSH"}); };
        co_await t.s->client.connect();
        to_servers(t, t.own.size(), forget);
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(); });
        to_servers(t, t.own.size(), forget);
        co_await held(a).verify();
        to_servers(t, t.own.size(), forget);
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
        CHECK(t.log.text() == "");
    }
}

CO_TEST("a server that stood still is in the log, and how long, when it answers again") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, new_servers(scaled(1200ms)));
    co_await t.s->client.connect();
    t.own[0].pause();
    co_await eventually([&] { return t.log.has("is not reachable: "); });
    CHECK_FALSE(t.log.has(" answers after "));
    t.own[0].resume();
    co_await eventually([&] { return t.log.count(" answers after ") == 1; });
}

CO_TEST("an event loop that stands still for too long loses the lock, and the log says why") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, new_servers(scaled(1200ms)));
    const auto a = ask(t.s->lock);
    co_await granted(a);
    std::this_thread::sleep_for(t.options.ttl + 200ms);
    co_await eventually([&] { return t.log.has("the lock " + t.s->name + " is lost, held for "); });
    CHECK(t.log.has("the program's event loop stood still for at least "));
    held(a) = guard();
}
