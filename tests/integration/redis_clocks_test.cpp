// Servers whose clocks are set while a lock on Redis is held, waited for, or free.

#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::array<std::size_t, 2> sizes{1, 3};
constexpr auto brief_pause = 1ms; ///< a server rounds the times of keys and markers
constexpr std::string_view shifted_clock = PADDOCK_SHIFTED_CLOCK;

redis::client_options very_short_locks() {
    auto options = new_servers(scaled(600ms));
    options.max_ttl = scaled(800ms);
    return options;
}

/// The call is granted such a lock, which a busy machine may end at any time.
asio::awaitable<void> granted_and_unlocked(lock_call a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    const auto end = give_back(held(a));
    co_await finished(end);
}

} // namespace

CO_TEST("when one of three servers is set forward, the lock stays with its holder") {
    if (torn_down(test)) co_return;
    constexpr std::array<std::size_t, 2> victims{0, 2}; // the first is asked first
    for (const auto& round : test.each(victims)) {
        redis_trouble t(executor, 3, short_locks(), {}, shifted_clock);
        const auto victim = std::get<0>(round);
        const auto a = ask(t.s->lock);
        co_await granted(a);
        co_await eventually([&] { return t.s->keys() == 3; });
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(victim); });
        const auto before = held(a).valid_until();
        t.own[victim].set_clock(1h);
        co_await eventually([&] { return held(a).valid_until() > before + t.options.ttl / 2; });
        CHECK(held(a).valid());
        CHECK_FALSE(b->done());
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
    }
}

CO_TEST(
    "a server that was set forward grants nothing until the holders it has forgotten are over") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, very_short_locks(), {}, shifted_clock);
    co_await t.s->client.connect();
    asio::io_context stalled; // nothing runs it after the grant
    redis::client their_client(stalled, url_of(t.s->ports), t.options);
    redis::mutex their_lock(their_client, t.s->name);
    const guard a = run_with_deadline(stalled, their_lock.lock());
    t.own[0].set_clock(1h);
    const auto set = std::chrono::steady_clock::now();
    CHECK(t.s->value() == ""); // the key is over, and the hold is not
    const auto b = ask(t.s->lock);
    co_await granted_and_unlocked(b);
    CHECK(b->ended - set >= t.options.max_ttl - brief_pause);
    CHECK_FALSE(a.valid());
    CHECK_MESSAGE(t.log.has("has a clock that was set: for "), t.log.text());
}

CO_TEST("on servers that are set back a day waiters wait for times to live, and not for the day") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 3, very_short_locks(), {}, shifted_clock);
    const auto ttl = std::to_string(t.options.ttl.count());
    for (auto& call : t.s->call)
        (*call)({"SET", t.s->name, "pdk1:" + ttl + ":of a process that died", "PX", ttl});
    const auto b = ask(t.s->lock);
    co_await eventually([&] { return t.has_listener(); });
    to_servers(t, t.own.size(), [](auto& one) { one.set_clock(-24h); });
    const auto set = std::chrono::steady_clock::now();
    const auto c = ask(*t.theirs); // was not connected before
    co_await eventually([&] { return b->done() || c->done(); });
    const auto first = b->done() ? b : c;
    const auto second = b->done() ? c : b;
    co_await granted_and_unlocked(first);
    CHECK(first->ended - set >= t.options.max_ttl - brief_pause);
    co_await granted_and_unlocked(second);
}

CO_TEST("fencing tokens grow when the servers are set back, and when they are right again") {
    if (torn_down(test)) co_return;
    constexpr std::array<std::chrono::hours, 6> clocks{0h, -1h, -240h, -200h, 48h, 0h};
    for (const auto& round : test.each(sizes)) {
        redis_trouble t(executor, std::get<0>(round), short_locks(), {}, shifted_clock);
        auto options = t.options;
        options.trust_new_servers = true; // else each client waits for the servers
        fencing_token last;
        for (const auto clock : clocks) {
            to_servers(t, t.own.size(), [&](auto& one) { one.set_clock(clock); });
            redis::client client(executor, url_of(t.s->ports), options);
            redis::mutex lock(client, t.s->name);
            const auto a = ask(lock);
            co_await granted(a);
            CHECK_MESSAGE(held(a).fencing_token() > last, clock.count(), " hours ahead");
            last = held(a).fencing_token();
            co_await unlocked(a);
        }
    }
}
