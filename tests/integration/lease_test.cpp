// A guard knows whether it still holds: against a real server, behind a proxy.

#include "support/lock_harness.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

client_options leased(std::chrono::milliseconds timeout, lease_options lease = {}) {
    client_options options;
    options.session_timeout = timeout;
    options.lease = lease;
    return options;
}

/// Waits on the test's own thread, so that the library does not run.
void block_until(boot_clock::time_point when) {
    while (boot_clock::now() < when)
        std::this_thread::sleep_for(when - boot_clock::now());
}

error_code outcome_of(const std::function<void()>& what) {
    try {
        what();
        return {};
    } catch (const system_error& error) {
        return error.code();
    }
}

/// Runs the work under the guard, beside the test; the run heeds every cancellation.
template <class Work>
under_way<> run_beside(asio::any_io_executor executor, const guard& g, Work work) {
    const auto p = std::make_shared<pending<>>();
    const auto runs = [](const guard& under, Work what) -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await under.run(std::move(what));
    };
    asio::co_spawn(executor, runs(g, std::move(work)),
                   asio::bind_cancellation_slot(p->stop.slot(), [p](std::exception_ptr failure) {
                       ++p->times;
                       p->error = outcome_of([&] {
                           if (failure) std::rethrow_exception(failure);
                       });
                   }));
    return p;
}

} // namespace

CO_TEST("a guard is valid for more than half of the session timeout ahead, all the time") {
    constexpr auto timeout = 6s;
    scene s(executor, leased(timeout, {.tick_time = timeout / 5}));
    const guard g = co_await s.lock.lock();
    REQUIRE(s.zk.session_timeout() == timeout);
    std::vector<boot_clock::duration> left;
    const auto end = boot_clock::now() + test.full_or_brief(9s, 300ms);
    while (boot_clock::now() < end) {
        left.push_back(g.valid_until() - boot_clock::now());
        asio::steady_timer a_moment(executor, 10ms);
        co_await a_moment.async_wait(asio::use_awaitable);
    }
    CHECK(g.valid());
    std::sort(left.begin(), left.end());
    MESSAGE("at least " << 100 * left.front() / timeout << " % of the session timeout were left, "
                        << "and half of the time " << 100 * left[left.size() / 2] / timeout
                        << " %");
    CHECK(left.front() > 0s);
    CHECK(left[left.size() / 2] > timeout / 2); // a busy machine answers late now and then
}

CO_TEST("a client says how long its lease lasts, which server answers, and since when") {
    scene s(executor, leased(6s));
    CHECK(s.zk.lease_remaining() == 0s);
    CHECK(s.zk.last_answer() == boot_clock::time_point());
    CHECK(s.zk.server().empty());
    const auto begin = boot_clock::now();
    const guard g = co_await s.lock.lock();
    const auto remaining = s.zk.lease_remaining();
    CHECK(remaining > 0s);
    CHECK(remaining >= g.valid_until() - boot_clock::now());
    CHECK(s.zk.last_answer() >= begin);
    CHECK(s.zk.last_answer() <= boot_clock::now());
    CHECK(s.zk.server() == s.address());
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    CHECK(s.zk.server().empty());
    CHECK(s.zk.lease_remaining() <= remaining); // it goes on, as the hold does
    co_await s.zk.close();
    CHECK(s.zk.lease_remaining() == 0s);
}

CO_TEST("after an idle time the first lock is granted at once, and is valid") {
    scene s(executor, leased(2s));
    co_await s.zk.connect();
    const auto end = boot_clock::now() + test.full_or_brief(5s, 300ms);
    co_await eventually([&] { return boot_clock::now() > end; });
    const guard g = co_await s.lock.lock();
    CHECK(g.valid());
    CHECK(g.valid_until() > boot_clock::now());
    CHECK(s.sent(opcode::multi) == 0);
}

CO_TEST("a blocked event loop does not keep a guard valid") {
    scene s(executor, leased(1s));
    const guard g = co_await s.lock.lock();
    s.proxy.black_hole(true);
    const auto until = g.valid_until();
    block_until(until);
    CHECK_FALSE(g.valid());
    CHECK(g.valid_until() <= boot_clock::now());
    s.proxy.black_hole(false);
    const auto why = end_of(const_cast<guard&>(g));
    co_await finished(why);
    CHECK((why->error == errc::lease_lapsed || why->error == errc::session_expired));
    CHECK_FALSE(g.valid());
}

CO_TEST("a hold that has lapsed is lost, and its node stays until the guard is released") {
    scene s(executor, leased(test.full_or_brief(2s, 1s)));
    guard g = co_await s.lock.lock();
    const auto lost = end_of(g);
    // The server gets the client's requests, so the session lives; the client gets no answer.
    s.proxy.hold(direction::down);
    co_await finished(lost);
    CHECK(lost->error == errc::lease_lapsed);
    CHECK_FALSE(g.valid());
    CHECK(s.queue().size() == 1);
    s.proxy.release(direction::down);
    co_await s.until_connected();
    CHECK_FALSE(g.valid());
    const auto next = ask(s.lock);
    co_await s.until_queue(2);
    CHECK_FALSE(next->done());
    g = guard();
    co_await granted(next);
    CHECK(held(next).valid());
}

CO_TEST("a holder that reconnects in time keeps its hold") {
    scene s(executor, leased(4s));
    guard g = co_await s.lock.lock();
    const auto lost = end_of(g);
    for (std::size_t n = 0; n < 3; ++n) {
        s.proxy.cut_all(cut::rst);
        co_await eventually([&] { return s.proxy.accepted() >= n + 2; });
        co_await s.until_connected();
    }
    CHECK(g.valid());
    CHECK_FALSE(lost->done());
    g = guard();
    co_await finished(lost);
    CHECK(lost->error == errc::released);
}

CO_TEST("a client leaves a silent server in time to keep its hold") {
    fault_proxy first(shared_server().port()), second(shared_server().port());
    const auto root = fresh_root();
    const auto T = test.full_or_brief(6s, 3s);
    client zk(executor, first.address() + ',' + second.address(), leased(T));
    mutex lock(zk, root);
    guard g = co_await lock.lock();
    const auto lost = end_of(g);
    auto& used = first.open() == 1 ? first : second;
    auto& other = first.open() == 1 ? second : first;
    const auto begin = boot_clock::now();
    used.black_hole(true);
    co_await eventually([&] { return other.open() == 1 && zk.state() == client_state::connected; });
    CHECK(boot_clock::now() - begin < scaled(T * 2 / 3)); // the C client alone would wait so long
    CHECK(g.valid());
    const auto end = boot_clock::now() + test.full_or_brief(3s, 300ms);
    co_await eventually([&] { return boot_clock::now() > end; });
    CHECK(g.valid());
    CHECK_FALSE(lost->done());
    g = guard();
    co_await finished(lost);
}

CO_TEST("the lease goes on beside the holder's own requests") {
    scene s(executor, leased(4s));
    const guard g = co_await s.lock.lock();
    const create_options how{.mode = create_mode::persistent_sequential};
    const auto end = boot_clock::now() + test.full_or_brief(6s, 100ms);
    while (boot_clock::now() < end) {
        co_await s.zk.create(s.path + "-data-", "x", how);
        REQUIRE(g.valid());
    }
}

CO_TEST("work under a guard gives its result, or its exception") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto seven = co_await g.run([&]() -> asio::awaitable<std::string> {
        co_await s.zk.exists("/");
        co_return "seven";
    });
    CHECK(seven == "seven");
    int done = 0;
    co_await g.run([&]() -> asio::awaitable<void> {
        ++done;
        co_return;
    });
    CHECK(done == 1);
    bool thrown = false;
    try {
        co_await g.run([]() -> asio::awaitable<void> {
            throw std::runtime_error("work");
            co_return;
        });
    } catch (const std::runtime_error& error) {
        thrown = std::string(error.what()) == "work";
    }
    CHECK(thrown);
    const auto unique = co_await g.run(
        []() -> asio::awaitable<std::unique_ptr<int>> { co_return std::make_unique<int>(3); });
    CHECK(*unique == 3);
    CHECK(g.valid());
}

CO_TEST("a lost hold cancels the work under it, and is reported after the work has ended") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const std::string node(g.path());
    bool cancelled = false, ended = false;
    error_code said;
    try {
        co_await g.run([&]() -> asio::awaitable<void> {
            s.direct.remove(node);
            asio::steady_timer long_work(executor, 1h);
            try {
                co_await long_work.async_wait(asio::use_awaitable);
            } catch (const system_error& error) {
                cancelled = error.code() == asio::error::operation_aborted;
            }
            co_await asio::this_coro::reset_cancellation_state();
            co_await s.zk.exists("/"); // some cleaning up
            ended = true;
            throw system_error(asio::error::operation_aborted);
        });
    } catch (const system_error& error) {
        said = error.code();
    }
    CHECK(cancelled);
    CHECK(ended);
    CHECK(said == errc::lock_lost);
}

CO_TEST("a cancelled run cancels its work, and returns the result of the work") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    for (const auto how : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        const auto run = run_beside(executor, g, [&]() -> asio::awaitable<void> {
            asio::steady_timer long_work(executor, 1h);
            co_await long_work.async_wait(asio::use_awaitable);
        });
        co_await s.zk.exists("/");
        run->cancel(how);
        co_await finished(run);
        CHECK(run->error == asio::error::operation_aborted);
        CHECK(g.valid());
    }
}

CO_TEST("work that ignores a cancellation gets the next one, and the loss") {
    scene s(executor);
    for (const auto& round : test.each(std::array{false, true})) {
        const bool by_loss = std::get<bool>(round);
        const guard g = co_await s.lock.lock();
        bool begun = false;
        const auto run = run_beside(executor, g, [&]() -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(
                asio::enable_terminal_cancellation());
            begun = true;
            asio::steady_timer long_work(executor, 1h);
            co_await long_work.async_wait(asio::use_awaitable);
        });
        co_await eventually([&] { return begun; });
        run->cancel(asio::cancellation_type::total);
        co_await s.zk.exists("/");
        CHECK_FALSE(run->done());
        if (by_loss)
            s.direct.remove(std::string(g.path()));
        else
            run->cancel(asio::cancellation_type::terminal);
        co_await finished(run);
        CHECK(run->error ==
              (by_loss ? error_code(errc::lock_lost) : asio::error::operation_aborted));
    }
}

CO_TEST("work under a lost guard is cancelled at once, and an empty guard runs nothing") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    s.direct.remove(std::string(g.path()));
    co_await eventually([&] { return !g.valid(); });
    error_code said;
    try {
        co_await g.run([&]() -> asio::awaitable<void> {
            asio::steady_timer long_work(executor, 1h);
            co_await long_work.async_wait(asio::use_awaitable);
        });
    } catch (const system_error& error) {
        said = error.code();
    }
    CHECK(said == errc::lock_lost);
}

CO_TEST("with a margin the work is stopped while the lock is still held") {
    scene s(executor, leased(4s, {.margin = 1s}));
    const guard g = co_await s.lock.lock();
    s.proxy.black_hole(true);
    const bool valid_at_stop = co_await g.run([&]() -> asio::awaitable<bool> {
        asio::steady_timer long_work(executor, 1h);
        error_code ignored;
        co_await long_work.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        co_return g.valid();
    });
    CHECK(valid_at_stop);
}

TEST_CASE("invalid lease options are refused by name") {
    asio::io_context io;
    const auto refused = [&](lease_options lease) {
        try {
            client zk(io.get_executor(), "127.0.0.1:1", leased(10s, lease));
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused({.tick_time = 5s}).find("lease.tick_time") != std::string::npos);
    CHECK(refused({.tick_time = -1s}).find("lease.tick_time") != std::string::npos);
    CHECK(refused({.margin = 3s}).find("lease.margin") != std::string::npos);
    CHECK(refused({.min_validity = 6s}).find("lease.min_validity") != std::string::npos);
    CHECK(refused({.proof = lease_proof::sync}).find("lease.tick_time") != std::string::npos);
    CHECK(refused({.tick_time = 2s, .proof = lease_proof::sync}).empty());
}
