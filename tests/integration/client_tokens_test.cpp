// Completion tokens, executors and cancellation.

#include "client_support.hpp"
#include "support/counting_allocator.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A node that exists.
std::string made_node(const std::string& data = "x") {
    const auto path = fresh_root();
    foreigner(shared_server().address()).create(path, data);
    return path;
}

} // namespace

CO_TEST("use_awaitable, as_tuple and redirect_error give the same result") {
    client zk(executor, shared_server().address());
    const auto path = made_node();
    const auto by_default = co_await zk.get(path);
    const auto by_awaitable = co_await zk.get(path, asio::use_awaitable);
    const auto [error, by_tuple] = co_await zk.get(path, asio::as_tuple(asio::use_awaitable));
    CHECK_FALSE(error);
    error_code redirected = errc::closed;
    const auto by_redirection =
        co_await zk.get(path, asio::redirect_error(asio::use_awaitable, redirected));
    CHECK_FALSE(redirected);
    for (const auto& result : {by_awaitable, by_tuple, by_redirection}) {
        CHECK(result.data == "x");
        CHECK(result.stat == by_default.stat);
    }
    const auto missing =
        co_await zk.exists(path + "/a", asio::redirect_error(asio::use_awaitable, redirected));
    CHECK(redirected == zk_errc::no_node);
    CHECK(missing == paddock::node_stat());
}

CO_TEST("a deferred operation begins when it is invoked") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    const auto path = made_node();
    co_await zk.connect();
    auto later = zk.get(path, asio::deferred);
    co_await let_others_run();
    CHECK(proxy.count(direction::up) == 0);
    const auto read = co_await std::move(later)(asio::use_awaitable);
    CHECK(read.data == "x");
    auto by_callback = zk.set(path, "y", any_version, asio::deferred);
    tally all;
    std::move(by_callback)(all.expect());
    co_await eventually([&] { return all.all_once(); });
    CHECK_FALSE(all.error(0));
}

CO_TEST("a callback may be movable only, and is never called from within the call") {
    client zk(executor, shared_server().address());
    const auto path = made_node();
    for (int round = 0; round < 2; ++round) { // before the connection, and with it
        bool inside = true;
        int called = 0;
        zk.get(path, [&, only = std::make_unique<int>(7)](error_code error, get_result read) {
            CHECK_FALSE(inside);
            CHECK_FALSE(error);
            CHECK(read.data == "x");
            CHECK(*only == 7);
            ++called;
        });
        zk.get("malformed", [&](error_code, get_result) {
            CHECK_FALSE(inside);
            ++called;
        });
        inside = false;
        co_await eventually([&] { return called == 2; });
    }
}

CO_TEST("a callback may start the next operation, close the client, and destroy it") {
    std::optional<client> zk(std::in_place, executor, shared_server().address());
    const auto path = made_node();
    tally all;
    zk->get(path, [&](error_code, const get_result&) {
        zk->get(path, [&](error_code, const get_result&) {
            zk->get(path, all.expect());
            zk->close([&, done = all.expect()](error_code error) mutable {
                zk.reset();
                done(error);
            });
        });
    });
    co_await eventually([&] { return all.started() == 2 && all.all_once(); });
    CHECK_FALSE(zk);
}

TEST_CASE("a handler's exception leaves run(), and costs nothing else") {
    asio::io_context io;
    client zk(io.get_executor(), shared_server().address());
    tally all;
    zk.exists("/", [](error_code, paddock::node_stat) { throw 42; });
    zk.exists("/", all.expect());
    CHECK_THROWS_AS(io.run(), int);
    io.restart();
    while (!all.all_once())
        io.run_one();
    CHECK_FALSE(all.error(0));
}

TEST_CASE("use_future works for threads that may wait") {
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    std::thread runner([&] { io.run(); });
    std::future<get_result> missing;
    {
        client zk(io.get_executor(), shared_server().address());
        const auto path = made_node();
        auto connected = zk.connect(asio::use_future);
        connected.get();
        auto read = zk.get(path, asio::use_future);
        CHECK(read.get().data == "x");
        missing = zk.get(path + "/a", asio::use_future);
        missing.wait();
        auto closed = zk.close(asio::use_future);
        closed.get();
        CHECK(zk.state() == client_state::closed);
    }
    work.reset();
    runner.join();
    // Now only: TSan does not see how libstdc++ counts the owners of an exception.
    CHECK_THROWS_AS(missing.get(), system_error);
}

CO_TEST(
    "an operation's memory comes from the bound allocator, and is free before the handler runs") {
    client zk(executor, shared_server().address());
    int now = 0, ever = 0;
    std::optional<int> at_call;
    {
        zk.exists("/", asio::bind_allocator(
                           counting_allocator<void>(now, ever),
                           [&](error_code, const paddock::node_stat&) { at_call = now; }));
    }
    CHECK(now > 0);
    co_await eventually([&] { return at_call.has_value(); });
    CHECK(at_call == 0);
    CHECK(ever >= 2); // the handler, and what carries it to its executor
    asio::cancellation_signal stop;
    std::optional<error_code> why;
    zk.connect_for(1h, asio::bind_allocator(counting_allocator<void>(now, ever),
                                            [&](error_code e) { why = e; }));
    co_await zk.close();
    co_await eventually([&] { return why.has_value(); });
    CHECK(now == 0);
}

CO_TEST("a handler runs on its own executor: a strand") {
    client zk(executor, shared_server().address());
    const auto strand = asio::make_strand(io);
    tally all;
    bool elsewhere = false;
    const auto on_strand = [&] {
        return asio::bind_executor(strand, [&, done = all.expect()](error_code e, auto&&...) {
            elsewhere = elsewhere || !strand.running_in_this_thread();
            done(e);
        });
    };
    const auto root = made_node();
    start_every_operation(zk, root, on_strand);
    zk.connect(on_strand());
    zk.next_state(client_state::connecting, on_strand());
    zk.get("malformed", on_strand());
    paddock::watch changed(zk);
    zk.get(root + "/none", changed, on_strand());
    changed.event(on_strand());
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.started() == 15);
    zk.close(on_strand());
    zk.exists("/", on_strand());
    co_await eventually([&] { return all.all_once(); });
    CHECK_FALSE(elsewhere);
}

CO_TEST("a handler without an executor runs on the client's executor") {
    const auto strand = asio::make_strand(io);
    client zk(strand, shared_server().address());
    CHECK(zk.get_executor() == asio::any_io_executor(strand));
    std::optional<bool> there;
    zk.exists("/",
              [&](error_code, paddock::node_stat) { there = strand.running_in_this_thread(); });
    co_await eventually([&] { return there.has_value(); });
    CHECK(there == true);
}

TEST_CASE("a client takes its executor from an execution context") {
    asio::io_context io;
    asio::thread_pool pool(1);
    client_options options;
    options.session_timeout = 5s;
    client zk(io, shared_server().address());
    client other(pool, shared_server().address(), options);
    const client braced(io, shared_server().address(), {.session_timeout = 5s});
    static_assert(!std::is_constructible_v<client, asio::io_context&, std::string, int>);
    static_assert(!std::is_constructible_v<client, asio::execution_context&, std::string>);
    CHECK(zk.get_executor() == asio::any_io_executor(io.get_executor()));
    CHECK(other.get_executor() == asio::any_io_executor(pool.get_executor()));
    auto connected = other.connect(asio::use_future);
    connected.get();
    CHECK(other.session_timeout() == 5s);
    auto closed = other.close(asio::use_future);
    closed.get();
}

TEST_CASE("a handler's own io_context does not end before the handler has run") {
    asio::io_context io;
    asio::io_context other;
    client zk(io.get_executor(), shared_server().address());
    tally all;
    std::thread::id ran_on;
    zk.get(made_node(),
           asio::bind_executor(other, [&, done = all.expect()](error_code error, get_result) {
               ran_on = std::this_thread::get_id();
               done(error);
           }));
    std::thread::id other_thread;
    std::thread runner([&] {
        other_thread = std::this_thread::get_id();
        other.run(); // must not return before the handler has run
    });
    std::atomic<bool> ended = false;
    std::thread join([&] {
        runner.join();
        ended = true;
    });
    while (!ended)
        io.run_one_for(5ms);
    join.join();
    CHECK(all.all_once());
    CHECK_FALSE(all.error(0));
    CHECK(ran_on == other_thread);
}

TEST_CASE("a coroutine on another io_context is resumed there") {
    asio::io_context io;
    const auto work = asio::make_work_guard(io);
    asio::thread_pool pool(1);
    client zk(io.get_executor(), shared_server().address());
    const auto path = made_node();
    bool always_there = true;
    auto done = asio::co_spawn(
        pool,
        [&]() -> asio::awaitable<void> {
            const auto here = co_await asio::this_coro::executor;
            const auto thread = std::this_thread::get_id();
            for (int i = 0; i < 20; ++i) {
                co_await zk.set(path, std::to_string(i), any_version);
                always_there = always_there && std::this_thread::get_id() == thread;
                asio::steady_timer timer(here, 10s);
                const auto first = co_await (zk.get(path) || timer.async_wait(asio::use_awaitable));
                always_there = always_there && std::this_thread::get_id() == thread;
                CHECK(first.index() == 0);
            }
        },
        asio::use_future);
    while (done.wait_for(0s) != std::future_status::ready)
        io.run_one_for(5ms);
    done.get();
    CHECK(always_there);
}

CO_TEST("the first of an operation and a timer cancels the other") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    const auto path = made_node();
    asio::steady_timer timer(executor, 1h);
    const auto won = co_await (zk.get(path) || timer.async_wait(asio::use_awaitable));
    REQUIRE(won.index() == 0);
    CHECK(std::get<0>(won).data == "x");

    proxy.hold(direction::down);
    timer.expires_after(20ms);
    const auto lost = co_await (zk.get(path) || timer.async_wait(asio::use_awaitable));
    CHECK(lost.index() == 1);
    proxy.release(direction::down);
    const auto read = co_await zk.get(path);
    CHECK(read.data == "x");
}

CO_TEST("in Asio's ||, a timer wins over an operation that fails") {
    client zk(executor, shared_server().address());
    asio::steady_timer timer(executor, 20ms);
    const auto missing = fresh_root();
    const auto first = co_await (zk.get(missing) || timer.async_wait(asio::use_awaitable));
    CHECK(first.index() == 1);
    timer.expires_after(1h);
    const auto told = co_await (zk.get(missing, no_throw) || timer.async_wait(asio::use_awaitable));
    REQUIRE(told.index() == 0); // with as_tuple the failure is a result
    CHECK(std::get<0>(std::get<0>(told)) == zk_errc::no_node);
}

CO_TEST("parallel operations are all awaited") {
    client zk(executor, shared_server().address());
    const auto path = made_node();
    const auto [read, stat, list] = co_await (zk.get(path) && zk.exists(path) && zk.children(path));
    CHECK(read.data == "x");
    CHECK(read.stat == stat);
    CHECK(list.stat == stat);
}

CO_TEST("total and terminal cancellation end every kind of operation, partial does not") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    const auto path = made_node();
    co_await zk.connect();
    paddock::watch changed(zk);
    co_await zk.exists(path + "/none", changed, no_throw);
    for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::terminal,
                            asio::cancellation_type::all}) {
        proxy.hold(direction::down);
        std::deque<asio::cancellation_signal> stops;
        tally all;
        const auto stoppable = [&] {
            stops.emplace_back();
            return asio::bind_cancellation_slot(stops.back().slot(), all.expect());
        };
        start_every_operation(zk, path, stoppable);
        zk.next_state(client_state::connected, stoppable());
        changed.event(stoppable());
        co_await eventually([&] { return proxy.waiting(direction::down) >= 10; });
        for (auto& stop : stops)
            stop.emit(asio::cancellation_type::partial);
        co_await let_others_run();
        CHECK(all.completions() == 0);
        for (auto& stop : stops)
            stop.emit(type);
        CHECK(all.completions() == 0); // not from within emit
        co_await eventually([&] { return all.all_once(); });
        CHECK(all.all_say(asio::error::operation_aborted));
        for (auto& stop : stops)
            stop.emit(type); // without a receiver
        proxy.release(direction::down);
        co_await zk.sync(path);
        CHECK(all.all_once());
    }
    CHECK(zk.state() == client_state::connected);
}

CO_TEST("cancelling a completed operation changes nothing") {
    client zk(executor, shared_server().address());
    asio::cancellation_signal stop;
    tally all;
    zk.exists("/", asio::bind_cancellation_slot(stop.slot(), all.expect()));
    co_await eventually([&] { return all.all_once(); });
    stop.emit(asio::cancellation_type::terminal);
    co_await let_others_run();
    CHECK(all.all_once());
    CHECK_FALSE(all.error(0));
    // The slot is free for the next operation.
    zk.next_state(zk.state(), asio::bind_cancellation_slot(stop.slot(), all.expect()));
    co_await let_others_run();
    stop.emit(asio::cancellation_type::total);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(1) == asio::error::operation_aborted);
}

CO_TEST("a cancelled close still closes") {
    client zk(executor, shared_server().address());
    co_await zk.connect();
    asio::cancellation_signal stop;
    tally all;
    zk.close(asio::bind_cancellation_slot(stop.slot(), all.expect()));
    stop.emit(asio::cancellation_type::total);
    co_await eventually([&] { return all.all_once(); });
    CHECK(zk.state() == client_state::closed);
}
