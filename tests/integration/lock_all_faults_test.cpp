// lock_all: one of the locks is lost, its client ends, the connection is cut.

#include "support/cut_sweep.hpp"
#include "support/lock_all_harness.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>
#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

CO_TEST("lock_all begins again when one of its locks is lost before the last is taken") {
    three s(executor);
    for (const bool by_expiry : {true, false}) {
        const auto other = queue_up(s.direct, s.at(2));
        const auto a = ask_all(s.all);
        co_await s.until_nodes(1, 1, 2);
        const auto first = queue_at(s.direct, s.at(0)).at(0);
        if (by_expiry)
            s.expire();
        else
            s.direct.remove(s.at(0) + '/' + first);
        co_await eventually([&] {
            const auto now = queue_at(s.direct, s.at(0));
            return now.size() == 1 && now[0] != first;
        });
        co_await s.until_nodes(1, 1, 2);
        CHECK_FALSE(a->done());
        s.direct.remove(other);
        co_await granted_all(a);
        co_await held_set(a)[0].verify();
        co_await held_set(a).unlock();
        co_await s.until_nodes(0, 0, 0);
    }
}

CO_TEST("with on_expiry::fail an expired session ends lock_all") {
    mutex_options terms;
    terms.on_expiry = on_expiry::fail;
    three s(executor, {}, terms);
    const auto other = queue_up(s.direct, s.at(1));
    const auto a = ask_all(s.all);
    co_await s.until_nodes(1, 2, 0);
    s.expire();
    co_await finished(a);
    CHECK(a->error == errc::session_expired);
    co_await s.until_nodes(0, 1, 0);
}

CO_TEST("a set is lost with the first of its locks, and keeps the nodes of the rest") {
    three s(executor);
    auto set = co_await lock_all(s.all);
    const auto told = end_of_set(set);
    const auto stopped = end_of_set(set);
    stopped->cancel();
    co_await finished(stopped);
    CHECK(stopped->error == asio::error::operation_aborted);
    s.direct.remove(std::string(set[1].path()));
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    CHECK_FALSE(set.valid());
    CHECK(set[0].valid());
    co_await set[2].verify();
    const auto late = end_of_set(set);
    co_await finished(late);
    CHECK(late->error == errc::node_deleted);
    const auto end = give_back_set(set);
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    co_await s.until_nodes(0, 0, 0);
}

CO_TEST("lock_all takes locks of several clients, and ends with the first client that ends") {
    three s(executor);
    client_options rooted;
    rooted.root = s.path;
    auto other = std::make_unique<client>(executor, shared_server().address(), rooted);
    s.direct.make_path(s.path + "/bb");
    std::vector<mutex> both{s.all[2], mutex(*other, "/bb"), s.all[0]};
    {
        auto set = co_await lock_all(both);
        CHECK(set.valid());
        CHECK(set[1].path().starts_with("/bb/"));
        // By the full path: between a and c.
        CHECK(set[2].fencing_token() < set[1].fencing_token());
        CHECK(set[1].fencing_token() < set[0].fencing_token());
        const auto told = end_of_set(set);
        kill_session(shared_server().address(), s.proxy.last_credentials());
        co_await finished(told);
        CHECK(told->error == errc::session_expired);
    }
    co_await s.until_nodes(0, 0, 0);
    const auto blocker = queue_up(s.direct, s.at(2));
    const auto a = ask_all(both);
    co_await s.until_nodes(1, 0, 2);
    other.reset();
    co_await finished(a);
    CHECK(a->error == errc::closed);
    co_await s.until_nodes(0, 0, 1);
}

CO_TEST("lock_all and unlock() end when the execution context of another client ends") {
    three s(executor);
    for (const auto& round : test.each(std::vector{true, false})) {
        const bool waiting = std::get<bool>(round);
        auto elsewhere = std::make_unique<asio::io_context>();
        client other(elsewhere->get_executor(), shared_server().address());
        std::vector<mutex> both{s.all[0], mutex(other, s.at(1))};
        const auto blocker = waiting ? queue_up(s.direct, s.at(1)) : std::string();
        const auto a = ask_all(both);
        co_await eventually([&] {
            elsewhere->poll();
            elsewhere->restart();
            return waiting ? s.nodes(0) == 1 && s.nodes(1) == 2 : a->done();
        });
        elsewhere.reset();
        if (waiting) {
            co_await finished(a);
            CHECK(a->error == errc::closed);
            s.direct.remove(blocker);
        } else {
            const auto told = end_of_set(held_set(a));
            co_await finished(told);
            CHECK(told->error == errc::closed);
            error_code why;
            auto set = std::move(held_set(a));
            co_await set.unlock(asio::redirect_error(asio::use_awaitable, why));
            CHECK(why == errc::lock_lost);
        }
        co_await eventually([&] { return s.nodes(0) == 0; });
    }
}

TEST_CASE("the execution context of another client may end while lock_all posts to it") {
    const auto root = fresh_root();
    for (int round = 0; round < 20; ++round) {
        asio::io_context home;
        auto work = asio::make_work_guard(home);
        std::thread runner([&] { home.run(); });
        auto elsewhere = std::make_unique<asio::io_context>();
        client ours(home, shared_server().address());
        const client theirs(*elsewhere, shared_server().address());
        const std::vector<mutex> both{mutex(ours, root + "/a"), mutex(theirs, root + "/b")};
        std::vector<std::future<guard_set>> calls;
        for (int i = 0; i < 20; ++i)
            calls.push_back(lock_all(both, asio::use_future));
        elsewhere.reset();
        for (const auto& one : calls)
            one.wait();
        ours.close(asio::use_future).wait();
        work.reset();
        runner.join();
    }
}

CO_TEST("a lock that is lost but not yet reported is taken again") {
    three s(executor);
    asio::io_context aside;
    auto quick = short_session(test.full_or_brief(1000ms, 400ms));
    quick.root = s.path;
    client other(aside.get_executor(), shared_server().address(), quick);
    const auto turn = [&] {
        aside.restart();
        aside.poll();
    };
    s.direct.make_path(s.path + "/bb");
    const auto blocker = queue_up(s.direct, s.at(2));
    std::vector<mutex> all{s.all[0], mutex(other, "/bb"), s.all[2]};
    const auto a = ask_all(all);
    co_await eventually([&] {
        turn();
        return s.nodes(2) == 2;
    });
    // Its event loop stands still for longer than its session lives.
    co_await eventually([&] { return queue_at(s.direct, s.path + "/bb").empty(); });
    s.direct.remove(blocker);
    co_await s.zk.children(s.at(2)); // the event comes before this answer
    for (int hops = 0; hops < 50; ++hops)
        co_await asio::post(executor, asio::use_awaitable);
    CHECK_FALSE(a->done());
    co_await eventually([&] {
        turn();
        return a->done();
    });
    co_await granted_all(a);
    held_set(a) = {};
    co_await eventually([&] {
        turn();
        return queue_at(s.direct, s.path + "/bb").empty();
    });
    co_await s.until_nodes(0, 0, 0);
}

CO_TEST("a connection cut anywhere costs nothing but time") {
    test.time_limit(120s);
    three s(executor, short_session(4s));
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::each_way);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto a = ask_all(s.all);
        co_await granted_all(a);
        const auto end = give_back_set(held_set(a));
        co_await finished(end);
        CHECK_MESSAGE(!end->error, end->error.message());
        co_await s.until_nodes(0, 0, 0);
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(6 * 6, 6));
    CHECK(s.zk.epoch() == 1);
}
