// How the end of a hold is reported: beside some work, and with every kind of completion token.

#include "support/lock_all_harness.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>
#include <doctest/doctest.h>

#include <array>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace asio::experimental::awaitable_operators;

namespace {

// A callback with the reason alone would take the error of the wait for it, so it must not compile.
template <class Guard, class Callback>
concept tells = requires(const Guard& g, Callback callback) {
    g.lost(callback);
};
using of_one_code = void (*)(error_code);
using of_two_codes = void (*)(error_code, error_code);
static_assert(!tells<guard, of_one_code> && !tells<guard_set, of_one_code>);
static_assert(tells<guard, of_two_codes> && tells<guard_set, of_two_codes>);

} // namespace

CO_TEST("work || lost() ends with the work or with the loss, whichever comes first") {
    scene s(executor);
    for (const auto& round : test.each(std::array{false, true})) {
        const bool loses = std::get<bool>(round);
        const guard g = co_await s.lock.lock();
        asio::steady_timer work(executor, loses ? 1h : 0h);
        if (loses) s.direct.remove(std::string(g.path()));
        const auto first = co_await (work.async_wait(asio::use_awaitable) || g.lost());
        CHECK(first.index() == (loses ? 1 : 0));
        CHECK(g.valid() == !loses);
    }
}

CO_TEST("work || lost() of a set ends the work when the first lock is lost") {
    three s(executor);
    for (const auto& round : test.each(std::array{false, true})) {
        const bool loses = std::get<bool>(round);
        const guard_set all = co_await lock_all(s.all);
        asio::steady_timer work(executor, loses ? 1h : 0h);
        if (loses) s.direct.remove(std::string(all[1].path()));
        const auto first = co_await (work.async_wait(asio::use_awaitable) || all.lost());
        CHECK(first.index() == (loses ? 1 : 0));
        CHECK(all.valid() == !loses);
    }
}

CO_TEST("every kind of token gets the reason as a value") {
    scene s(executor);
    guard g = co_await s.lock.lock();
    auto deferred = g.lost(asio::deferred);
    auto future = g.lost(asio::use_future);
    std::optional<error_code> error, reason;
    g.lost([&](error_code e, error_code why) {
        error = e;
        reason = why;
    });
    const std::string node(g.path());
    const auto removal = [&]() -> asio::awaitable<void> {
        co_await s.zk.remove(node, any_version);
    };
    asio::co_spawn(executor, removal(), asio::detached);
    auto why = co_await g.lost();
    CHECK(why == errc::node_deleted);
    why = co_await std::move(deferred)(asio::use_awaitable);
    CHECK(why == errc::node_deleted);
    const auto both = co_await g.lost(asio::as_tuple(asio::use_awaitable));
    CHECK(both == std::tuple(error_code(), error_code(errc::node_deleted)));
    co_await eventually([&] { return reason && future.wait_for(0s) == std::future_status::ready; });
    CHECK(error == error_code());
    CHECK(reason == error_code(errc::node_deleted));
    CHECK(future.get() == errc::node_deleted);
    g = guard(); // a later release is not the reason of the loss
}

CO_TEST("a wait for the loss that is cancelled has no reason") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    for (const auto how : {asio::cancellation_type::total, asio::cancellation_type::terminal}) {
        std::optional<error_code> error, reason;
        asio::cancellation_signal stop;
        g.lost(asio::bind_cancellation_slot(stop.slot(), [&](error_code e, error_code why) {
            error = e;
            reason = why;
        }));
        co_await s.zk.exists("/");
        CHECK_FALSE(error);
        stop.emit(how);
        co_await eventually([&] { return error.has_value(); });
        CHECK(error == error_code(asio::error::operation_aborted));
        CHECK(reason == error_code());
    }
    CHECK(g.valid());
}

CO_TEST("lost() says that the lock was released, or that the client is closed") {
    scene s(executor);
    guard g = co_await s.lock.lock();
    auto told = g.lost(asio::use_future);
    co_await g.unlock();
    co_await eventually([&] { return told.wait_for(0s) == std::future_status::ready; });
    CHECK(told.get() == errc::released);
    g = co_await s.lock.lock();
    told = g.lost(asio::use_future);
    co_await s.zk.close();
    co_await eventually([&] { return told.wait_for(0s) == std::future_status::ready; });
    CHECK(told.get() == errc::closed);
    const auto late = co_await g.lost();
    CHECK(late == errc::closed);
}

TEST_CASE("a wait for the loss is destroyed with its event loop, uncalled") {
    bool called = false;
    const auto token = std::make_shared<int>();
    const std::weak_ptr kept(token);
    guard g;
    {
        asio::io_context io;
        client zk(io.get_executor(), shared_server().address());
        mutex lock(zk, fresh_root());
        g = run_with_deadline(io, lock.lock());
        g.lost([&called, token = token](error_code, error_code) { called = true; });
        run_with_deadline(io, zk.exists("/")); // so that it waits
    }
    CHECK(kept.use_count() == 1);
    CHECK_FALSE(called);
    CHECK_FALSE(g.valid());
}

namespace {

/// The exception that is nested in the error of a run.
template <class Nested>
std::string nested_in(const system_error& error) {
    try {
        std::rethrow_if_nested(error);
    } catch (const Nested& inner) {
        return inner.what();
    }
    return "nothing";
}

asio::awaitable<void> wait_out(const asio::any_io_executor& executor) {
    asio::steady_timer timer(executor, 1h);
    error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

} // namespace

CO_TEST("a result of work is not thrown away when the hold was lost meanwhile") {
    scene s(executor);
    guard g = co_await s.lock.lock();
    const int result = co_await g.run([&]() -> asio::awaitable<int> {
        s.direct.remove(std::string(g.path()));
        co_await wait_out(executor); // until it is cancelled
        co_return 7;
    });
    CHECK(result == 7);
    CHECK_FALSE(g.valid());
    g = co_await s.lock.lock();
    bool ended = false;
    co_await g.run([&]() -> asio::awaitable<void> {
        s.direct.remove(std::string(g.path()));
        co_await wait_out(executor);
        ended = true;
    });
    CHECK(ended);
    CHECK_FALSE(g.valid());
    const auto why = co_await g.lost();
    CHECK(why == errc::node_deleted);
}

CO_TEST("work that fails after the loss throws lock_lost with its own exception nested") {
    scene s(executor);
    for (const auto& round : test.each(std::array{false, true})) {
        const bool by_itself = std::get<bool>(round);
        const guard g = co_await s.lock.lock();
        std::optional<system_error> said;
        std::string nested;
        try {
            co_await g.run([&]() -> asio::awaitable<void> {
                s.direct.remove(std::string(g.path()));
                co_await wait_out(executor);
                if (by_itself) throw std::runtime_error("the disk is full");
                co_await asio::post(executor, asio::use_awaitable); // it was cancelled
            });
        } catch (const system_error& error) {
            said = error;
            if (by_itself)
                nested = nested_in<std::runtime_error>(error);
            else
                nested = nested_in<system_error>(error);
        }
        REQUIRE(said);
        CHECK(said->code() == errc::lock_lost);
        const auto own =
            by_itself ? "the disk is full" : error_code(asio::error::operation_aborted).what();
        CHECK_MESSAGE(nested.find(own) != std::string::npos, nested);
    }
}

CO_TEST("an exception of work while the lock is held reaches the caller unchanged") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    std::string said;
    try {
        co_await g.run([]() -> asio::awaitable<int> {
            throw std::runtime_error("the disk is full");
            co_return 1;
        });
    } catch (const std::runtime_error& error) {
        said = error.what();
    }
    CHECK(said == "the disk is full");
    CHECK(g.valid());
}

CO_TEST("a holder that slept through its session's end reports the lapse, not a deleted node") {
    foreigner direct(shared_server().address());
    for (std::size_t n = 0; test.begin_round(n, 3); ++n) {
        client zk(executor, shared_server().address(), short_session(1s));
        mutex lock(zk, fresh_root());
        auto g = co_await lock.lock();
        const auto told = end_of(g);
        const auto until = g.valid_until();
        co_await eventually([&] { return g.valid_until() > until; });
        const std::string path(g.path());
        CHECK(direct.wait_gone(path)); // and the event loop stands still
        co_await finished(told);
        CHECK(told->error == errc::lease_lapsed);
    }
}
