// Tickets of a semaphore: a place among those that wait, which can be observed before the permits
// are free.

#include "semaphore_ticket_support.hpp"
#include "support/admin.hpp"
#include "support/cut_sweep.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace paddock;
using namespace paddock::test;

namespace {

asio::awaitable<void> until_unwatched(semaphore_scene& s) {
    co_await eventually(
        [&] { return count_watches_under(shared_server().admin_port(), s.path) == 0; });
}

} // namespace

CO_TEST("a ticket for free permits is granted, and releases the permits if it is not collected") {
    semaphore_scene s(executor);
    {
        ticket place = co_await s.pool.enqueue(2);
        CHECK(place.position() == 0);
        guard hold = co_await place.acquired();
        CHECK_FALSE(place);
        CHECK(hold.valid());
        CHECK_FALSE(hold.has_token());
        CHECK(hold.path().starts_with(s.path + "/leases/"));
        co_await hold.verify();
        co_await s.until(2, 0);
        co_await hold.unlock();
        CHECK(s.leases().empty());
    }
    {
        const ticket place = co_await s.pool.enqueue();
        co_await s.until(1, 0);
    }
    co_await s.until(0, 0);
    co_await until_unwatched(s);
}

CO_TEST("a ticket reports its position among those that wait, the holder, and each change") {
    semaphore_scene s(executor, 2, {.label = "printer"});
    const auto a = ask(s.pool);
    co_await granted(a);
    co_await s.until(1, 0);
    const auto first = foreign_waiter(s);
    const auto second = foreign_waiter(s);
    ticket place = co_await s.pool.enqueue(2);
    CHECK(place.position() == 2); // the holder does not count
    const auto holder = co_await place.holder();
    REQUIRE(holder);
    CHECK(holder->path == held(a).path());
    CHECK(holder->label == "printer");
    CHECK(holder->holder);
    CHECK(holder->token == fencing_token{});

    auto change = change_of(place);
    s.direct.remove(first);
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 1);
    change = change_of(place);
    s.direct.remove(second);
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 0);
    co_await s.until(3, 1); // it has created its permit nodes, and waits
    CHECK(place.position() == 0);
    const auto mine = acquired(place);
    CHECK_FALSE(mine->done());
    co_await unlocked(a);
    co_await granted(mine);
    co_await s.until(2, 0);
}

CO_TEST("a semaphore without a holder says so") {
    semaphore_scene s(executor);
    const auto before = foreign_waiter(s);
    ticket place = co_await s.pool.enqueue();
    const auto holder = co_await place.holder();
    CHECK_FALSE(holder);
    CHECK(place.position() == 1);
}

CO_TEST("those behind a ticket that waits for permits count it, and follow when it is dropped") {
    semaphore_scene s(executor);
    const auto a = ask(s.pool);
    co_await granted(a);
    std::optional<ticket> first = co_await s.pool.enqueue(2);
    ticket second = co_await s.pool.enqueue();
    co_await s.until(3, 2);
    CHECK(first->position() == 0);
    CHECK(second.position() == 1);
    const auto change = change_of(second);
    const auto none = change_of(*first);
    first.reset();
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 0);
    co_await finished(none);
    CHECK(none->error == asio::error::operation_aborted);
    const auto mine = acquired(second);
    co_await granted(mine);
    co_await s.until(2, 0);
    co_await unlocked(mine);
    co_await unlocked(a);
    co_await until_unwatched(s);
}

CO_TEST("a ticket whose queue node is deleted while it waits for permits has a new position") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    ticket place = co_await s.pool.enqueue(2);
    co_await s.until(3, 1);
    const auto before = foreign_waiter(s);
    auto change = change_of(place);
    s.direct.remove(s.path + "/locks/" + s.locks().front());
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 1);
    co_await s.until(1, 2);
    change = change_of(place);
    s.direct.remove(before);
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 0);
    co_await s.until(3, 1);
    s.direct.remove(theirs);
    const guard hold = co_await place.acquired();
    CHECK(hold.valid());
    co_await s.until(2, 0);
}

CO_TEST("a ticket waits until a counter gives enough permits") {
    const auto counter = fresh_root() + "/limit";
    semaphore_scene s(executor, 1, {.counter = counter});
    ticket place = co_await s.pool.enqueue(2);
    const auto mine = acquired(place);
    co_await s.until(2, 1);
    CHECK_FALSE(mine->done());
    co_await s.pool.set_permits(2);
    co_await granted(mine);
}

CO_TEST("a connection cut anywhere costs a ticket nothing but time") {
    test.time_limit(120s);
    semaphore_scene s(executor, 2, {}, short_session(4s));
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::in_turns);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto theirs = s.foreign_lease();
        const auto before = foreign_waiter(s);
        ticket place = co_await s.pool.enqueue(2);
        CHECK(place.position() == 1);
        const auto change = change_of(place);
        s.direct.remove(before);
        co_await finished(change);
        CHECK(std::get<0>(change->result) == 0);
        co_await s.until(3, 1);
        s.direct.remove(theirs);
        const auto mine = acquired(place);
        co_await granted(mine);
        co_await unlocked(mine);
        co_await s.until(0, 0);
        co_await s.until_connected();
    }
    MESSAGE(s.proxy.cuts() << " cuts");
    CHECK(s.proxy.cuts() >= test.full_or_brief(20, 2));
    CHECK(s.zk.epoch() == 1);
}
