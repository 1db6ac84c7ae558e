// The ensemble's resources that one client may use.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::size_t few = 5;

/// Room for a few nodes.
client_options few_nodes() {
    client_options options;
    options.budgets.node_path_bytes = few * 280; // one takes about 270
    return options;
}
const std::string long_name = "/" + std::string(200, 'x');

} // namespace

CO_TEST("more locks than the budget has nodes for are all served, with no node too many") {
    scene s(executor, few_nodes(), {}, long_name);
    const auto other = queue_up(s.direct, s.path);
    std::vector<lock_call> all;
    std::size_t done = 0;
    const int many = test.full_or_brief(60, 15);
    for (int i = 0; i < many; ++i)
        all.push_back(ask(s.lock, [&] { ++done; }));
    co_await s.until_queue(few + 1);
    s.direct.remove(other);
    std::size_t most = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        co_await eventually([&] {
            most = std::max(most, s.queue().size());
            return done > i;
        });
        REQUIRE(done == i + 1);
        co_await granted(all[i]); // one client's waiters keep their order
        held(all[i]) = guard();
    }
    CHECK(most <= few);
    co_await s.until_queue(0);
}

CO_TEST("a lock without room in the budget is in the log") {
    std::vector<std::string> lines;
    auto options = few_nodes();
    options.log = [&lines](const log_record& line) {
        if (line.code == log_code::over_budget) lines.emplace_back(line.text);
    };
    scene s(executor, options, {}, long_name);
    std::vector<lock_call> all;
    for (std::size_t i = 0; i < few; ++i)
        all.push_back(ask(s.lock));
    co_await granted(all[0]);
    CHECK(lines.empty());
    const auto none = ask_now(s.lock);
    co_await finished(none);
    CHECK_FALSE(held(none));
    const auto waits = ask(s.lock);
    for (auto& one : all) {
        co_await granted(one);
        co_await unlocked(one);
    }
    co_await granted(waits);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("there is no room for a node of the lock " + s.path + ": "));
    CHECK(lines[0].find("client_budgets::node_path_bytes") != std::string::npos);
    held(waits) = guard();
    co_await s.zk.close();
}

CO_TEST("all locks of a client share the budget, and a caller that leaves gives its part back") {
    scene s(executor, few_nodes(), {}, long_name);
    std::vector<mutex> locks;
    std::vector<lock_call> all;
    for (int i = 0; i < 20; ++i) {
        locks.emplace_back(s.zk, s.path + std::to_string(i % 10));
        all.push_back(ask(locks.back()));
    }
    for (int i = 5; i < 10; ++i)
        co_await eventually([&] { return all[0]->done() && all[4]->done(); });
    CHECK_FALSE(all[9]->done());
    all[6]->cancel(); // while it waits for the budget
    co_await finished(all[6]);
    CHECK(all[6]->error == asio::error::operation_aborted);
    const auto late = ask_for(locks[3], 50ms);
    co_await finished(late);
    CHECK_FALSE(late->error);
    CHECK_FALSE(held(late));
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 6) continue;
        co_await granted(all[i]);
        held(all[i]) = guard();
    }
    for (int i = 0; i < 10; ++i)
        co_await eventually([&] { return queue_at(s.direct, s.path + std::to_string(i)).empty(); });
}

CO_TEST("a lock over the budget fails by on_over_budget::fail") {
    scene s(executor, few_nodes(), {.on_over_budget = on_over_budget::fail}, long_name);
    const auto other = queue_up(s.direct, s.path);
    std::vector<lock_call> all;
    for (std::size_t i = 0; i < few + 1; ++i)
        all.push_back(ask(s.lock));
    co_await finished(all.back());
    CHECK(all.back()->error == errc::over_budget);
    all.pop_back();
    co_await s.until_queue(few + 1);
    s.direct.remove(other);
    for (const auto& a : all) {
        co_await granted(a);
        co_await held(a).unlock();
    }
    const auto again = ask(s.lock);
    co_await granted(again);
}

CO_TEST("try_lock does not wait for the budget") {
    scene s(executor, few_nodes(), {}, long_name);
    std::vector<mutex> locks;
    std::vector<lock_call> all;
    for (std::size_t i = 0; i < few; ++i) {
        locks.emplace_back(s.zk, s.path + std::to_string(i));
        all.push_back(ask(locks.back()));
    }
    co_await finished(all);
    auto a = ask_now(s.lock);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
    mutex strict(s.zk, s.path, {.on_over_budget = on_over_budget::fail});
    a = ask_now(strict);
    co_await finished(a);
    CHECK(a->error == errc::over_budget);
    co_await held(all[0]).unlock();
    a = ask_now(s.lock);
    co_await granted(a);
}

CO_TEST("a session that expires gives its whole budget back") {
    scene s(executor, few_nodes(), {}, long_name);
    const auto other = queue_up(s.direct, s.path);
    std::vector<lock_call> all;
    for (std::size_t i = 0; i < 3 * few; ++i)
        all.push_back(ask(s.lock));
    co_await s.until_queue(few + 1);
    kill_session(shared_server().address(), s.proxy.last_credentials());
    co_await eventually([&] { return s.zk.epoch() >= 2; });
    co_await s.until_queue(few + 1);
    s.direct.remove(other);
    for (const auto& a : all) {
        co_await granted(a);
        held(a) = guard();
    }
    co_await s.until_queue(0);
}

CO_TEST("without room for watches every caller is served all the same") {
    const std::array<std::size_t, 3> room_for_two_one_none{300, 450, 900};
    for (const auto& round : test.each(room_for_two_one_none)) {
        const auto longer = std::get<0>(round);
        client_options options;
        options.budgets.watched_path_bytes = 1024;
        scene s(executor, {}, {}, "/" + std::string(longer / 2, 'r'));
        options.root = s.path;
        client poor(executor, s.proxy.address(), options);
        mutex m(poor, "/" + std::string(longer / 2, 'p'));
        const auto path = s.path + "/" + std::string(longer / 2, 'p');
        s.direct.make_path(path);
        const auto until = [&](std::size_t nodes) {
            return [&, nodes] { return queue_at(s.direct, path).size() == nodes; };
        };
        const auto first = queue_up(s.direct, path);
        std::vector<lock_call> all;
        all.push_back(ask(m));
        co_await eventually(until(2));
        const auto second = queue_up(s.direct, path);
        const std::size_t behind = test.full_or_brief(5, 1);
        for (std::size_t i = 0; i < behind; ++i)
            all.push_back(ask(m));
        co_await eventually(until(3 + behind));
        s.direct.remove(first);
        co_await granted(all[0]);
        held(all[0]) = guard();
        co_await poor.exists("/");
        CHECK_FALSE(all[1]->done());
        s.direct.remove(second);
        for (std::size_t i = 1; i < all.size(); ++i) {
            co_await granted(all[i]);
            co_await held(all[i]).unlock();
        }
        CHECK(queue_at(s.direct, path).empty());
    }
}

CO_TEST("with few requests in flight every caller is served all the same") {
    for (const auto& round : test.each(std::array{false, true})) {
        client_options options;
        const bool by_bytes = std::get<0>(round);
        if (by_bytes)
            options.budgets.request_bytes_in_flight = 1;
        else
            options.budgets.requests_in_flight = 1;
        scene s(executor, options);
        std::vector<lock_call> all;
        const int many = test.full_or_brief(50, 10);
        for (int i = 0; i < many; ++i)
            all.push_back(ask(s.lock));
        int before = -1;
        for (const auto& a : all) {
            co_await granted(a);
            CHECK(sequence_of(held(a).path()) > before);
            before = sequence_of(held(a).path());
            held(a) = guard();
        }
        co_await s.until_queue(0);
    }
}
