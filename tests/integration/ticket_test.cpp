// Tickets: a place in the queue that can be observed before the lock is granted.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

under_way<std::size_t> change_of(ticket& t) {
    return start<std::size_t>([&](auto token) { t.next_change(std::move(token)); });
}

} // namespace

CO_TEST("a ticket for a free lock is granted, and releases the lock if it is not collected") {
    scene s(executor);
    {
        ticket place = co_await s.lock.enqueue();
        CHECK(place.position() == 0);
        const guard hold = co_await place.acquired();
        CHECK(hold.valid());
        CHECK_FALSE(place);
    }
    co_await s.until_queue(0);
    {
        const ticket place = co_await s.lock.enqueue();
        co_await s.until_queue(1);
    }
    co_await s.until_queue(0);
}

CO_TEST("a ticket reports its position, the holder and each change until its grant") {
    scene s(executor);
    std::vector<std::string> before;
    for (int i = 0; i < 3; ++i)
        before.push_back(queue_up(s.direct, s.path));
    mutex_options labelled;
    ticket place = co_await s.lock.enqueue();
    CHECK(place.position() == 3);
    const auto holder = co_await place.holder();
    REQUIRE(holder);
    CHECK(holder->path == before[0]);

    auto change = change_of(place);
    s.direct.remove(before[0]);
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 2);
    CHECK(place.position() == 2);
    change = change_of(place);
    s.direct.remove(before[1]);
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 1);
    change = change_of(place);
    s.direct.remove(before[2]);
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 0);
    const guard hold = co_await place.acquired();
    CHECK(hold.valid());
}

CO_TEST("a dropped ticket leaves the queue, and those behind it move up") {
    scene s(executor);
    const auto holder = ask(s.lock);
    co_await granted(holder);
    auto first = std::make_optional(co_await s.lock.enqueue());
    ticket second = co_await s.lock.enqueue();
    CHECK(first->position() == 1);
    CHECK(second.position() == 2);
    const auto change = change_of(second);
    first.reset();
    co_await finished(change);
    CHECK(std::get<0>(change->result) == 1);
    co_await s.until_queue(2);
    const auto mine = start<guard>([&](auto token) { second.acquired(std::move(token)); });
    CHECK_FALSE(mine->done());
    co_await held(holder).unlock();
    co_await granted(mine);
}

CO_TEST("the lock of a dropped ticket is free for the next call") {
    scene s(executor);
    ticket place = co_await s.lock.enqueue(); // granted
    place = ticket();
    const guard next = co_await s.lock.try_lock();
    CHECK(next.valid());
}

CO_TEST("cancelling acquired() leaves the queue, cancelling next_change() does not") {
    scene s(executor);
    const auto before = queue_up(s.direct, s.path);
    ticket place = co_await s.lock.enqueue();
    const auto change = change_of(place);
    change->cancel();
    co_await finished(change);
    CHECK(change->error == asio::error::operation_aborted);
    CHECK(s.queue().size() == 2);
    const auto mine = start<guard>([&](auto token) { place.acquired(std::move(token)); });
    mine->cancel();
    co_await finished(mine);
    CHECK(mine->error == asio::error::operation_aborted);
    co_await s.until_queue(1);
}

CO_TEST("cancelling enqueue() leaves nothing") {
    scene s(executor);
    const auto before = queue_up(s.direct, s.path);
    const auto entering = start<ticket>([&](auto token) { s.lock.enqueue(std::move(token)); });
    entering->cancel();
    co_await finished(entering);
    CHECK(entering->error == asio::error::operation_aborted);
    co_await s.until_queue(1);
}

CO_TEST("a ticket queues again when its session expires") {
    scene s(executor, short_session(4s));
    const auto before = queue_up(s.direct, s.path);
    ticket place = co_await s.lock.enqueue();
    expire(s);
    co_await eventually([&] { return s.zk.epoch() >= 2; });
    co_await s.until_queue(2);
    s.direct.remove(before);
    const guard hold = co_await place.acquired();
    CHECK(hold.valid());
}

CO_TEST("a lock that is lost between the grant and acquired() is not handed over") {
    scene s(executor, short_session(4s));
    ticket place = co_await s.lock.enqueue();
    CHECK(place.position() == 0);
    co_await s.until_queue(1);
    expire(s);
    co_await eventually([&] { return s.zk.epoch() >= 2; });
    const auto mine = start<guard>([&](auto token) { place.acquired(std::move(token)); });
    co_await finished(mine);
    CHECK(mine->error == errc::lock_lost);
}

CO_TEST("a closed client ends its tickets") {
    scene s(executor);
    const auto before = queue_up(s.direct, s.path);
    ticket place = co_await s.lock.enqueue();
    const auto change = change_of(place);
    co_await s.zk.close();
    co_await finished(change);
    CHECK(change->error == errc::closed);
    const auto mine = start<guard>([&](auto token) { place.acquired(std::move(token)); });
    co_await finished(mine);
    CHECK(mine->error == errc::closed);
}

CO_TEST("tickets of a shared mutex: readers behind a writer are granted together") {
    scene s(executor);
    const shared_mutex book(s.zk, s.path);
    ticket writer = co_await book.enqueue();
    ticket one = co_await book.enqueue_shared();
    ticket two = co_await book.enqueue_shared();
    CHECK(writer.position() == 0);
    CHECK(one.position() == 1);
    CHECK(two.position() == 1); // it does not wait for the other reader
    guard first = co_await writer.acquired();
    CHECK(first.has_token());
    co_await first.downgrade(); // as the guard of lock()
    const guard a = co_await one.acquired();
    const guard b = co_await two.acquired();
    CHECK(first.valid());
    CHECK(a.valid());
    CHECK(b.valid());
    CHECK_FALSE(a.has_token());
    CHECK(s.queue().size() == 3);
}

TEST_CASE("a ticket may outlive its io_context") {
    ticket kept;
    {
        asio::io_context io;
        client zk(io.get_executor(), shared_server().address());
        mutex m(zk, fresh_root());
        m.enqueue([&](error_code problem, ticket place) {
            CHECK_FALSE(problem);
            kept = std::move(place);
            io.stop();
        });
        io.run();
    }
    CHECK(kept);
}
