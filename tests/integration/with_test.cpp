// with(): a coroutine under a lock, and the release that the caller waits for.

#include "support/background_task.hpp"
#include "support/lock_harness.hpp"

#include <boost/asio/as_tuple.hpp>
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace paddock;
using namespace paddock::test;

namespace {

using no_work = asio::awaitable<void>;

no_work sleep_until_cancelled(asio::any_io_executor executor, bool& running) {
    running = true;
    co_await test::sleep_until_cancelled(executor);
}

bool free_at(scene& s) { return s.queue().empty(); }

} // namespace

CO_TEST("with() runs the work under the lock, and ends when the lock's node is deleted") {
    scene s(executor);
    std::string node;
    const auto work = [&](guard& g) -> asio::awaitable<int> {
        CHECK(g.valid());
        node = g.path();
        CHECK(s.queue().size() == 1);
        co_return 42;
    };
    const int result = co_await s.lock.with(work);
    CHECK(result == 42);
    CHECK(free_at(s));
    CHECK_FALSE(node.empty());
}

CO_TEST("the work may take no argument, return nothing, or return what can only be moved") {
    scene s(executor);
    int runs = 0;
    co_await s.lock.with([&]() -> no_work {
        ++runs;
        co_return;
    });
    const auto make = []() -> asio::awaitable<std::unique_ptr<int>> {
        co_return std::make_unique<int>(7);
    };
    const auto made = co_await s.lock.with(make);
    CHECK(*made == 7);
    const std::function<no_work(guard&)> function = [&](guard&) -> no_work {
        ++runs;
        co_return;
    };
    co_await s.lock.with(function);
    CHECK(runs == 2);
    CHECK(free_at(s));
}

CO_TEST("an exception of the work arrives after the release") {
    scene s(executor);
    std::string text;
    try {
        co_await s.lock.with([]() -> no_work {
            throw std::runtime_error("out of paper");
            co_return;
        });
    } catch (const std::runtime_error& e) {
        text = e.what();
        CHECK(free_at(s));
    }
    CHECK(text == "out of paper");
}

CO_TEST("work that has released the lock itself, or has kept the guard, is its own master") {
    scene s(executor);
    co_await s.lock.with([](guard& g) -> no_work { co_await g.unlock(); });
    CHECK(free_at(s));
    guard kept;
    co_await s.lock.with([&](guard& g) -> no_work {
        kept = std::move(g);
        co_return;
    });
    CHECK(kept.valid());
    CHECK(s.queue().size() == 1);
    co_await kept.unlock();
}

CO_TEST("when the lock is lost the work is cancelled, and with() throws lock_lost") {
    scene s(executor);
    bool running = false;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await s.lock.with([&] { return sleep_until_cancelled(executor, running); });
    });
    co_await eventually([&] { return running; });
    s.direct.remove(s.path + '/' + s.queue().at(0));
    co_await ended(t);
    CHECK(t->error() == errc::lock_lost);
}

CO_TEST("a result of the work is not thrown away when the lock was lost meanwhile") {
    scene s(executor);
    const auto work = [&](guard& g) -> asio::awaitable<int> {
        s.direct.remove(std::string(g.path()));
        while (g.valid())
            co_await g.lost(asio::as_tuple(asio::use_awaitable));
        co_return 1;
    };
    const int result = co_await s.lock.with(work);
    CHECK(result == 1);
}

CO_TEST("a cancelled with() leaves the queue, or ends the work and waits for the release") {
    scene s(executor);
    for (const auto& round : test.each(std::array{false, true})) {
        const bool waits = std::get<bool>(round);
        guard before;
        if (waits) before = co_await s.lock.lock();
        bool running = false;
        const auto t = spawn(executor, [&]() -> no_work {
            co_await s.lock.with([&] { return sleep_until_cancelled(executor, running); });
        });
        if (waits)
            co_await s.until_queue(2);
        else
            co_await eventually([&] { return running; });
        t->stop.emit(asio::cancellation_type::terminal);
        co_await ended(t);
        CHECK(t->error() == asio::error::operation_aborted);
        CHECK(running != waits);
        if (waits)
            co_await s.until_queue(1);
        else
            CHECK(free_at(s));
        if (before) co_await before.unlock();
    }
}

CO_TEST("a second cancellation ends the wait for the release, not the release") {
    scene s(executor);
    bool running = false;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await s.lock.with([&] { return sleep_until_cancelled(executor, running); });
    });
    co_await eventually([&] { return running; });
    s.proxy.hold(direction::down);
    t->stop.emit(asio::cancellation_type::terminal);
    co_await s.until_queue(0);
    CHECK_FALSE(t->end);
    t->stop.emit(asio::cancellation_type::terminal);
    co_await ended(t);
    CHECK(t->error() == asio::error::operation_aborted);
    s.proxy.release(direction::down);
}

CO_TEST("the caller's cancellation state is what it was before with()") {
    scene s(executor);
    bool running = false;
    std::vector<std::string> story;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await asio::this_coro::throw_if_cancelled(false);
        try {
            co_await s.lock.with([&] { return sleep_until_cancelled(executor, running); });
        } catch (const system_error&) {
            story.emplace_back("cancelled");
        }
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        if (!throws) story.emplace_back("does not throw");
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) story.emplace_back("remembers");
    });
    co_await eventually([&] { return running; });
    t->stop.emit(asio::cancellation_type::terminal);
    co_await ended(t);
    CHECK(story == std::vector<std::string>{"cancelled", "does not throw", "remembers"});
}

CO_TEST("try_with() runs the work only if the lock is free, or becomes free in time") {
    scene s(executor);
    const auto answer = []() -> asio::awaitable<int> { co_return 1; };
    const auto nothing = []() -> no_work { co_return; };
    co_await s.zk.connect();
    {
        const guard before = co_await s.lock.lock();
        const std::optional<int> none = co_await s.lock.try_with(answer);
        CHECK_FALSE(none);
        const bool late = co_await s.lock.try_with_for(1ms, nothing);
        CHECK_FALSE(late);
        const bool past = co_await s.lock.try_with_until(std::chrono::system_clock::now(), nothing);
        CHECK_FALSE(past);
    }
    const std::optional<int> one = co_await s.lock.try_with(answer);
    CHECK(one == 1);
    CHECK(free_at(s));
    const bool ran = co_await s.lock.try_with_for(1h, nothing);
    CHECK(ran);
    CHECK(free_at(s));
}

CO_TEST("an empty function is refused before anything is sent") {
    scene s(executor);
    co_await s.zk.connect();
    const auto before = s.requests().size();
    std::function<no_work()> nothing;
    error_code why;
    try {
        co_await s.lock.with(nothing);
    } catch (const system_error& e) {
        why = e.code();
        CHECK(std::string(e.what()).starts_with("work is"));
    }
    CHECK(why == errc::bad_argument);
    CHECK(s.requests().size() == before);
    const guard held = co_await s.lock.lock();
    why = {};
    try {
        co_await held.run(nothing);
    } catch (const system_error& e) {
        why = e.code();
    }
    CHECK(why == errc::bad_argument);
}

namespace {

no_work count_up(int& runs) {
    ++runs;
    co_return;
}

/// A type that looks like std::function, but is never empty.
struct adaptable {
    using result_type = no_work;
    int* runs;
    no_work operator()() const { return count_up(*runs); }
};

} // namespace

CO_TEST("the work may be any callable") {
    scene s(executor);
    int runs = 0;
    const auto bound = std::bind(&count_up, std::ref(runs));
    co_await s.lock.with(bound);
    const adaptable functor{&runs};
    co_await s.lock.with(functor);
    const guard held = co_await s.lock.lock();
    co_await held.run(bound);
    co_await held.run(functor);
    CHECK(runs == 4);
}

CO_TEST("a deadline counts from the clock, not from when the operation begins") {
    scene s(executor);
    co_await s.zk.connect();
    const auto other = queue_up(s.direct, s.path);
    const auto deadline = std::chrono::steady_clock::now() + 10ms;
    bool ran = false;
    const auto work = [&]() -> no_work {
        ran = true;
        co_return;
    };
    auto lock = s.lock.try_lock_until(deadline);
    auto with = s.lock.try_with_until(deadline, work);
    auto all = try_lock_all_until({s.lock}, deadline);
    asio::steady_timer passes(executor, deadline);
    co_await passes.async_wait(asio::use_awaitable);
    const guard none = co_await std::move(lock);
    CHECK_FALSE(none);
    const bool had_it = co_await std::move(with);
    CHECK_FALSE(had_it);
    const guard_set no_set = co_await std::move(all);
    CHECK_FALSE(no_set);
    CHECK_FALSE(ran);
    CHECK(s.sent(opcode::create2) == 0); // as a try_lock(), which does not join the queue
}

CO_TEST("every lock has its with()") {
    scene s(executor);
    const auto one = [](guard& g) -> asio::awaitable<int> {
        CHECK(g.valid());
        co_return 1;
    };
    const shared_mutex shared(s.zk, s.path + "-shared");
    const semaphore permits(s.zk, s.path + "-permits", 3);
    const recursive_mutex recursive(s.zk, s.path + "-recursive");
    const simple_mutex simple(s.zk, s.path + "-simple");
    const owner by;
    int runs = 0;
    runs += co_await shared.with(one);
    runs += co_await shared.with_shared(one);
    runs += co_await permits.with(one);
    runs += co_await permits.with(3, one);
    runs += co_await recursive.with(by, one);
    runs += co_await simple.with(one);
    CHECK(runs == 6);
    // Each finds the lock free, because the one before it has waited for the release.
    runs += (co_await shared.try_with(one)).value_or(0);
    runs += (co_await shared.try_with_shared_for(1s, one)).value_or(0);
    runs += (co_await permits.try_with(3, one)).value_or(0);
    runs += (co_await permits.try_with(one)).value_or(0);
    runs += (co_await permits.try_with_for(1s, one)).value_or(0);
    runs += (co_await recursive.try_with(by, one)).value_or(0);
    runs += (co_await simple.try_with(one)).value_or(0);
    CHECK(runs == 13);
}

CO_TEST("a candidate without competitors can lead at once, and others not") {
    scene s(executor);
    const election votes(s.zk, s.path);
    co_await s.zk.connect();
    guard first = co_await votes.try_campaign();
    CHECK(first.valid());
    guard second = co_await votes.try_campaign();
    CHECK_FALSE(second);
    second = co_await votes.try_campaign_for(1ms);
    CHECK_FALSE(second);
    co_await first.unlock();
    second = co_await votes.try_campaign_until(std::chrono::steady_clock::now() + 1h);
    CHECK(second.valid());
}

CO_TEST("several locks are taken, and released before with_all() ends") {
    scene s(executor);
    const shared_mutex prices(s.zk, s.path + "-prices");
    const semaphore workers(s.zk, s.path + "-workers", 2);
    const std::vector<lock_request> all{s.lock, shared(prices), permits(workers, 2)};
    const auto work = [](guard_set& held) -> asio::awaitable<int> {
        CHECK(held.valid());
        CHECK(held.size() == 3);
        co_return 3;
    };
    const int result = co_await with_all(all, work);
    CHECK(result == 3);
    CHECK(free_at(s));
    const std::optional<int> again = co_await try_with_all(all, work);
    CHECK(again == 3);
    const guard one = co_await workers.acquire();
    const auto nothing = []() -> no_work { co_return; };
    const bool late = co_await try_with_all_for(all, 1ms, nothing);
    CHECK_FALSE(late);
    const auto at_once = std::chrono::system_clock::now();
    const bool until = co_await try_with_all_until(all, at_once, nothing);
    CHECK_FALSE(until);
    co_await s.until_queue(0);
}

CO_TEST("work under several locks is cancelled when one of them is lost") {
    scene s(executor);
    const mutex other(s.zk, s.path + "-other");
    const std::vector<mutex> both{s.lock, other};
    bool running = false;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await with_all(both, [&] { return sleep_until_cancelled(executor, running); });
    });
    co_await eventually([&] { return running; });
    s.direct.remove(s.path + '/' + s.queue().at(0));
    co_await ended(t);
    CHECK(t->error() == errc::lock_lost);
    CHECK(queue_at(s.direct, s.path + "-other").empty());
}

CO_TEST("a reader under a reentrant writer is part of its with()") {
    scene s(executor);
    const recursive_shared_mutex book(s.zk, s.path);
    const owner by;
    const auto read = []() -> asio::awaitable<int> { co_return 7; };
    const auto write = [&](guard& g) -> asio::awaitable<int> {
        CHECK(g.has_token());
        const int page = co_await book.with_shared(by, read);
        CHECK(s.queue().size() == 1);
        co_return page;
    };
    const int page = co_await book.with(by, write);
    CHECK(page == 7);
    CHECK(free_at(s));
}
