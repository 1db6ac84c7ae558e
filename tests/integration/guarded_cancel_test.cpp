// A guarded operation without a clear end: unknown outcomes, cancellation, misuse.

#include "support/guarded_harness.hpp"

#include <boost/asio/redirect_error.hpp>
#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;
using outcome = guarded_outcome;
CO_TEST("a commit with an unknown outcome is not restored") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto node = s.path + "-data";
    shelf goods;
    goods.steps.commit = [&](int&) {
        s.proxy.hold_from(direction::down, opcode::multi);
        return std::vector<operation>{op::create{node, "seven"}};
    };
    const auto way = begin(executor, g, goods.steps);
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await ended(way);
    expect(way->end(), outcome::unknown, errc::outcome_unknown);
    CHECK(goods.done == journal{"record", "operate"});
    CHECK(goods.goods == 7);
    CHECK(s.direct.exists(node));
    s.direct.remove(node);

    goods.steps.commit = [](int&, fencing_token) -> asio::awaitable<void> {
        throw system_error(errc::outcome_unknown);
        co_return;
    };
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::unknown, errc::outcome_unknown);
    CHECK(goods.goods == 4);
}

CO_TEST("a client that is closed during the commit leaves its outcome unknown") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto node = s.path + "-data";
    shelf goods;
    goods.steps.commit = [&](int&) {
        s.proxy.hold_from(direction::down, opcode::multi);
        return std::vector<operation>{op::create{node, "seven"}};
    };
    const auto way = begin(executor, g, goods.steps);
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    const auto closing = start([&](auto token) { s.zk.close(std::move(token)); });
    co_await ended(way);
    expect(way->end(), outcome::unknown, errc::closed);
    CHECK(s.direct.exists(node));
    s.proxy.release(direction::down);
    co_await finished(closing);
    s.direct.remove(node);
}

CO_TEST("a cancelled operate is restored, and a cancellation does not stop the restore") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    for (const auto how : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        shelf goods;
        bool operating = false, restoring = false, restored = false;
        goods.steps.operate = [&](int&) -> asio::awaitable<void> {
            co_await goods.take();
            operating = true;
            // By itself this stops for terminal cancellation only.
            co_await asio::co_spawn(executor, for_an_hour(), asio::use_awaitable);
        };
        goods.steps.restore = [&](int& before) -> asio::awaitable<void> {
            restoring = true;
            co_await s.zk.exists("/");
            goods.goods = before;
            restored = true;
        };
        const auto way = begin(executor, g, goods.steps);
        co_await eventually([&] { return operating; });
        s.proxy.hold(direction::down);
        way->cancel(how);
        co_await eventually([&] { return restoring; });
        way->cancel(asio::cancellation_type::terminal);
        co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
        CHECK_FALSE(way->done());
        s.proxy.release(direction::down);
        co_await ended(way);
        expect(way->end(), outcome::restored, asio::error::operation_aborted);
        CHECK(restored);
        CHECK(goods.goods == 10);
        CHECK(goods.done == journal{"record", "operate"});
        CHECK(g.valid());
    }
}

CO_TEST("a cancellation before operate prevents operate; one after it prevents the commit") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    for (const bool early : {true, false}) {
        shelf goods;
        asio::steady_timer pause(executor, 1h);
        const auto unmoved = [&]() -> asio::awaitable<void> {
            error_code ignored;
            co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        };
        if (early)
            goods.steps.record = [&]() -> asio::awaitable<int> {
                goods.done.push_back("record");
                co_await unmoved();
                co_return goods.goods;
            };
        else
            goods.steps.operate = [&](int&) -> asio::awaitable<void> {
                co_await goods.take();
                co_await unmoved();
            };
        const auto way = begin(executor, g, goods.steps);
        co_await eventually([&] { return goods.done.size() == (early ? 1u : 2u); });
        way->cancel(asio::cancellation_type::terminal);
        co_await ended(way);
        expect(way->end(), early ? outcome::nothing_done : outcome::restored,
               asio::error::operation_aborted);
        CHECK(goods.done == (early ? journal{"record"} : journal{"record", "operate", "restore"}));
        CHECK(goods.goods == 10);
    }
}

CO_TEST("only terminal cancellation ends a commit, and then its outcome is unknown") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto node = s.path + "-data";
    for (const bool terminal : {false, true}) {
        shelf goods;
        goods.steps.commit = [&](int&) {
            s.proxy.hold_from(direction::down, opcode::multi);
            return std::vector<operation>{op::create{node, "seven"}};
        };
        const auto way = begin(executor, g, goods.steps);
        co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
        way->cancel(asio::cancellation_type::total);
        if (terminal) {
            way->cancel(asio::cancellation_type::terminal);
            co_await ended(way);
            expect(way->end(), outcome::unknown, asio::error::operation_aborted);
        }
        s.proxy.release(direction::down);
        co_await ended(way);
        if (!terminal) expect(way->end(), outcome::committed, {});
        CHECK(goods.done == journal{"record", "operate"});
        CHECK(goods.goods == 7);
        s.direct.remove(node);
    }
}

CO_TEST("an operate that ends in the margin before the end of the lease is committed") {
    auto options = short_session(4s);
    options.lease.margin = 1s;
    scene s(executor, options);
    const guard g = co_await s.lock.lock();
    shelf goods;
    goods.steps.operate = [&](int&) -> asio::awaitable<void> {
        co_await goods.take();
        s.proxy.black_hole(true);
        try {
            co_await for_an_hour();
        } catch (const system_error&) { // cancelled in time, and done in time
        }
    };
    const auto result = co_await guarded(g, goods.steps);
    CHECK(g.valid());
    expect(result, outcome::committed, {});
    CHECK(goods.goods == 7);
    const auto why = co_await g.lost();
    CHECK(why == errc::lease_lapsed);
    s.proxy.black_hole(false);
}

CO_TEST("a guard that is destroyed in the middle is a lost lock") {
    scene s(executor);
    guard g = co_await s.lock.lock();
    shelf goods;
    goods.steps.operate = [&](int&) -> asio::awaitable<void> {
        co_await goods.take();
        g = guard();
        co_await for_an_hour();
    };
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::restored, errc::lock_lost);
    CHECK(goods.goods == 10);
}

CO_TEST("an empty guard, and a missing step, are refused by name") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto refused = [](const guard& by, guarded_steps<int> steps) {
        try {
            static_cast<void>(guarded(by, std::move(steps)));
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    const auto names = [](const std::string& text, const std::string& name) {
        return text.find(name) != std::string::npos;
    };
    const shelf whole;
    CHECK(names(refused(guard(), whole.steps), "guard is empty"));
    auto steps = whole.steps;
    steps.claim = nullptr;
    CHECK(names(refused(g, steps), "guarded_steps::claim is missing"));
    steps = whole.steps;
    steps.record = nullptr;
    CHECK(names(refused(g, steps), "record is missing"));
    steps = whole.steps;
    steps.operate = nullptr;
    CHECK(names(refused(g, steps), "operate is missing"));
    steps = whole.steps;
    steps.commit = {};
    CHECK(names(refused(g, steps), "commit is missing"));
    steps = whole.steps;
    steps.restore = nullptr;
    CHECK(names(refused(g, steps), "restore is missing"));
}
