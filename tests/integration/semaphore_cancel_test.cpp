// A caller that leaves acquire() at every point: it completes at once, leaves nothing behind, and
// the other callers get their permits.

#include "support/admin.hpp"
#include "support/cancel_race.hpp"
#include "support/semaphore_harness.hpp"
#include "support/way_out.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

lock_call enter(semaphore& pool, std::int32_t count, way_out how) {
    if (how == way_out::time_limit) return ask_for(pool, count, brief_limit);
    return ask(pool, count);
}

/// The point at which the connection stands still meanwhile.
struct place {
    std::string_view name;
    bool foreign_lease;
    direction way;
    std::int32_t opcode;
    const char* path; ///< how it begins, below the semaphore's
};
constexpr place places[] = {
    {"before the server hears of the place", false, direction::up, opcode::create2, "/locks"},
    {"before the place's answer", false, direction::down, opcode::create2, "/locks"},
    {"before the answer about the queue", false, direction::down, opcode::children2, "/locks"},
    {"before the server hears of a lease", false, direction::up, opcode::multi, "/leases"},
    {"before a lease's answer", false, direction::down, opcode::multi, "/leases"},
    {"before the request for leases", false, direction::up, opcode::children2, "/leases"},
    {"before the answer about the leases", false, direction::down, opcode::children2, "/leases"},
    {"before a lease's answer, with too few", true, direction::down, opcode::multi, "/leases"},
    {"before the leases, with too few", true, direction::down, opcode::children2, "/leases"},
};

} // namespace

CO_TEST("a caller leaves at any point of acquire()") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    const auto first = ask(s.pool, 2); // so that the client knows the directories
    co_await granted(first);
    co_await unlocked(first);
    co_await s.until(0, 0);
    for (const auto& round : test.each(ways_out, places)) {
        const auto how = std::get<way_out>(round);
        const auto& at = std::get<place>(round);
        INFO(at.name << ", way out " << static_cast<int>(how));
        std::string theirs;
        if (at.foreign_lease) theirs = s.foreign_lease();
        s.proxy.hold_from(at.way, at.opcode, s.path + at.path);
        const auto a = enter(s.pool, 2, how);
        co_await before_leaving(a, how, [&] { return s.proxy.waiting(at.way) > 0; });
        co_await leave(a, how); // while the connection stands still
        const auto next = ask(s.pool, 2);
        s.proxy.release(at.way);
        if (at.foreign_lease) s.direct.remove(theirs);
        co_await granted(next);
        co_await s.until(2, 0);
        co_await held(next).unlock();
        CHECK(s.leases().empty());
        CHECK(a->times == 1);
        co_await eventually(
            [&] { return count_watches_under(shared_server().admin_port(), s.path) == 0; });
    }
}

CO_TEST("a caller that waits for permits leaves, and the next one is served") {
    semaphore_scene s(executor);
    for (const auto& round : test.each(ways_out)) {
        const auto how = std::get<way_out>(round);
        const auto theirs = s.foreign_lease();
        const auto a = enter(s.pool, 2, how);
        const auto b = ask(s.pool);
        co_await before_leaving(
            a, how, [&] { return s.leases().size() == 3 && s.locks().size() == 2 && !b->done(); });
        co_await leave(a, how);
        co_await granted(b);
        co_await s.until(2, 0);
        co_await held(b).unlock();
        s.direct.remove(theirs);
    }
}

CO_TEST("a caller leaves acquire() while there is no connection") {
    semaphore_scene s(executor);
    s.proxy.refuse(true);
    for (const auto how : ways_out)
        co_await leave(enter(s.pool, 2, how), how, errc::not_connected);
    s.proxy.refuse(false);
    co_await s.zk.connect();
    for (const auto& round : test.each(ways_out)) {
        const auto how = std::get<way_out>(round);
        const auto theirs = s.foreign_lease();
        const auto a = enter(s.pool, 2, how);
        co_await before_leaving(a, how,
                                [&] { return s.leases().size() == 3 && s.locks().size() == 1; });
        co_await s.zk.sync("/"); // it has seen the other node
        s.proxy.refuse(true);
        s.proxy.cut_all(cut::rst);
        co_await eventually([&] { return s.zk.state() == client_state::suspended; });
        co_await leave(a, how);
        if (how != way_out::time_limit) CHECK(s.leases().size() == 3); // nothing can be sent
        s.proxy.refuse(false);
        co_await s.until(1, 0);
        s.direct.remove(theirs);
        co_await s.until_connected();
    }
}

CO_TEST("leases with lost answers are swept when their caller has left") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    s.proxy.hold_from(direction::down, opcode::create2, s.path + "/leases");
    const auto a = ask(s.pool, 2);
    co_await s.until(2, 1);
    a->cancel();
    co_await finished(a);
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await s.until(0, 0);
}

CO_TEST("when a cancellation meets the grant, either wins, and the next is served") {
    semaphore_scene s(executor);
    cancel_race race(executor, s.proxy);
    const auto rounds = test.full_or_brief(60, 12);
    for (std::size_t round = 0; test.begin_round(round, rounds); ++round) {
        const auto theirs = s.foreign_lease();
        const auto a = ask(s.pool, 2);
        const auto b = ask(s.pool);
        co_await s.until(3, 2);
        co_await race.meet(round, a, [&] { s.direct.remove(theirs); });
        co_await granted(b);
        co_await held(b).unlock();
        co_await s.until(0, 0);
    }
    race.check_both_have_won();
}

CO_TEST("a semaphore and its client may be destroyed during waits and holds") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    lock_call a, b, c;
    {
        client brief(executor, s.proxy.address());
        {
            semaphore pool(brief, s.path, 2);
            a = ask(pool);
            co_await granted(a);
            b = ask(pool);
            c = ask(pool);
        }
        co_await s.until(3, 2);
        CHECK_FALSE(b->done());
    }
    co_await finished(b);
    co_await finished(c);
    CHECK(b->error == errc::closed);
    CHECK(c->error == errc::closed);
    CHECK_FALSE(held(a).valid());
    co_await s.until(1, 0);
}

CO_TEST("a client may be destroyed during a wait for its budget, and its guards released later") {
    client_options options;
    options.budgets.node_path_bytes = 1024; // twelve leases or so
    semaphore_scene s(executor, 1000, {}, options);
    const auto a = ask(s.pool, 8);
    co_await granted(a);
    std::vector<lock_call> waiting;
    for (int i = 0; i < 4; ++i)
        waiting.push_back(ask(s.pool, 8));
    co_await s.zk.exists("/");
    co_await s.zk.close();
    for (const auto& one : waiting) {
        co_await finished(one);
        CHECK(one->error == errc::closed);
    }
    CHECK_FALSE(held(a).valid());
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    CHECK(s.leases().empty());
}

CO_TEST("without the right to create leases acquire() fails, and blocks no other caller") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path);
    s.direct.create(s.path + "/leases", "", node_mode::persistent,
                    {paddock::test::acl_entry{.permissions = 1}});
    for (int i = 0; i < 3; ++i) {
        const auto a = ask(s.pool, 2);
        co_await finished(a);
        CHECK(a->error == zk_errc::no_auth);
    }
    co_await s.until(0, 0);
}

CO_TEST("permits over the budget wait or fail, and more than it can ever hold are refused") {
    client_options options;
    options.budgets.node_path_bytes = 1024; // twelve leases or so
    semaphore_scene s(executor, 1000, {}, options);
    semaphore strict(s.zk, s.path, 1000, {.on_over_budget = on_over_budget::fail});
    const auto a = ask(s.pool, 8);
    co_await granted(a);
    const auto refused = ask(strict, 8);
    co_await finished(refused);
    CHECK(refused->error == errc::over_budget);
    const auto never = ask(s.pool, 100);
    co_await finished(never);
    CHECK(never->error == errc::over_budget);
    const auto b = ask(s.pool, 8);
    co_await s.zk.exists("/");
    CHECK_FALSE(b->done());
    const auto tried = ask_now(s.pool, 8);
    co_await finished(tried);
    CHECK_FALSE(tried->error);
    CHECK_FALSE(held(tried));
    const auto c = ask(s.pool, 8);
    c->cancel();
    co_await finished(c);
    co_await held(a).unlock();
    co_await granted(b);
    co_await s.until(8, 0);
}
