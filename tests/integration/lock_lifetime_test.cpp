// Guards, clients, threads and execution contexts that end in any order.

#include "support/lock_harness.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A hold in a coroutine that never ends by itself.
asio::awaitable<void> hold_for_ever(std::string path, bool& holding) {
    const auto executor = co_await asio::this_coro::executor;
    client zk(executor, shared_server().address(), short_session(1s));
    mutex m(zk, path);
    const guard g = co_await m.lock();
    holding = true;
    asio::steady_timer never(executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
}

asio::awaitable<void> wait_for_lock(std::string path) {
    client zk(co_await asio::this_coro::executor, shared_server().address(), short_session(1s));
    mutex m(zk, path);
    const guard g = co_await m.lock();
}

} // namespace

TEST_CASE("guards and waiters in coroutine frames may die with their io_context") {
    foreigner direct(shared_server().address());
    const auto path = fresh_root();
    direct.make_path(path);
    {
        asio::io_context io(1);
        bool holding = false;
        const auto end = std::chrono::steady_clock::now() + scaled(10s);
        const auto run_until_queue = [&](std::size_t nodes) {
            while (queue_at(direct, path).size() < nodes && std::chrono::steady_clock::now() < end)
                io.run_one_for(20ms);
        };
        asio::co_spawn(io, hold_for_ever(path, holding), asio::detached);
        run_until_queue(1);
        for (int i = 0; i < 3; ++i)
            asio::co_spawn(io, wait_for_lock(path), asio::detached);
        run_until_queue(4);
        CHECK(holding);
        REQUIRE(queue_at(direct, path).size() == 4);
    }
    for (const auto& name : queue_at(direct, path))
        CHECK(direct.wait_gone(path + '/' + name)); // the session is over, or expires
}

TEST_CASE("a guard may outlive its mutex, its client and its io_context") {
    const auto path = fresh_root();
    guard g, released;
    {
        asio::io_context io(1);
        client zk(io.get_executor(), shared_server().address());
        {
            mutex m(zk, path), other(zk, path, {.name = "other"});
            const auto a = ask(m), b = ask(other);
            const auto end = std::chrono::steady_clock::now() + scaled(10s);
            while (!(a->done() && b->done()) && std::chrono::steady_clock::now() < end)
                io.run_one_for(20ms);
            REQUIRE(b->done());
            g = std::move(held(a));
            released = std::move(held(b));
        }
        CHECK(g.valid());
        released = guard(); // and the io_context does not run any more
    }
    CHECK(g);
    CHECK_FALSE(g.valid());
    CHECK(g.path().starts_with(path));
    CHECK(g.fencing_token().zxid > 0);
    const guard moved = std::move(g);
}

CO_TEST("a client that is destroyed with a hold releases it") {
    scene s(executor);
    std::optional<client> brief(std::in_place, executor, s.proxy.address());
    mutex m(*brief, s.path);
    const auto a = ask(m);
    co_await granted(a);
    const auto told = end_of(held(a));
    const auto b = ask(s.lock);
    co_await s.until_queue(2);
    brief.reset();
    co_await finished(told);
    CHECK(told->error == errc::closed);
    CHECK_FALSE(held(a).valid());
    co_await granted(b); // without waiting for the session's timeout
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    const auto late = ask(m);
    co_await finished(late);
    CHECK(late->error == errc::closed);
    CHECK(s.queue().size() == 1);
}

CO_TEST("an operation that is never awaited does nothing, but releases a guard in it") {
    scene s(executor);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    {
        auto never = s.lock.lock();
        auto neither = s.lock.try_lock_for(1s);
        auto deferred = s.lock.lock(asio::deferred);
    }
    co_await s.zk.exists("/");
    CHECK(s.requests() == std::vector<std::int32_t>{opcode::exists});
    {
        guard g = co_await s.lock.lock();
        CHECK(s.queue().size() == 1);
        auto never = g.unlock();
    }
    co_await s.until_queue(0);
    {
        guard g = co_await s.lock.lock();
        auto never = g.unlock(asio::deferred);
        CHECK_FALSE(g);
        auto neither = std::move(never);
    }
    co_await s.until_queue(0);
}

namespace {

/// Locks again and again, and passes the guard to other threads.
struct party {
    explicit party(std::size_t contexts) : io(contexts) {}

    std::deque<asio::io_context> io;
    std::atomic<int> inside{0}, wrong{0}, served{0};
    std::mutex tokens;
    fencing_token last_token; // guarded by `tokens`

    bool grows(fencing_token now) {
        const std::lock_guard alone(tokens);
        return std::exchange(last_token, now) < now;
    }

    void go(std::shared_ptr<mutex> m, int rounds, std::size_t here) {
        if (rounds == 0) return;
        m->lock([=, this](error_code problem, guard g) {
            if (problem || !g.valid() || inside.exchange(1) != 0) ++wrong;
            if (!grows(g.fencing_token())) ++wrong;
            ++served;
            const auto there = (here + 1) % io.size();
            asio::post(io[there], [=, this, g = std::move(g)]() mutable {
                if (!g.valid()) ++wrong;
                inside = 0;
                if (rounds % 2 == 0)
                    g.unlock([=, this](error_code failed) {
                        if (failed) ++wrong;
                        go(m, rounds - 1, here);
                    });
                else
                    go(m, rounds - 1, here); // and the guard is destroyed on this thread
            });
        });
    }
};

void celebrate(std::size_t contexts, std::size_t threads_each) {
    constexpr int rounds = 20;
    constexpr int workers = 3;
    party p(contexts);
    const auto path = fresh_root();
    {
        std::deque<client> clients;
        for (std::size_t c = 0; c < 3; ++c) {
            auto& zk =
                clients.emplace_back(p.io[c % contexts].get_executor(), shared_server().address());
            for (int i = 0; i < workers; ++i)
                p.go(std::make_shared<mutex>(zk, path), rounds, c % contexts);
        }
        std::vector<std::thread> threads;
        using work = asio::executor_work_guard<asio::io_context::executor_type>;
        std::vector<work> busy;
        for (auto& io : p.io) {
            busy.emplace_back(io.get_executor());
            for (std::size_t i = 0; i < threads_each; ++i)
                threads.emplace_back([&io] { io.run_for(scaled(30s)); });
        }
        const auto end = std::chrono::steady_clock::now() + scaled(25s);
        while (p.served < rounds * workers * 3 && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(5ms);
        clients.clear(); // on this thread, while theirs are running
        busy.clear();
        for (auto& t : threads)
            t.join();
    }
    CHECK(p.served == rounds * workers * 3);
    CHECK(p.wrong == 0);
}

} // namespace

TEST_CASE("guards move between the threads of one io_context") { celebrate(1, 4); }

TEST_CASE("clients run on threads of their own, and guards move between them") { celebrate(3, 1); }
