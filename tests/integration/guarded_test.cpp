// A guarded operation: its steps, its restore, and its result.

#include "support/guarded_harness.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

using namespace paddock;
using namespace paddock::test;
using outcome = guarded_outcome;

CO_TEST("work under the lock is committed with the token") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    shelf goods;
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::committed, {});
    result.rethrow();
    CHECK(goods.done == journal{"record", "operate", "commit"});
    CHECK(goods.goods == 7);
    CHECK(goods.claimed == g.fencing_token());
    CHECK(goods.seen == g.fencing_token());
    CHECK(g.valid());
}

CO_TEST("a commit that returns operations is a transaction; the state is any type that moves") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto node = s.path + "-data";
    s.direct.create(node, "ten");
    using text = std::unique_ptr<std::string>;
    guarded_steps<text> steps;
    steps.record = [&]() -> asio::awaitable<text> {
        const auto now = co_await s.zk.get(node);
        co_return std::make_unique<std::string>(now.data);
    };
    steps.operate = [](text& t) -> asio::awaitable<void> {
        *t += " less three";
        co_return;
    };
    steps.commit = [&](text& t) { return std::vector<operation>{op::set{node, *t}}; };
    steps.restore = [](text&) -> asio::awaitable<void> { co_return; };
    const auto result = co_await guarded(g, std::move(steps));
    expect(result, outcome::committed, {});
    CHECK(s.direct.get(node).data == "ten less three");
    s.direct.remove(node);
}

CO_TEST("under a lost lock no step runs") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    s.direct.remove(std::string(g.path()));
    co_await eventually([&] { return !g.valid(); });
    shelf goods;
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::nothing_done, errc::lock_lost);
    CHECK_THROWS_AS(result.rethrow(), system_error);
    CHECK(goods.done.empty());
}

CO_TEST("a lock that is lost during record, and a record that fails, leave nothing to restore") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    shelf goods;
    goods.steps.record = []() -> asio::awaitable<int> {
        throw std::runtime_error("no shelf");
        co_return 0;
    };
    auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::nothing_done, {});
    CHECK(text_in(result.reason) == "no shelf");
    goods.steps.record = [&]() -> asio::awaitable<int> {
        s.direct.remove(std::string(g.path()));
        try {
            co_await for_an_hour();
        } catch (const system_error&) {
        }
        co_return 10; // it ignores the cancellation
    };
    result = co_await guarded(g, goods.steps);
    expect(result, outcome::nothing_done, errc::lock_lost);
    CHECK(goods.done.empty());
}

CO_TEST("a lock that is lost during operate cancels it, and the record is restored") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    shelf goods;
    bool ended = false;
    goods.steps.operate = [&](int&) -> asio::awaitable<void> {
        co_await goods.take();
        s.direct.remove(std::string(g.path()));
        try {
            co_await for_an_hour();
        } catch (const system_error& error) {
            ended = error.code() == asio::error::operation_aborted;
            throw;
        }
    };
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::restored, errc::lock_lost);
    CHECK(ended);
    CHECK(goods.done == journal{"record", "operate", "restore"});
    CHECK(goods.goods == 10);
}

CO_TEST("a lease that ends unnoticed during operate is found out before the commit") {
    scene s(executor, short_session(3s));
    const guard g = co_await s.lock.lock();
    shelf goods;
    goods.steps.operate = [&](int&) -> asio::awaitable<void> {
        co_await goods.take();
        s.proxy.black_hole(true);
        const auto until = g.valid_until();
        while (boot_clock::now() < until) // on this thread, so the library does not run
            std::this_thread::sleep_for(until - boot_clock::now());
    };
    const auto result = co_await guarded(g, goods.steps);
    s.proxy.black_hole(false);
    expect(result, outcome::restored, errc::lock_lost);
    CHECK(goods.done == journal{"record", "operate", "restore"});
    CHECK(goods.goods == 10);
}

CO_TEST("a transaction is refused when the lock is lost between the check and the commit") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto node = s.path + "-data";
    shelf goods;
    goods.steps.commit = [&](int&) {
        goods.done.push_back("commit");
        s.proxy.hold(direction::down); // so only the ensemble knows of the loss
        s.direct.remove(std::string(g.path()));
        CHECK(g.valid());
        return std::vector<operation>{op::create{node, "seven"}};
    };
    const auto way = begin(executor, g, goods.steps);
    co_await eventually([&] { return s.sent(opcode::multi) == 1; });
    CHECK_FALSE(way->done());
    s.proxy.release(direction::down);
    co_await ended(way);
    expect(way->end(), outcome::restored, errc::lock_lost);
    CHECK(goods.done == journal{"record", "operate", "commit", "restore"});
    CHECK(goods.goods == 10);
    CHECK_FALSE(s.direct.exists(node));
}

CO_TEST("an exception in operate or commit restores, and reaches the caller") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    {
        shelf goods;
        goods.steps.operate = [&](int&) -> asio::awaitable<void> {
            co_await goods.take();
            throw std::runtime_error("it fell down");
        };
        const auto result = co_await guarded(g, goods.steps);
        expect(result, outcome::restored, {});
        CHECK(text_in(result.reason) == "it fell down");
        CHECK(goods.done == journal{"record", "operate", "restore"});
        CHECK(goods.goods == 10);
    }
    shelf goods;
    goods.steps.commit = [](int&, fencing_token) -> asio::awaitable<void> {
        throw std::runtime_error("the token is too small");
        co_return;
    };
    auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::restored, {});
    CHECK(text_in(result.reason) == "the token is too small");
    CHECK(goods.goods == 10);
    goods.steps.commit = [&](int&) { return std::vector<operation>{op::set{s.path, "", 17}}; };
    result = co_await guarded(g, goods.steps);
    expect(result, outcome::restored, zk_errc::bad_version);
    CHECK(goods.goods == 10);
    goods.steps.commit = [](int&) -> std::vector<operation> { throw std::runtime_error("none"); };
    result = co_await guarded(g, goods.steps);
    expect(result, outcome::restored, {});
    CHECK(text_in(result.reason) == "none");
    CHECK(g.valid());
}

CO_TEST("a failed restore is reported together with the error that caused it") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    shelf goods;
    goods.steps.operate = [](int&) -> asio::awaitable<void> {
        throw std::runtime_error("it fell down");
        co_return;
    };
    goods.steps.restore = [](int&) -> asio::awaitable<void> {
        throw std::runtime_error("and broke");
        co_return;
    };
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::restore_failed, {});
    CHECK(text_in(result.reason) == "it fell down");
    CHECK(text_in(result.restore_failure) == "and broke");
}
