// lock_all: several locks in one order, all or nothing.

#include "support/lock_all_harness.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace paddock;
using namespace paddock::test;
using namespace boost::asio::experimental::awaitable_operators;

CO_TEST("locks are taken in the order of their paths, and returned in that of the arguments") {
    three s(executor);
    const std::vector<mutex> mixed{s.all[2], s.all[0], s.all[1]};
    auto set = co_await lock_all(mixed);
    REQUIRE(set.size() == 3);
    CHECK(set.valid());
    CHECK(set.valid_until() <= set[0].valid_until());
    CHECK(set.valid_until() > boot_clock::now());
    CHECK(set[0].path().starts_with(s.at(2)));
    CHECK(set[1].path().starts_with(s.at(0)));
    CHECK(set[2].path().starts_with(s.at(1)));
    CHECK(set[1].fencing_token() < set[2].fencing_token());
    CHECK(set[2].fencing_token() < set[0].fencing_token());
    co_await set[0].verify();
    const auto data = s.path + "-data";
    std::vector<operation> steps{op::create{data, "x"}};
    co_await set[2].transaction(steps);
    CHECK(s.direct.exists(data));

    co_await set.unlock();
    CHECK_FALSE(set);
    CHECK_FALSE(set.valid());
    CHECK(s.nodes(0) + s.nodes(1) + s.nodes(2) == 0);
    // One transaction deletes them.
    for (const auto& f : s.proxy.snapshot().frames)
        CHECK_FALSE((f.way == direction::up && f.opcode == opcode::remove));
}

CO_TEST("a destroyed or assigned set releases all its locks") {
    three s(executor);
    {
        auto set = co_await lock_all(s.all);
        guard_set moved = std::move(set);
        CHECK(moved.valid());
        moved = guard_set();
        co_await s.until_nodes(0, 0, 0);
        moved = co_await lock_all(s.all);
        CHECK(moved.valid());
    }
    co_await s.until_nodes(0, 0, 0);
}

CO_TEST("the next lock is not requested before the previous one is held") {
    three s(executor);
    const auto other = queue_up(s.direct, s.at(1));
    const auto a = ask_all(s.all);
    co_await s.until_nodes(1, 2, 0);
    CHECK_FALSE(a->done());
    s.direct.remove(other);
    co_await granted_all(a);
    co_await s.until_nodes(1, 1, 1);
}

CO_TEST("one time limit counts for the whole set, and a set that comes too late leaves nothing") {
    three s(executor);
    co_await s.zk.connect();
    const auto first = queue_up(s.direct, s.at(0));
    const auto last = queue_up(s.direct, s.at(2));
    const auto limit = test.full_or_brief(2000ms, 200ms);
    const auto clock = [] { return std::chrono::steady_clock::now(); };
    const auto begin = clock();
    const auto a = ask_all_for(s.all, limit);
    const auto late = [&] { return clock() - begin >= limit; }; // on a busy machine
    co_await eventually([&] { return late() || (s.nodes(0) == 2 && s.nodes(1) == 0); });
    co_await eventually([&] { return clock() - begin >= limit / 2; });
    s.direct.remove(first); // half of the limit is left for the other locks
    const auto went_on = clock();
    co_await eventually([&] { return late() || (s.nodes(1) == 1 && s.nodes(2) == 2); });
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held_set(a));
    CHECK(clock() - begin >= limit);
    CHECK(clock() - went_on < test.full_or_brief(limit, 10 * limit));
    co_await s.until_nodes(0, 0, 1);
    s.direct.remove(last);
    const auto now = ask_all_for(s.all, 0ns);
    co_await granted_all(now);
    const auto taken = ask_all_for(s.all, 0ns);
    co_await finished(taken);
    CHECK_FALSE(taken->error);
    CHECK_FALSE(held_set(taken));
    CHECK(held_set(now).valid());
    co_await held_set(now).unlock();
    const auto until = std::chrono::steady_clock::now() + 5s;
    auto set = co_await try_lock_all_until(s.all, until);
    CHECK(set.valid());
}

CO_TEST("a caller that leaves at any point leaves nothing") {
    three s(executor);
    co_await s.zk.connect();
    for (const auto& round :
         test.each(std::array{direction::up, direction::down},
                   std::array{opcode::create2, opcode::children2}, std::array{0, 1, 2})) {
        const auto way = std::get<0>(round);
        const auto op = std::get<1>(round);
        const auto lock = std::get<2>(round);
        INFO("lock " << lock << ", request " << op);
        s.proxy.hold_from(way, op, s.at(lock));
        const auto a = ask_all(s.all);
        co_await eventually([&] { return s.proxy.waiting(way) > 0; });
        a->cancel(lock == 1 ? asio::cancellation_type::terminal : asio::cancellation_type::total);
        co_await finished(a);
        CHECK(a->error == asio::error::operation_aborted);
        s.proxy.release(way);
        const auto next = ask_all(s.all);
        co_await granted_all(next);
        co_await held_set(next).unlock();
        co_await s.until_nodes(0, 0, 0);
        CHECK(a->times == 1);
    }
}

CO_TEST("a caller that leaves while it waits for one lock releases the locks it has") {
    three s(executor);
    for (int lock = 0; lock < 3; ++lock) {
        const auto other = queue_up(s.direct, s.at(lock));
        const auto a = ask_all(s.all);
        co_await eventually([&] { return s.nodes(lock) == 2; });
        a->cancel();
        co_await finished(a);
        co_await eventually([&] { return s.nodes(0) + s.nodes(1) + s.nodes(2) == 1; });
        s.direct.remove(other);
    }
    const auto other = queue_up(s.direct, s.at(2));
    asio::steady_timer timer(executor, 50ms);
    {
        auto first = co_await (lock_all(s.all) || timer.async_wait(asio::use_awaitable));
        CHECK(first.index() == 1);
    }
    co_await s.until_nodes(0, 0, 1);
}

CO_TEST("a released set reports that it was released") {
    three s(executor);
    auto set = co_await lock_all(s.all);
    const auto told = end_of_set(set);
    const auto end = give_back_set(set);
    co_await finished(end);
    CHECK_FALSE(end->error);
    co_await finished(told);
    CHECK(told->error == errc::released);
}

CO_TEST("callers that take the same locks in any order are all served, one at a time") {
    three s(executor);
    client second(executor, shared_server().address());
    std::vector<mutex> seconds;
    for (int n = 0; n < 3; ++n)
        seconds.emplace_back(second, s.at(n));
    std::mt19937 random(7);
    int inside = 0, served = 0;
    const int rounds = test.full_or_brief(20, 2);
    const auto work = [&](std::vector<mutex> mine) -> asio::awaitable<void> {
        for (int i = 0; i < rounds; ++i) {
            std::shuffle(mine.begin(), mine.end(), random);
            auto set = co_await lock_all(mine);
            CHECK(++inside == 1);
            co_await asio::post(executor, asio::use_awaitable);
            CHECK(set.valid());
            --inside;
            ++served;
            co_await set.unlock();
        }
    };
    co_await (work(s.all) && work(seconds) && work(s.all) && work(seconds));
    CHECK(served == 4 * rounds);
    co_await s.until_nodes(0, 0, 0);
}

TEST_CASE("an empty set, or the same lock twice, is refused by the call itself") {
    asio::io_context io;
    const client zk(io.get_executor(), "localhost");
    client_options rooted;
    rooted.root = "/x";
    const client deeper(io.get_executor(), "localhost", rooted);
    const client elsewhere(io.get_executor(), "otherhost");
    const auto complaint = [](const std::vector<mutex>& all) -> std::string {
        try {
            static_cast<void>(lock_all(all, asio::use_awaitable));
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return error.what();
        }
        return {};
    };
    CHECK(complaint({}).find("locks") != std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(try_lock_all_for({}, 1s)), system_error);
    const mutex a(zk, "/x/y"), same(zk, "/x/y"), through_root(deeper, "/y");
    mutex_options named;
    named.name = "other";
    const mutex other_name(zk, "/x/y", named), other_path(zk, "/x"), far(elsewhere, "/x/y");
    CHECK(complaint({a, other_path, same}).find("'/x/y' is listed twice") != std::string::npos);
    CHECK_FALSE(complaint({a, a}).empty());
    CHECK_FALSE(complaint({a, through_root}).empty());
    CHECK(complaint({a, other_name, other_path, far}).empty());
    guard_set empty;
    CHECK_FALSE(empty);
    CHECK_FALSE(empty.valid());
}
