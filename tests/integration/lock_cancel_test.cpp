// A waiter that leaves at every point where lock() waits: it completes at once, leaves nothing
// behind, and the other waiters go on in order.

#include "support/admin.hpp"
#include "support/cancel_race.hpp"
#include "support/lock_harness.hpp"
#include "support/way_out.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;
using namespace boost::asio::experimental::awaitable_operators;

namespace {

lock_call enter(mutex& m, way_out how) {
    if (how == way_out::time_limit) return ask_for(m, brief_limit);
    return ask(m);
}

std::size_t watches(const scene& s) {
    return count_watches_under(shared_server().admin_port(), s.path);
}

/// The point at which the connection stands still while the waiter leaves.
struct place {
    std::string_view name;
    bool foreign_holder;
    direction way;
    std::int32_t opcode;
};
constexpr place places[] = {
    {"before the server hears of the create", false, direction::up, opcode::create2},
    {"before the create's answer", false, direction::down, opcode::create2},
    {"before the server hears of the listing", false, direction::up, opcode::children2},
    {"before the listing's answer", false, direction::down, opcode::children2},
    {"before the create's answer, behind another", true, direction::down, opcode::create2},
    {"before the listing's answer, behind another", true, direction::down, opcode::children2},
    {"before the server hears of the watch", true, direction::up, opcode::get},
    {"before the watch's answer", true, direction::down, opcode::get},
};

/// Checks the lock: the remaining waiters are granted it, one after the other, later ones too, and
/// no node stays.
asio::awaitable<void> all_are_served(scene& s, std::vector<lock_call> rest = {}) {
    int before = -1;
    for (auto& a : rest) {
        co_await granted(a);
        CHECK(sequence_of(held(a).path()) > before);
        before = sequence_of(held(a).path());
        co_await held(a).unlock();
    }
    co_await s.until_queue(0);
    const auto other = queue_up(s.direct, s.path);
    const auto last = ask(s.lock);
    co_await s.until_queue(2);
    CHECK_FALSE(last->done());
    s.direct.remove(other);
    co_await granted(last);
    co_await held(last).unlock();
    CHECK(s.queue().empty());
}

} // namespace

CO_TEST("a waiter leaves at any point of lock()") {
    scene s(executor);
    co_await s.zk.connect();
    for (const auto& round : test.each(ways_out, places)) {
        const auto how = std::get<way_out>(round);
        const auto& at = std::get<place>(round);
        INFO(at.name << ", way out " << static_cast<int>(how));
        std::string other;
        if (at.foreign_holder) other = queue_up(s.direct, s.path);
        s.proxy.hold_from(at.way, at.opcode);
        const auto a = enter(s.lock, how);
        co_await before_leaving(a, how, [&] { return s.proxy.waiting(at.way) > 0; });
        co_await leave(a, how); // while the connection stands still
        std::vector<lock_call> rest{ask(s.lock)};
        s.proxy.release(at.way);
        if (at.foreign_holder) s.direct.remove(other);
        co_await all_are_served(s, rest);
        CHECK(a->times == 1);
    }
}

CO_TEST("a waiter leaves from the front, from the middle and from the end of the queue") {
    scene s(executor);
    for (const auto& round : test.each(ways_out, std::array<std::size_t, 3>{0, 1, 2})) {
        const auto how = std::get<way_out>(round);
        const auto leaver = std::get<std::size_t>(round);
        const auto other = queue_up(s.direct, s.path);
        std::vector<lock_call> all;
        for (std::size_t i = 0; i < 3; ++i)
            all.push_back(i == leaver ? enter(s.lock, how) : ask(s.lock));
        co_await before_leaving(all[leaver], how, [&] { return s.queue().size() == 4; });
        co_await leave(all[leaver], how);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(leaver));
        co_await s.until_queue(3);
        s.direct.remove(other);
        co_await all_are_served(s, all);
    }
}

CO_TEST("a waiter leaves between two foreign nodes") {
    scene s(executor);
    for (const auto& round : test.each(ways_out)) {
        const auto how = std::get<way_out>(round);
        const auto first = queue_up(s.direct, s.path);
        const auto a = enter(s.lock, how);
        co_await before_leaving(a, how, [&] { return s.queue().size() == 2; });
        const auto second = queue_up(s.direct, s.path);
        const auto b = ask(s.lock);
        co_await before_leaving(a, how, [&] { return s.queue().size() == 4 && watches(s) == 4; });
        co_await leave(a, how);
        co_await s.until_queue(3);
        co_await eventually([&] { return watches(s) == 2; });
        s.direct.remove(first);
        co_await s.zk.exists("/");
        CHECK_FALSE(b->done());
        s.direct.remove(second);
        co_await all_are_served(s, std::vector<lock_call>(1, b));
    }
}

CO_TEST("a waiter leaves before there is a connection, and while it is lost") {
    scene s(executor);
    s.proxy.refuse(true);
    for (const auto how : ways_out)
        co_await leave(enter(s.lock, how), how, errc::not_connected);
    s.proxy.refuse(false);
    co_await s.zk.connect();
    CHECK(s.queue().empty());
    for (const auto& round : test.each(ways_out)) {
        const auto how = std::get<way_out>(round);
        const auto other = queue_up(s.direct, s.path);
        const auto a = enter(s.lock, how);
        co_await before_leaving(a, how, [&] { return s.queue().size() == 2; });
        co_await s.zk.sync("/"); // it has seen the other node
        s.proxy.refuse(true);
        s.proxy.cut_all(cut::rst);
        co_await eventually([&] { return s.zk.state() == client_state::suspended; });
        co_await leave(a, how);
        if (how != way_out::time_limit) CHECK(s.queue().size() == 2); // nothing can be sent
        s.proxy.refuse(false);
        co_await s.until_queue(1);
        s.direct.remove(other);
        co_await all_are_served(s);
    }
}

CO_TEST("when a cancellation meets the grant, either wins, and the next is served") {
    scene s(executor);
    cancel_race race(executor, s.proxy);
    const auto rounds = test.full_or_brief(60, 12);
    for (std::size_t round = 0; test.begin_round(round, rounds); ++round) {
        const auto other = queue_up(s.direct, s.path);
        const auto a = ask(s.lock);
        const auto b = ask(s.lock);
        co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) == 2; });
        co_await race.meet(round, a, [&] { s.direct.remove(other); });
        co_await granted(b);
        co_await held(b).unlock();
        co_await s.until_queue(0);
        s.proxy.forget_frames();
    }
    race.check_both_have_won();
}

CO_TEST("a caller that leaves before its node exists leaves no directory") {
    scene s(executor);
    const auto directory = s.path + "/new";
    mutex lock(s.zk, directory);
    co_await s.zk.connect();
    s.proxy.hold_from(direction::down, opcode::create_container, directory);
    const auto a = ask(lock);
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    CHECK(s.direct.exists(directory));
    a->cancel();
    co_await finished(a);
    s.proxy.release(direction::down);
    co_await eventually([&] { return !s.direct.exists(directory); });
    const auto b = ask(lock);
    co_await granted(b);
}

CO_TEST("the loser of || leaves the queue, and a lock that comes too late is released") {
    scene s(executor);
    asio::steady_timer timer(executor, 50ms);
    const auto other = queue_up(s.direct, s.path);
    {
        auto first = co_await (s.lock.lock() || timer.async_wait(asio::use_awaitable));
        CHECK(first.index() == 1);
    }
    co_await s.until_queue(1);
    s.direct.remove(other);
    for (int i = 0; i < 20; ++i) {
        timer.expires_after(i * 100us);
        auto first = co_await (s.lock.lock() || timer.async_wait(asio::use_awaitable));
        if (first.index() == 0) CHECK(std::get<0>(first).valid());
    }
    co_await all_are_served(s);
    timer.expires_after(10s);
    auto first = co_await (s.lock.lock() || timer.async_wait(asio::use_awaitable));
    CHECK(first.index() == 0);
}

CO_TEST("a mutex and a client may be destroyed while a caller waits") {
    scene s(executor);
    const auto other = queue_up(s.direct, s.path);
    lock_call a, b;
    {
        client brief(executor, s.proxy.address());
        {
            mutex m(brief, s.path);
            a = ask(m);
            b = ask(m);
        }
        co_await s.until_queue(3);
        CHECK_FALSE(a->done());
    }
    co_await finished(a);
    co_await finished(b);
    CHECK(a->error == errc::closed);
    CHECK(b->error == errc::closed);
    co_await s.until_queue(1);
    s.direct.remove(other);
}
