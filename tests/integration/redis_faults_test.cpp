// Servers that die, stand still and forget, while a lock on Redis is held and waited for.

#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::array<std::size_t, 2> sizes{1, 3};
constexpr auto brief_pause = 1ms; ///< a server rounds the times of keys and markers

/// The hold ends because nothing confirms it any more, and not before its lease.
asio::awaitable<void> lapsed(under_way<> end, guard& held, boot_clock::time_point valid_until) {
    co_await finished(end);
    CHECK_MESSAGE(end->error == errc::lease_lapsed, end->error.message());
    CHECK_FALSE(held.valid());
    CHECK(boot_clock::now() >= valid_until);
}

/// Asks for the lock until the client has noticed that the server is a master.
asio::awaitable<lock_call> asked_again(const redis::mutex& lock) {
    for (;;) {
        auto call = ask(lock);
        co_await finished(call);
        if (call->error != errc::unsuitable_server) co_return call;
    }
}

} // namespace

CO_TEST("servers that were refused and are away now are waited for, as any others") {
    if (torn_down(test)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_trouble t(executor, std::get<0>(round));
        const auto quorum = t.own.size() / 2 + 1;
        to_servers(t, quorum, [&](auto& one) { (*t.call(one))({"REPLICAOF", "127.0.0.1", "1"}); });
        const auto refused = ask(t.s->lock);
        co_await finished(refused);
        CHECK(refused->error == errc::unsuitable_server);
        to_servers(t, quorum, [](auto& one) { one.kill(); });
        const auto away = [&](const redis_server& one) {
            return t.log.has(std::to_string(one.port()) + " is not reachable");
        };
        for (std::size_t n = 0; n < quorum; ++n)
            co_await eventually([&] { return away(t.own[n]); });
        const auto brief = ask_for(t.s->lock, 50ms);
        co_await finished(brief);
        CHECK_MESSAGE(brief->error == errc::not_connected, brief->error.message());
        const auto a = ask(t.s->lock);
        to_servers(t, quorum, [](auto& one) { one.start(); }); // as masters
        co_await granted(a);
        co_await unlocked(a);
    }
}

CO_TEST("servers that restart without their data grant nothing that another may still hold") {
    if (torn_down(test)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_trouble t(executor, std::get<0>(round));
        const auto quorum = t.own.size() / 2 + 1;
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(); });
        const auto end = end_of(held(a));
        to_servers(t, quorum, [](auto& one) { one.kill(); });
        const auto valid_until = held(a).valid_until();
        co_await lapsed(end, held(a), valid_until);
        CHECK_FALSE(b->done());
        to_servers(t, quorum, [](auto& one) { one.start(); });
        const auto restarted = std::chrono::steady_clock::now();
        co_await granted(b);
        CHECK(b->ended - restarted >= t.options.max_ttl - brief_pause);
        const auto last = give_back(held(a));
        co_await finished(last);
        CHECK(last->error == errc::lock_lost);
        CHECK(held(b).valid());
        co_await unlocked(b);
    }
}

CO_TEST(
    "while the servers are away the lock is not granted, and the hold ends before its key could") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, short_locks(), {"--appendonly", "yes", "--appendfsync", "always"});
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto end = end_of(held(a));
    const auto b = ask(*t.theirs);
    co_await eventually([&] { return t.has_listener(); });
    const auto left = std::chrono::milliseconds((*t.call())({"PTTL", t.s->name}).number);
    CHECK(held(a).valid_until() < boot_clock::now() + left + t.options.ttl / 3);
    t.own[0].kill();
    co_await lapsed(end, held(a), held(a).valid_until());
    CHECK_FALSE(b->done());
    t.own[0].start();
    co_await granted(b);
    co_await unlocked(b);
}

CO_TEST(
    "a server that kept its data on the disk prolongs the hold, but grants nothing for a while") {
    if (torn_down(test)) co_return;
    const std::vector<std::vector<std::string>> ways{
        {"--appendonly", "yes", "--appendfsync", "always"}, {"--save", "3600 1000000"}};
    for (const auto& round : test.each(ways)) {
        auto options = short_locks();
        options.ttl = options.max_ttl = scaled(3s);
        redis_trouble t(executor, 1, options, std::get<0>(round));
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(); });
        const auto before = held(a).valid_until();
        (*t.call())({"SAVE"});
        t.own[0].kill();
        t.own[0].start();
        const auto restarted = std::chrono::steady_clock::now();
        co_await eventually([&] { return held(a).valid_until() > before || !held(a).valid(); });
        CHECK(held(a).valid());
        co_await unlocked(a);
        co_await granted(b);
        CHECK(b->ended - restarted >= options.max_ttl - brief_pause);
        co_await unlocked(b);
    }
}

CO_TEST("one of three servers may die: holds, waiters and releases go on") {
    if (torn_down(test)) co_return;
    constexpr std::array<std::size_t, 2> victims{0, 2}; // the first is asked first
    for (const auto& round : test.each(victims)) {
        redis_trouble t(executor, 3);
        const auto victim = std::get<0>(round);
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(1); });
        t.own[victim].kill();
        const auto before = held(a).valid_until();
        co_await eventually([&] { return held(a).valid_until() > before + t.options.ttl / 2; });
        CHECK(held(a).valid());
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
    }
}

CO_TEST("with two of three servers dead try_lock knows nothing, and lock waits for one of them") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 3);
    co_await t.s->client.connect();
    t.own[1].kill();
    t.own[2].kill();
    co_await eventually([&] { return t.log.count("is not reachable") >= 2; });
    const auto now = ask_now(t.s->lock);
    co_await finished(now);
    CHECK(now->error == errc::not_connected);
    const auto later = ask_for(t.s->lock, 50ms);
    co_await finished(later);
    CHECK(later->error == errc::not_connected);
    const auto a = ask(t.s->lock);
    t.own[2].start();
    const auto restarted = std::chrono::steady_clock::now();
    co_await granted(a);
    CHECK(a->ended - restarted >= t.options.max_ttl - brief_pause);
    co_await unlocked(a);
}

CO_TEST("servers that forget their data keep the holder, and grant nothing for the longest time") {
    if (torn_down(test)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_trouble t(executor, std::get<0>(round));
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto valid_until = held(a).valid_until();
        const auto forgot = std::chrono::steady_clock::now();
        to_servers(t, t.own.size(), [&](auto& one) { (*t.call(one))({"FLUSHALL"}); });
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return held(a).valid_until() > valid_until; });
        CHECK(held(a).valid());
        co_await unlocked(a);
        CHECK_FALSE(b->done());
        co_await granted(b);
        CHECK(b->ended - forgot >= t.options.max_ttl - brief_pause);
        co_await unlocked(b);
    }
}

CO_TEST("one of three servers may forget its data while a lock is held") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 3);
    const auto a = ask(t.s->lock);
    co_await granted(a);
    (*t.call(0))({"FLUSHALL"});
    const auto before = held(a).valid_until();
    co_await eventually([&] { return held(a).valid_until() > before + t.options.ttl; });
    CHECK(held(a).valid());
    const auto b = ask_now(*t.theirs);
    co_await finished(b);
    CHECK_FALSE(held(b));
    co_await unlocked(a);
}

CO_TEST("a master that was a replica for a moment grants nothing before forgotten locks are over") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor);
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto call = t.call();
    (*call)({"REPLICAOF", "127.0.0.1", "1"});
    const auto now = ask(*t.theirs);
    co_await finished(now);
    CHECK(now->error == errc::unsuitable_server);
    CHECK_MESSAGE(t.log.has("only a master can grant locks"), t.log.text());
    (*call)({"REPLICAOF", "NO", "ONE"});
    const auto back = std::chrono::steady_clock::now();
    held(a) = guard();
    const auto b = co_await asked_again(*t.theirs);
    co_await granted(b);
    CHECK(b->ended - back >= t.options.max_ttl - brief_pause);
    co_await unlocked(b);
}

CO_TEST("a replica is no server for locks, and one that becomes the master is young at first") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, short_locks(), {"--repl-diskless-sync-delay", "0"});
    auto replica = own_servers(1);
    redis_caller call(replica[0].plain_port());
    const auto port = std::to_string(t.own[0].plain_port());
    call({"REPLICAOF", "127.0.0.1", port});
    co_await eventually([&] {
        return call({"INFO", "replication"}).text.find("master_link_status:up") !=
               std::string::npos;
    });
    redis::client there(executor, url_of({replica[0].port()}), t.options);
    redis::mutex lock(there, t.s->name);
    const auto connected = start([&](auto token) { there.connect(std::move(token)); });
    co_await finished(connected);
    CHECK(connected->error == errc::unsuitable_server);
    const auto refused = ask(lock);
    co_await finished(refused);
    CHECK(refused->error == errc::unsuitable_server);
    const auto a = ask(t.s->lock); // on the old master, and perhaps not replicated
    co_await granted(a);
    t.own[0].kill();
    call({"REPLICAOF", "NO", "ONE"});
    const auto promoted = std::chrono::steady_clock::now();
    const auto b = co_await asked_again(lock);
    co_await granted(b);
    CHECK(b->ended - promoted >= t.options.max_ttl - brief_pause);
    CHECK_FALSE(held(a).valid());
    co_await unlocked(b);
}
