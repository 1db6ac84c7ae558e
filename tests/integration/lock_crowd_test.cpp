// Many waiters: a release wakes the next one only.

#include "support/admin.hpp"
#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace paddock;
using namespace paddock::test;

namespace {

bool is_event(const frame& f) { return f.opcode == opcode::notification; }

std::size_t watches_at(const std::string& path) {
    return count_watches_under(shared_server().admin_port(), path);
}

} // namespace

CO_TEST("of a thousand waiters of one client, a release wakes one, and few watches are set") {
    const std::size_t many = test.full_or_brief(1000, 30);
    scene s(executor);
    const auto other = queue_up(s.direct, s.path);
    std::size_t done = 0;
    std::vector<lock_call> all;
    for (std::size_t i = 0; i < many; ++i)
        all.push_back(ask(s.lock, [&] { ++done; }));
    co_await s.until_queue(many + 1);
    co_await eventually([&] { return watches_at(s.path) >= 2; });
    CHECK(watches_at(s.path) <= 20);

    s.proxy.forget_frames();
    s.direct.remove(other);
    co_await granted(all[0]);
    co_await s.zk.exists("/");
    CHECK(done == 1);
    CHECK(s.proxy.snapshot().count_if(is_event) == 1);
    CHECK(watches_at(s.path) <= 20);
    for (std::size_t i = 0; i < many; ++i) {
        co_await granted(all[i]);
        REQUIRE(done == i + 1);
        if (i > 0) REQUIRE(sequence_of(held(all[i]).path()) > sequence_of(held(all[i - 1]).path()));
        if (i % 10 == 9) {
            CHECK(watches_at(s.path) <= 20);
            co_await held(all[i]).unlock();
        } else {
            held(all[i]) = guard();
        }
        if (i > 0) held(all[i - 1]) = guard();
    }
    co_await s.until_queue(0);
    co_await eventually([&] { return watches_at(s.path) == 0; });
}

CO_TEST("of a thousand waiters in as many sessions, a release wakes one, each with two watches") {
    test.time_limit(100s);
    const std::size_t many = test.full_or_brief(1000, 10);
    scene s(executor);
    client other(executor, shared_server().address());
    mutex others(other, s.path);
    const auto first = ask(others);
    co_await granted(first);
    std::deque<client> clients;
    std::deque<mutex> locks;
    std::vector<lock_call> all;
    std::size_t done = 0;
    for (std::size_t i = 0; i < many; ++i) {
        auto& zk = clients.emplace_back(executor, s.proxy.address(), short_session(60s));
        auto& m = locks.emplace_back(zk, s.path);
        all.push_back(ask(m, [&] { ++done; }));
        if (i % 50 == 49) co_await s.until_queue(i + 2);
    }
    // Each watches its predecessor and its own node, the holder only its own.
    co_await eventually([&] { return watches_at(s.path) == 2 * many + 1; });

    s.proxy.forget_frames();
    held(first) = guard();
    co_await eventually([&] { return done > 0; });
    for (auto& zk : clients)
        co_await zk.exists("/");
    CHECK(done == 1);
    CHECK(s.proxy.snapshot().count_if(is_event) == 1);
    const auto next = std::find_if(all.begin(), all.end(), [](const auto& a) { return a->done(); });
    CHECK(sequence_of(held(*next).path()) == 1);
    all.clear();
    locks.clear();
    clients.clear();
    co_await eventually([&] { return done == many && s.proxy.open() == 0; }, 30s);
}
