// How a semaphore's ticket ends, without leaving a node in the queue or a permit.

#include "semaphore_ticket_support.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

/// The calls that wait complete so, and so does a later one.
asio::awaitable<void> all_end(under_way<std::size_t> change, lock_call mine, ticket& behind,
                              error_code why) {
    co_await finished(change);
    co_await finished(mine);
    CHECK(change->error == why);
    CHECK(mine->error == why);
    const auto late = acquired(behind);
    co_await finished(late);
    CHECK(late->error == why);
}

} // namespace

CO_TEST("permits of a dropped ticket are free for the next call") {
    semaphore_scene s(executor);
    ticket place = co_await s.pool.enqueue(2);
    co_await s.until(2, 0);
    place = ticket();
    const guard next = co_await s.pool.try_acquire(2);
    CHECK(next.valid());
}

CO_TEST("cancelling acquired() leaves queue and permits, cancelling next_change() does not") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    for (const bool first : {true, false}) {
        const auto before = first ? std::string() : foreign_waiter(s);
        ticket place = co_await s.pool.enqueue(2);
        if (first) co_await s.until(3, 1); // else it has no permit node
        const auto change = change_of(place);
        change->cancel();
        co_await finished(change);
        CHECK(change->error == asio::error::operation_aborted);
        CHECK(s.locks().size() == (first ? 1 : 2));
        const auto mine = acquired(place);
        mine->cancel();
        co_await finished(mine);
        CHECK(mine->error == asio::error::operation_aborted);
        co_await s.until(1, first ? 0 : 1);
    }
}

CO_TEST("cancelling enqueue() leaves nothing") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    auto entering = ask_for_place(s.pool, 2); // at once
    entering->cancel();
    co_await finished(entering);
    CHECK(entering->error == asio::error::operation_aborted);
    co_await s.until(0, 0);

    s.proxy.hold_from(direction::down, opcode::create2, s.path + "/locks"); // while it joins
    entering = ask_for_place(s.pool, 2);
    co_await s.until(0, 1);
    entering->cancel();
    co_await finished(entering);
    CHECK(entering->error == asio::error::operation_aborted);
    s.proxy.release(direction::down);
    co_await s.until(0, 0);
}

CO_TEST("a ticket that is dropped while its permit nodes are created leaves none") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    s.proxy.hold_from(direction::down, opcode::create2, s.path + "/leases");
    {
        const ticket place = co_await s.pool.enqueue(2);
        co_await s.until(2, 1);
    }
    s.proxy.release(direction::down);
    co_await s.until(0, 0);
}

CO_TEST("a ticket that waits for permits queues again when its session expires") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    ticket place = co_await s.pool.enqueue(2);
    ticket behind = co_await s.pool.enqueue();
    co_await s.until(3, 2);
    s.expire();
    co_await s.until_epoch(2);
    co_await s.until(3, 2);
    CHECK(place.position() == 0);
    CHECK(behind.position() == 1);
    s.direct.remove(theirs);
    const guard hold = co_await place.acquired();
    CHECK(hold.valid());
}

CO_TEST("a ticket with on_expiry::fail fails when its session expires") {
    semaphore_scene s(executor, 2, {.on_expiry = on_expiry::fail});
    const auto theirs = s.foreign_lease();
    ticket place = co_await s.pool.enqueue(2);
    ticket behind = co_await s.pool.enqueue();
    co_await s.until(3, 2);
    const auto change = change_of(behind);
    const auto mine = acquired(place);
    s.expire();
    co_await all_end(change, mine, behind, errc::session_expired);
    co_await s.until(1, 0);
}

CO_TEST("permits that are lost between the grant and acquired() are not handed over") {
    semaphore_scene s(executor);
    for (const bool expires : {false, true}) {
        ticket place = co_await s.pool.enqueue(2);
        co_await s.until(2, 0);
        const auto change = change_of(place);
        if (expires)
            s.expire();
        else
            s.direct.remove(s.path + "/leases/" + s.leases().at(1));
        co_await finished(change);
        CHECK(change->error == errc::lock_lost);
        co_await s.until(0, 0); // the other permit, too
        const auto mine = acquired(place);
        co_await finished(mine);
        CHECK(mine->error == errc::lock_lost);
        CHECK_FALSE(held(mine));
    }
    const auto after = ask(s.pool, 2);
    co_await granted(after);
}

CO_TEST("permits that reach their longest time before acquired() are not handed over") {
    semaphore_scene s(executor, 2, {.hold_limit = {.longest = 20ms, .grace = 0ms}});
    ticket place = co_await s.pool.enqueue(2);
    const auto change = change_of(place);
    co_await finished(change);
    CHECK(change->error == errc::lock_lost);
    co_await s.until(0, 0);
    const auto mine = acquired(place);
    co_await finished(mine);
    CHECK(mine->error == errc::lock_lost);
}

CO_TEST("the longest time of permits begins with their grant") {
    semaphore_scene s(executor, 2, {.hold_limit = {.longest = 1min, .grace = 0ms}});
    ticket place = co_await s.pool.enqueue();
    co_await s.until(1, 0); // granted
    const auto now = boot_clock::now();
    const guard hold = co_await place.acquired();
    CHECK(hold.valid_until() <= now + 1min);
}

CO_TEST("a ticket waits for the node budget, or fails, or leaves") {
    client_options options;
    options.budgets.node_path_bytes = 1024; // twelve leases or so
    semaphore_scene s(executor, 1000, {}, options);
    semaphore strict(s.zk, s.path, 1000, {.on_over_budget = on_over_budget::fail});
    const auto a = ask(s.pool, 8);
    co_await granted(a);
    const auto refused = ask_for_place(strict, 8);
    co_await finished(refused);
    CHECK(refused->error == errc::over_budget);
    const auto never = ask_for_place(s.pool, 100);
    co_await finished(never);
    CHECK(never->error == errc::over_budget);
    const auto left = ask_for_place(s.pool, 8);
    const auto stays = ask_for_place(s.pool, 8);
    co_await s.zk.exists("/");
    CHECK_FALSE(left->done());
    left->cancel();
    co_await finished(left);
    CHECK(left->error == asio::error::operation_aborted);
    CHECK_FALSE(stays->done());
    co_await unlocked(a);
    co_await finished(stays);
    const auto mine = acquired(std::get<0>(stays->result));
    co_await granted(mine);
    co_await unlocked(mine);
    co_await s.until(0, 0);
    const auto all = ask(s.pool, 11); // the whole budget is free again
    co_await granted(all);
}

CO_TEST("without the right to join the queue enqueue() fails, without that to permits acquired()") {
    semaphore_scene s(executor);
    const std::vector<test::acl_entry> read_only{test::acl_entry{.permissions = 1}};
    s.direct.make_path(s.path);
    s.direct.create(s.path + "/leases", "", node_mode::persistent, read_only);
    for (int i = 0; i < 2; ++i) {
        ticket place = co_await s.pool.enqueue(2);
        const auto mine = acquired(place);
        co_await finished(mine);
        CHECK(mine->error == zk_errc::no_auth);
        co_await s.until(0, 0);
    }
    s.direct.set_acl(s.path + "/locks", read_only);
    const auto refused = ask_for_place(s.pool);
    co_await finished(refused);
    CHECK(refused->error == zk_errc::no_auth);
    CHECK_FALSE(std::get<0>(refused->result));
}

CO_TEST("a closed client ends the tickets of a semaphore") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    ticket place = co_await s.pool.enqueue(2);
    ticket behind = co_await s.pool.enqueue();
    co_await s.until(3, 2);
    const auto change = change_of(behind);
    const auto mine = acquired(place);
    co_await s.zk.close();
    co_await all_end(change, mine, behind, errc::closed);
    co_await s.until(1, 0);
}

TEST_CASE("tickets of a semaphore may outlive their io_context") {
    const auto path = fresh_root();
    ticket granted, waiting, behind;
    {
        asio::io_context io;
        client zk(io.get_executor(), shared_server().address());
        semaphore pool(zk, path, 2);
        pool.enqueue(2, [&](error_code problem, ticket place) {
            CHECK_FALSE(problem);
            granted = std::move(place);
            pool.enqueue(2, [&](error_code why, ticket next) {
                CHECK_FALSE(why);
                waiting = std::move(next);
                pool.enqueue([&](error_code, ticket last) {
                    behind = std::move(last);
                    io.stop();
                });
            });
        });
        io.run();
    }
    CHECK(granted);
    CHECK(waiting);
    CHECK(behind);
}
