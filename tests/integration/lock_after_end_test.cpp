// Operations during and after the end of the execution context, and guards that are destroyed while
// their client closes.

#include "support/lock_harness.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A handler that must never be called, and counts its instances.
struct uncalled {
    template <class... Result>
    void operator()(Result&&...) const {
        FAIL_CHECK("called after the end");
    }
    std::shared_ptr<int> alive;
};

template <class Predicate>
void run_until_true(asio::io_context& io, Predicate predicate) {
    const auto end = std::chrono::steady_clock::now() + scaled(10s);
    while (!predicate() && std::chrono::steady_clock::now() < end)
        io.run_one_for(20ms);
    REQUIRE(predicate());
}

} // namespace

TEST_CASE("an object that outlives its io_context destroys its handlers uncalled") {
    const auto path = fresh_root();
    std::optional<asio::io_context> io(std::in_place, 1);
    client zk(io->get_executor(), shared_server().address(), short_session(1s));
    mutex m(zk, path), second(zk, path, {.name = "second"}), third(zk, path, {.name = "third"});
    shared_mutex rw(zk, path + "/rw");
    semaphore permits(zk, path + "/permits", 2);
    simple_mutex simple(zk, path + "/simple");
    recursive_mutex recursive(zk, path + "/recursive");
    recursive_shared_mutex both_ways(zk, path + "/both");
    election leading(zk, path + "/election");
    paddock::watch changed(zk);
    const auto a = ask(m), b = ask(second);
    const auto place = start<ticket>([&](auto token) { third.enqueue(std::move(token)); });
    const auto both = start<guard_set>([&](auto token) {
        lock_all({mutex(zk, path + "/x"), mutex(zk, path + "/y")}, std::move(token));
    });
    run_until_true(*io, [&] { return a->done() && b->done() && place->done() && both->done(); });
    auto t = std::move(std::get<ticket>(place->result));
    auto all = std::move(std::get<guard_set>(both->result));
    auto& g = held(a);
    io.reset();

    const auto count = std::make_shared<int>(0);
    const auto token = [&] { return uncalled{count}; };
    zk.connect(token());
    zk.next_state(client_state::closed, token());
    zk.get("/", token());
    zk.get("/", changed, token());
    zk.create(path, "", create_options(), token());
    zk.multi({op::check{"/", 0}}, token());
    changed.event(token());
    m.lock(token());
    m.try_lock(token());
    m.try_lock_for(1s, token());
    m.enqueue(token());
    m.contenders(token());
    m.kick(contender(), token());
    rw.lock_shared(token());
    permits.acquire(token());
    simple.lock(token());
    recursive.lock(owner(), token());
    both_ways.lock(owner(), token());
    both_ways.lock_shared(owner(), token());
    leading.campaign(token());
    leading.leader(token());
    lock_all({m, second}, token());
    g.lost(token());
    g.verify(token());
    g.transaction({op::check{"/", 0}}, token());
    g.unlock(token());
    held(b).unlock(asio::detached);
    t.next_change(token());
    t.holder(token());
    t.acquired(token());
    all.lost(token());
    all.unlock(token());
    zk.close(token());
    auto broken = m.lock(asio::use_future);
    CHECK_THROWS_AS(static_cast<void>(broken.get()), std::future_error);
    CHECK(count.use_count() == 1);
}

// The end of a larger waiter, which stood before it, must not let it go on.
TEST_CASE("a simple_mutex that waits for the node budget outlives its io_context") {
    const auto path = fresh_root();
    std::optional<asio::io_context> io(std::in_place, 1);
    client_options options = short_session(1s);
    options.budgets.node_path_bytes = 1024;
    client zk(io->get_executor(), shared_server().address(), options);
    mutex first(zk, path + '/' + std::string(200, 'a')),
        second(zk, path + '/' + std::string(200, 'b'));
    mutex larger(zk, path + '/' + std::string(460, 'c'));
    std::optional<simple_mutex> small(std::in_place, zk, path + "/d");
    const auto a = ask(first), b = ask(second);
    run_until_true(*io, [&] { return a->done() && b->done(); });
    const auto c = ask(larger);
    const auto d = start<guard>([&](auto token) { small->lock(std::move(token)); });
    io->run_for(200ms);
    CHECK_FALSE(c->done());
    CHECK_FALSE(d->done());
    io.reset();
    small.reset();
}

// The timer that looks for waiters behind their own client's hold ends with the io_context.
TEST_CASE("a guard outlives its io_context, also after another call waited behind it") {
    const auto path = fresh_root();
    std::optional<asio::io_context> io(std::in_place, 1);
    std::optional<client> zk(std::in_place, io->get_executor(), shared_server().address(),
                             short_session(1s));
    std::optional<mutex> m(std::in_place, *zk, path + "/m");
    std::optional<simple_mutex> simple(std::in_place, *zk, path + "/s");
    auto a = ask(*m), b = start<guard>([&](auto token) { simple->lock(std::move(token)); });
    run_until_true(*io, [&] { return a->done() && b->done(); });
    const auto c = ask(*m), d = start<guard>([&](auto token) { simple->lock(std::move(token)); });
    io->run_for(200ms);
    CHECK_FALSE(c->done());
    CHECK_FALSE(d->done());
    io.reset();
    CHECK_FALSE(held(a).valid());
    held(a) = {};
    held(b) = {};
    m.reset();
    simple.reset();
    zk.reset();
}

namespace {

/// Ends in its own way, whenever that is.
struct last_will {
    client& zk;
    mutex& lock;
    guard& g;
    paddock::watch& changed;
    ~last_will() {
        zk.get("/", changed, asio::detached);
        lock.lock(asio::detached);
        g.unlock(asio::detached);
        zk.close(asio::detached);
        changed.event(asio::detached);
    }
};

asio::awaitable<void> hold_until_the_end(client& zk, mutex& lock, guard& g, bool& holding) {
    paddock::watch changed(zk);
    g = co_await lock.lock();
    const last_will will{zk, lock, g, changed};
    holding = true;
    asio::steady_timer never(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
}

} // namespace

TEST_CASE("destructors that run inside ~io_context may begin operations") {
    const auto path = fresh_root();
    for (const bool client_dies_first : {false, true}) {
        std::optional<asio::io_context> io(std::in_place, 1);
        std::optional<asio::steady_timer> service_first;
        if (client_dies_first) service_first.emplace(*io);
        client zk(io->get_executor(), shared_server().address(), short_session(1s));
        mutex lock(zk, path);
        guard g;
        bool holding = false;
        asio::co_spawn(*io, hold_until_the_end(zk, lock, g, holding), asio::detached);
        run_until_true(*io, [&] { return holding; });
        service_first.reset();
        io.reset();
        CHECK_FALSE(g.valid());
        CHECK(zk.state() == client_state::closed);
    }
}

TEST_CASE("guards may be destroyed on one thread while their client closes on another") {
    const auto path = fresh_root();
    for (int round = 0; round < 4; ++round) {
        asio::io_context io(2);
        auto work = asio::make_work_guard(io);
        std::thread runs([&] { io.run(); });
        client zk(io.get_executor(), shared_server().address());
        shared_mutex lock(zk, path);
        std::vector<std::future<guard>> asked;
        for (int i = 0; i < 500; ++i)
            asked.push_back(lock.lock_shared(asio::use_future));
        std::vector<guard> guards;
        for (auto& one : asked) {
            REQUIRE(one.wait_for(scaled(20s)) == std::future_status::ready);
            guards.push_back(one.get());
        }
        auto closed = zk.close(asio::use_future);
        if (round % 2 == 1)
            while (zk.state() != client_state::closed)
                std::this_thread::yield();
        while (!guards.empty())
            guards.pop_back();
        CHECK(closed.wait_for(scaled(20s)) == std::future_status::ready);
        work.reset();
        runs.join();
    }
}

CO_TEST("when close completes, nothing of the client is left") {
    foreigner direct(shared_server().address());
    const auto path = fresh_root();
    direct.make_path(path);
    for (std::size_t n = 0; test.begin_round(n, 10); ++n) {
        client zk(executor, shared_server().address(), short_session(60s));
        shared_mutex lock(zk, path);
        std::vector<guard> guards;
        const int wanted = 40;
        for (int i = 0; i < wanted; ++i)
            lock.lock_shared([&](error_code, guard g) { guards.push_back(std::move(g)); });
        co_await eventually([&] { return guards.size() == wanted; });
        guards.clear(); // a burst of deletes, the answers to which come while it closes
        for (int i = 0; i < wanted; ++i)
            zk.get("/", [](error_code, const get_result&) {});
        co_await zk.close();
        CHECK(direct.children(path).empty());
    }
}

TEST_CASE("an execution context that ends right after a release leaves no lock behind") {
    foreigner direct(shared_server().address());
    int in_time = 0; // proves that the server was not slow
    for (std::size_t round = 0; round < 30 && in_time < 3; ++round) {
        // Fewer and fewer, until a slow one can delete them in time.
        const std::size_t many = std::max<std::size_t>(100 >> (round / 4), 1);
        const auto path = fresh_root();
        direct.make_path(path);
        std::optional<asio::io_context> io(std::in_place, 1);
        client zk(io->get_executor(), shared_server().address(), short_session(60s));
        shared_mutex lock(zk, path);
        std::vector<guard> guards;
        for (std::size_t i = 0; i < many; ++i)
            lock.lock_shared([&](error_code, guard g) { guards.push_back(std::move(g)); });
        run_until_true(*io, [&] { return guards.size() == many; });
        guards.clear();
        io->poll(); // the deletes are sent, their answers have not come
        const auto begin = std::chrono::steady_clock::now();
        io.reset();
        if (std::chrono::steady_clock::now() - begin > 40ms) continue;
        ++in_time;
        CHECK(direct.children(path).empty());
    }
    CHECK(in_time > 0);
}
