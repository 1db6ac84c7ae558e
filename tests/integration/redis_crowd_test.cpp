// Many waiters for a lock on Redis, clients that go away in the middle, and several threads.

#include "support/redis_harness.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::array<std::size_t, 2> sizes{1, 3};

/// Holds the lock in turn, and checks that nobody else does.
struct turns {
    int inside = 0, grants = 0;
    fencing_token last{};

    asio::awaitable<void> take(redis::mutex lock) {
        auto held = co_await lock.lock();
        CHECK(held.valid());
        CHECK(++inside == 1);
        CHECK(held.fencing_token() > last);
        last = held.fencing_token();
        co_await asio::post(asio::use_awaitable); // others may run
        ++grants;
        --inside;
        co_await held.unlock();
    }
};

} // namespace

CO_TEST("five hundred waiters of one client are served") {
    if (test.full_or_brief(false, true)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(30s));
        const auto first = ask(s.lock);
        co_await granted(first);
        turns all;
        for (int n = 0; n < 500; ++n)
            asio::co_spawn(executor, all.take(s.lock), asio::detached);
        co_await unlocked(first);
        co_await eventually([&] { return all.grants == 500; }, 15s);
        co_await eventually([&] { return s.keys() == 0; });
    }
}

CO_TEST("calls of one client pass the keys on, without a request, at most fifteen times in a row") {
    const int holds = test.full_or_brief(32, 2);
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(30s));
        std::vector<lock_call> calls;
        for (int n = 0; n < holds; ++n)
            calls.push_back(ask(s.lock));
        fencing_token token;
        for (int n = 0; n < holds; ++n) {
            auto& one = calls[static_cast<std::size_t>(n)];
            co_await granted(one);
            const auto now = held(one).fencing_token();
            CHECK(now.sub == static_cast<std::uint64_t>(n % 16));
            CHECK((now.zxid == token.zxid) == (n % 16 != 0));
            CHECK(now > token);
            CHECK(2 * s.keys() > s.ports.size());
            token = now;
            co_await unlocked(one);
            CHECK_FALSE(held(one).valid());
        }
        co_await eventually([&] { return s.keys() == 0; });
    }
}

CO_TEST("keys are not passed on when too little of their time is left") {
    std::vector<redis_server> own(1);
    auto options = new_servers(3s);
    options.min_validity = 1'500ms;
    redis_scene s(executor, 1, options, &own);
    const auto first = ask(s.lock), second = ask(s.lock);
    co_await granted(first);
    const auto value = s.value();
    own.front().pause(); // no renewals
    co_await eventually([&] { return held(first).valid_until() - boot_clock::now() < 1'500ms; });
    held(first) = guard();
    co_await asio::post(asio::use_awaitable);
    CHECK_FALSE(second->done());
    own.front().resume();
    co_await granted(second);
    CHECK(s.value() != value);
}

CO_TEST("a client that locks in a loop lets another one have the lock") {
    for (const auto& round : test.each(sizes, std::array{false, true}, std::array{1, 3})) {
        const auto servers = std::get<0>(round);
        const bool drops = std::get<1>(round);
        const int loops = std::get<2>(round);
        redis_scene s(executor, servers, new_servers(30s));
        redis::client other(executor, url_of(s.ports), new_servers(30s));
        bool enough = false;
        int holds = 0, running = loops;
        const auto loop = [&]() -> asio::awaitable<void> {
            while (!enough) {
                auto held = co_await s.lock.lock();
                ++holds;
                if (!drops) co_await held.unlock();
            }
            --running;
        };
        for (int n = 0; n < loops; ++n)
            asio::co_spawn(executor, loop, asio::detached);
        co_await eventually([&] { return holds > 20; });
        const auto call = ask(redis::mutex(other, s.name));
        co_await granted(call);
        CHECK(held(call).valid());
        enough = true;
        co_await unlocked(call);
        co_await eventually([&] { return running == 0; });
    }
}

CO_TEST("releases that the budget for bytes does not take at once are sent later") {
    auto options = new_servers(60s);
    options.max_bytes_queued = 64 * 1024;
    redis_scene s(executor, 1, options);
    const int count = test.full_or_brief(300, 2);
    std::vector<guard> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) {
        const redis::mutex one(s.client, s.name + std::to_string(n) + std::string(480, 'x'));
        all.push_back(co_await one.lock());
    }
    const auto left = [&] {
        return (*s.call[0])({"EVAL", "return #redis.call('KEYS', ARGV[1])", "0", s.name + "*"})
            .number;
    };
    CHECK(left() == count);
    all.clear();
    co_await eventually([&] { return left() == 0; });
}

CO_TEST("close() deletes the key that a late renewal has set again") {
    std::vector<redis_server> own(1);
    redis_scene s(executor, 1, new_servers(2s), &own);
    const auto call = ask(s.lock);
    co_await granted(call);
    own.front().pause();
    co_await eventually([&] { return !held(call).valid(); });
    own.front().resume();
    co_await eventually([&] { return s.keys() == 1; });
    const auto start = std::chrono::steady_clock::now();
    co_await s.client.close();
    CHECK(s.keys() == 0);
    CHECK(std::chrono::steady_clock::now() - start < scaled(1s));
}

CO_TEST("fifty clients with four waiters each are served") {
    if (test.full_or_brief(false, true)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(30s));
        std::vector<redis::client> clients;
        for (int n = 0; n < 50; ++n)
            clients.emplace_back(executor, url_of(s.ports), new_servers(30s));
        turns all;
        for (int n = 0; n < 200; ++n)
            asio::co_spawn(executor, all.take(redis::mutex(clients[n % 50], s.name)),
                           asio::detached);
        co_await eventually([&] { return all.grants == 200; }, 25s);
        co_await eventually([&] { return s.keys() == 0; });
    }
}

CO_TEST(
    "a client is granted two thousand locks that it asks for at once, and then another client") {
    if (test.full_or_brief(false, true)) co_return;
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(30s));
        redis::client other(executor, url_of(s.ports), new_servers(30s));
        const auto all_locks = [&](const redis::client& of) {
            std::vector<lock_call> calls;
            for (int n = 0; n < 2000 / time_scale; ++n)
                calls.push_back(ask(redis::mutex(of, s.name + '/' + std::to_string(n))));
            return calls;
        };
        const auto first = all_locks(s.client);
        for (const auto& one : first)
            co_await granted(one);
        const auto second = all_locks(other);
        for (const auto& one : first) {
            CHECK(held(one).valid());
            held(one) = guard();
        }
        for (const auto& one : second)
            co_await granted(one);
        for (const auto& one : second)
            CHECK(held(one).valid());
    }
}

CO_TEST("clients that go away hand the lock to those that stay") {
    const int most = test.full_or_brief(20, 4);
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(30s));
        std::vector<std::optional<redis::client>> clients(static_cast<std::size_t>(most));
        std::vector<lock_call> calls;
        for (auto& one : clients) {
            one.emplace(executor, url_of(s.ports), new_servers(30s));
            calls.push_back(ask(redis::mutex(*one, s.name)));
        }
        for (std::size_t left = calls.size(); left > 0; --left) {
            const auto holds = [](const lock_call& one) { return one->done() && held(one); };
            co_await eventually([&] { return std::any_of(calls.begin(), calls.end(), holds); });
            REQUIRE(std::count_if(calls.begin(), calls.end(), holds) == 1);
            const auto at = std::find_if(calls.begin(), calls.end(), holds);
            const auto n = static_cast<std::size_t>(at - calls.begin());
            CHECK(held(calls[n]).valid());
            // The holder's client goes, and another one that waits.
            clients[n].reset();
            co_await eventually([&] { return !held(calls[n]).valid(); });
            held(calls[n]) = guard();
            const auto waiting = std::find_if(calls.begin(), calls.end(),
                                              [](const auto& one) { return !one->done(); });
            if (waiting == calls.end()) break;
            clients[static_cast<std::size_t>(waiting - calls.begin())].reset();
            co_await finished(*waiting);
            // It may have been granted at that moment.
            if (!held(*waiting)) CHECK((*waiting)->error == errc::closed);
            held(*waiting) = guard();
            if (std::all_of(calls.begin(), calls.end(),
                            [](const auto& one) { return one->done(); }))
                break;
        }
        calls.clear();
        clients.clear();
        co_await eventually([&] { return s.keys() == 0; });
    }
}

TEST_CASE("an execution context may be destroyed with locks held and calls waiting") {
    std::optional<redis_scene> s;
    std::vector<lock_call> calls;
    guard last;
    {
        asio::io_context io(1);
        s.emplace(io.get_executor(), 3);
        redis::client other(io, url_of(s->ports), new_servers());
        for (int n = 0; n < 5; ++n) {
            calls.push_back(ask(s->lock));
            calls.push_back(ask(redis::mutex(other, s->name)));
        }
        const auto end = std::chrono::steady_clock::now() + scaled(10s);
        const auto is_held = [](const auto& one) { return one->done(); };
        while (std::none_of(calls.begin(), calls.end(), is_held) &&
               std::chrono::steady_clock::now() < end)
            io.run_one_for(10ms);
        const auto first = std::find_if(calls.begin(), calls.end(), is_held);
        REQUIRE(first != calls.end());
        last = std::move(held(*first));
        CHECK(last.valid());
    }
    CHECK_FALSE(last.valid());
    last = guard();
    for (const auto& one : calls)
        CHECK(one->times <= 1);
    s->call[0].reset();
}

TEST_CASE("a guard of a lost hold may be destroyed after its execution context") {
    std::optional<redis_scene> s;
    guard last;
    {
        asio::io_context io(1);
        s.emplace(io.get_executor(), 1, new_servers(500ms * time_scale));
        const auto until = [&](auto done) {
            const auto end = std::chrono::steady_clock::now() + scaled(10s);
            while (!done() && std::chrono::steady_clock::now() < end)
                io.run_one_for(10ms);
            REQUIRE(done());
        };
        const auto asked = ask(s->lock);
        until([&] { return asked->done(); });
        last = std::move(held(asked));
        s->foreigner_takes_it();
        until([&] { return !last.valid(); });
        s->foreigner_gives_it_back();
    }
    last = guard();
}

TEST_CASE("a guard that others wait for may be destroyed after its execution context") {
    std::optional<redis_scene> s;
    guard last;
    {
        asio::io_context io(1);
        s.emplace(io.get_executor());
        (*s->call[0])({"SUBSCRIBE", "paddock:free:" + s->name});
        const auto until_done = [&](const auto& one) {
            while (one->times == 0)
                io.run_one();
        };
        until_done(start([&](auto token) { s->client.connect(std::move(token)); }));
        const auto first = ask(s->lock);
        until_done(first);
        until_done(give_back(held(first))); // tells of a listener
        const auto second = ask(s->lock);
        until_done(second);
        last = std::move(held(second));
        CHECK(last.valid());
    }
    last = guard();
}

TEST_CASE("several threads may use a client, and run it") {
    for (const std::size_t count : sizes) {
        asio::thread_pool pool(3);
        redis_scene s(pool.get_executor(), count, new_servers(30s));
        redis::client other(pool, url_of(s.ports), new_servers(30s));
        std::atomic<int> inside{0}, grants{0}, wrong{0};
        const auto work = [&](redis::mutex lock, int rounds) -> asio::awaitable<void> {
            for (int n = 0; n < rounds; ++n) {
                auto held = co_await lock.lock();
                if (++inside != 1 || !held.valid()) ++wrong;
                ++grants;
                --inside;
                if (n % 2 == 0) co_await held.unlock();
                if (n % 3 == 0)
                    static_cast<void>(
                        co_await lock.try_lock_for(1ms)); // released at once, if granted
            }
        };
        std::vector<std::thread> threads;
        std::vector<std::future<void>> ends(6);
        for (std::size_t n = 0; n < ends.size(); ++n)
            threads.emplace_back([&, n] {
                ends[n] =
                    asio::co_spawn(pool, work(redis::mutex(n % 2 ? s.client : other, s.name), 20),
                                   asio::use_future);
            });
        for (auto& one : threads)
            one.join();
        for (auto& one : ends) {
            REQUIRE(one.wait_for(scaled(30s)) == std::future_status::ready);
            one.get();
        }
        CHECK(wrong == 0);
        CHECK(grants == 120);
        s.client.close(asio::use_future).wait();
        other.close(asio::use_future).wait();
        pool.join();
        CHECK(s.keys() == 0);
    }
}
