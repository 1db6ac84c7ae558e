// The mutex on Redis, on real servers.

#include "support/redis_harness.hpp"

#include <paddock/guarded.hpp>
#include <paddock/redis/lock_family.hpp>

#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {
constexpr std::array<std::size_t, 2> sizes{1, 3}; ///< the numbers of servers

static_assert(async_lockable<redis::mutex>);
static_assert(async_lockable<redis::lock_family, std::string_view>);
static_assert(!async_lockable<redis::lock_family>);
} // namespace

CO_TEST("a free lock is taken, and its key is gone after unlock") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round));
        const auto begin = boot_clock::now();
        auto held = co_await s.lock.lock();
        CHECK(held.valid());
        CHECK(held.path() == s.name);
        CHECK(held.has_token());
        CHECK(held.valid_until() >= begin + 9s);
        CHECK(held.valid_until() <= boot_clock::now() + 9s);
        CHECK(s.keys() > s.call.size() / 2);
        co_await eventually([&] { return s.keys() == s.call.size(); }); // renewals
        for (std::size_t n = 0; n < s.call.size(); ++n) {
            CHECK(s.value(n).starts_with("pdk1:10000:"));
            const auto left = std::chrono::milliseconds((*s.call[n])({"PTTL", s.name}).number);
            CHECK(boot_clock::now() + left > begin + 9900ms);
            CHECK(left <= 10s);
        }
        co_await held.unlock();
        CHECK_FALSE(held);
        CHECK(s.keys() <= s.call.size() / 2);
        co_await eventually([&] { return s.keys() == 0; });
    }
}

CO_TEST("one holder at a time, and a release wakes the next") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(60s));
        redis::client other(executor, url_of(s.ports), new_servers(60s));
        redis::mutex theirs(other, s.name);
        co_await other.connect();
        const auto a = ask(s.lock);
        co_await granted(a);
        const auto b = ask(theirs);
        const auto c = ask_now(theirs);
        co_await finished(c);
        CHECK_FALSE(c->error);
        CHECK_FALSE(held(c));
        const auto d = ask_for(theirs, 50ms);
        co_await finished(d);
        CHECK_FALSE(d->error);
        CHECK_FALSE(held(d));
        CHECK_FALSE(b->done());
        const auto first = held(a).fencing_token();
        co_await held(a).unlock();
        co_await granted(b);
        CHECK(b->ended - d->ended < 15s); // it is woken: it would ask again after 20 s
        CHECK(held(b).fencing_token() > first);
        co_await held(b).unlock();
    }
}

CO_TEST("the waiters of one client are granted the lock in the order of their calls") {
    redis_scene s(executor, 3);
    std::vector<lock_call> all;
    for (int n = 0; n < 20; ++n)
        all.push_back(ask(s.lock));
    fencing_token last;
    for (const auto& one : all) {
        co_await granted(one);
        CHECK(held(one).fencing_token() > last);
        last = held(one).fencing_token();
        for (const auto& other : all)
            CHECK((other == one || !held(other)));
        held(one) = guard(); // released in the background
    }
    co_await eventually([&] { return s.keys() == 0; });
}

CO_TEST("a caller that leaves leaves nothing") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round));
        const auto early = ask(s.lock);
        early->cancel();
        co_await finished(early);
        CHECK(early->error == asio::error::operation_aborted);
        s.foreigner_takes_it();
        const auto waiting = ask(s.lock);
        co_await eventually([&] {
            return (*s.call[0])({"PUBSUB", "NUMSUB", "paddock:free:" + s.name}).items.at(1).number >
                   0;
        });
        waiting->cancel();
        co_await finished(waiting);
        CHECK(waiting->error == asio::error::operation_aborted);
        s.foreigner_gives_it_back();
        const auto next = ask(s.lock);
        co_await granted(next);
        co_await unlocked(next);
    }
}

CO_TEST("a lock of another library is waited for, although nobody tells of its release") {
    redis_scene s(executor, 1);
    co_await s.client.connect();
    s.foreigner_takes_it();
    const auto a = ask(s.lock);
    const auto b = ask_for(s.lock, 100ms);
    co_await finished(b);
    CHECK_FALSE(b->error);
    CHECK_FALSE(a->done());
    s.foreigner_gives_it_back();
    co_await granted(a);
    co_await unlocked(a);
    const auto begin = std::chrono::steady_clock::now();
    s.foreigner_takes_it(200ms);
    const auto c = ask(s.lock);
    co_await granted(c);
    CHECK(c->ended - begin >= 190ms);
}

CO_TEST("verify asks the servers, and operations of ZooKeeper are refused") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round));
        auto held = co_await s.lock.lock();
        co_await held.verify();
        const auto steps = start<std::vector<operation_result>>([&](auto token) {
            held.transaction({op::check{"/a", 1}}, std::move(token));
        });
        co_await finished(steps);
        CHECK(steps->error == errc::not_supported);
        const auto down = start([&](auto token) { held.downgrade(std::move(token)); });
        co_await finished(down);
        CHECK(down->error == errc::bad_argument);
        const auto end = end_of(held);
        s.foreigner_takes_it();
        const auto asked = start([&](auto token) { held.verify(std::move(token)); });
        co_await finished(asked);
        CHECK(asked->error == errc::lock_lost);
        co_await finished(end);
        CHECK(end->error == errc::node_deleted);
        CHECK_FALSE(held.valid());
        const auto last = give_back(held);
        co_await finished(last);
        CHECK(last->error == errc::lock_lost);
        CHECK(s.value() == "foreign");
        s.foreigner_gives_it_back();
    }
}

namespace {

/// Another store, with one article, and the token of the last hold that claimed it.
struct token_store {
    fencing_token claimed{};
    int goods = 10;
    guarded_steps<int> steps{};

    token_store() {
        steps.claim = [this](fencing_token token) -> asio::awaitable<bool> {
            if (token < claimed) co_return false;
            claimed = token;
            co_return true;
        };
        steps.record = [this]() -> asio::awaitable<int> { co_return goods; };
        steps.operate = [](int& left) -> asio::awaitable<void> {
            --left;
            co_return;
        };
        steps.commit = [this](int& left, fencing_token token) -> asio::awaitable<void> {
            if (token != claimed) throw system_error(errc::lock_lost);
            goods = left;
            co_return;
        };
        steps.restore = [](int&) -> asio::awaitable<void> { co_return; };
    }
};

} // namespace

CO_TEST("guarded() fences another store with the tokens of a lock on Redis") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(scaled(2s)));
        token_store store;
        auto a = co_await s.lock.lock();
        const auto first = co_await guarded(a, store.steps);
        CHECK(first.outcome == guarded_outcome::committed);
        CHECK(store.claimed == a.fencing_token());
        CHECK(store.goods == 9);
        // The lock is taken away, and its next holder claims the store.
        auto slow = store.steps;
        slow.operate = [&](int& left) -> asio::awaitable<void> {
            --left;
            s.foreigner_takes_it();
            store.claimed = {a.fencing_token().zxid + 1, 0};
            co_await asio::steady_timer(executor, 1h).async_wait(asio::use_awaitable);
        };
        const auto second = co_await guarded(a, slow);
        CHECK(second.outcome == guarded_outcome::restored);
        CHECK(store.goods == 9);
        s.foreigner_gives_it_back();
    }
}

CO_TEST("guarded() with a transaction is refused under a lock on Redis") {
    redis_scene s(executor);
    const auto held = co_await s.lock.lock();
    token_store store;
    store.steps.claim = {};
    store.steps.commit = [](int&) { return std::vector<operation>{op::check{"/a", 1}}; };
    std::string text;
    try {
        static_cast<void>(guarded(held, store.steps));
    } catch (const system_error& e) {
        CHECK(e.code() == errc::bad_argument);
        text = e.what();
    }
    CHECK_MESSAGE(text.starts_with("guarded_steps::commit returns operations of ZooKeeper"), text);
}

CO_TEST("a key that an administrator deletes is set again") {
    redis_scene s(executor, 1);
    auto held = co_await s.lock.lock();
    s.foreigner_gives_it_back();
    co_await held.verify(); // renews it
    CHECK_FALSE(s.value().empty());
    CHECK(held.valid());
    co_await held.unlock();
}

CO_TEST("close releases what is held, and ends what waits") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round));
        const auto a = ask(s.lock);
        co_await granted(a);
        const auto b = ask(s.lock);
        const auto end = end_of(held(a));
        co_await s.client.close();
        co_await finished(b);
        CHECK(b->error == errc::closed);
        co_await finished(end);
        CHECK(end->error == errc::closed);
        CHECK_FALSE(held(a).valid());
        CHECK(s.value().empty());
        const auto c = ask(s.lock);
        co_await finished(c);
        CHECK(c->error == errc::closed);
    }
}

CO_TEST("a hold with a longest time ends, and its lock with the guard") {
    redis_scene s(executor, 1);
    redis::mutex brief(s.client, s.name, {.hold_limit = {.longest = 100ms}});
    auto held = co_await brief.lock();
    const auto end = end_of(held);
    co_await finished(end);
    CHECK(end->error == errc::hold_expired);
    CHECK_FALSE(held.valid());
    CHECK_FALSE(s.value().empty());
    held = guard();
    co_await eventually([&] { return s.value().empty(); });
}

CO_TEST("a client that is moved to itself goes on") {
    redis_scene s(executor);
    auto& same = s.client;
    s.client = std::move(same);
    co_await s.client.connect();
}

CO_TEST("work runs under the lock, and with() waits for the release") {
    redis_scene s(executor, 3);
    const auto work = [&](guard& held) -> asio::awaitable<int> {
        CHECK(held.valid());
        CHECK(s.keys() >= 2);
        co_return 7;
    };
    const int result = co_await s.lock.with(work);
    CHECK(result == 7);
    const auto next = co_await s.lock.try_lock();
    CHECK(next.valid());
}

CO_TEST("code that takes any mutex works on both systems") {
    redis_scene s(executor, 1);
    paddock::client zk(executor, shared_server().address());
    const paddock::mutex queue(zk, fresh_root() + "/lock");
    for (const any_mutex& lock : std::vector<any_mutex>{s.lock, queue}) {
        auto held = co_await lock.lock();
        CHECK(held.valid());
        const auto none = co_await lock.try_lock();
        CHECK_FALSE(none);
        co_await held.unlock();
    }
}

TEST_CASE("names and options that are not acceptable are named") {
    asio::io_context io;
    const auto text = [&](auto make) -> std::string {
        try {
            make();
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return error.what();
        }
        return {};
    };
    const auto with = [&](redis::client_options options) {
        return text([&] { redis::client(io, "redis://127.0.0.1", std::move(options)); });
    };
    redis::client good(io, "redis://127.0.0.1");
    CHECK(text([&] { redis::mutex(good, ""); }).find("mutex name is empty") != std::string::npos);
    for (const auto* beginning : {"p", "paddock"}) // with the key ":server" …
        CHECK(text([&] { redis::lock_family(good, beginning); }).find("which is reserved") !=
              std::string::npos);
    CHECK_NOTHROW(redis::lock_family(good, "paddocks"));
    CHECK(text([&] { redis::mutex(good, std::string(513, 'a')); }).find("mutex name is longer") !=
          std::string::npos);
    CHECK(text([&] { redis::mutex(good, "paddock:server"); }).find("mutex name") !=
          std::string::npos);
    redis::lock_family family(good, "orders:");
    CHECK(family.name_of("a") == "orders:a");
    const redis::lock_family to(std::move(family));
    CHECK(text([&] {
              static_cast<void>(family.name_of("a"));
          }).starts_with("lock_family was moved from"));
    CHECK(text([&] { redis::client({}, "redis://127.0.0.1"); }).starts_with("executor is empty"));
    CHECK(text([&] { redis::client(io, "redis://u:secret@a,b"); }).find("url") !=
          std::string::npos);
    CHECK(text([&] { redis::client(io, "redis://u:secret@a,b"); }).find("secret") ==
          std::string::npos);
    redis::client_options options;
    options.ttl = 50ms;
    CHECK(with(options).find("client_options::ttl is shorter") != std::string::npos);
    options.ttl = 2min;
    CHECK(with(options).find("client_options::ttl is longer") != std::string::npos);
    options = {};
    options.max_ttl = 48h;
    CHECK(with(options).find("client_options::max_ttl is longer") != std::string::npos);
    options = {};
    options.min_validity = 9s;
    CHECK(with(options).find("client_options::min_validity") != std::string::npos);
    options = {};
    options.max_bytes_queued = 1;
    CHECK(with(options).find("client_options::max_bytes_queued") != std::string::npos);
}
