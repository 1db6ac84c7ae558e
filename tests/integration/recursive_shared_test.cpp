// recursive_shared_mutex: what an owner can take again, and what becomes of its hold.

#include "support/recursive_shared_harness.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a writer writes and reads again without a request, and releases in any order") {
    recursive_shared_scene s(executor);
    const owner me;
    for (const bool readers_go_first : {true, false}) {
        const auto writer = s.write(me);
        co_await granted(writer);
        const auto before = s.writes();
        const std::array all{s.write(me), s.write_now(me), s.write_for(me, 1s),
                             s.read(me),  s.read_now(me),  s.read_for(me, 1s)};
        for (const auto& a : all) {
            co_await granted(a);
            CHECK(held(a).path() == held(writer).path());
            const bool exclusive = a == all[0] || a == all[1] || a == all[2];
            CHECK(held(a).has_token() == exclusive);
            if (exclusive) CHECK(held(a).fencing_token() == held(writer).fencing_token());
        }
        for (std::size_t i = 0; i < 3; ++i)
            co_await unlocked(all[readers_go_first ? i + 3 : i]);
        CHECK(s.writes() == before);
        co_await unlocked(writer); // not the last guard, but perhaps the last exclusive one
        CHECK(is_reader(s.first_name()) == !readers_go_first);
        for (std::size_t i = 0; i < 3; ++i)
            co_await unlocked(all[readers_go_first ? i : i + 3]);
        CHECK(s.queue().empty());
    }
}

CO_TEST("a writer that keeps a shared guard lets readers in, and no writer") {
    recursive_shared_scene s(executor);
    client other(executor, shared_server().address());
    shared_mutex theirs(other, s.path);
    const owner me, neighbour;
    const auto writer = s.write(me);
    co_await granted(writer);
    const auto mine = s.read(me);
    co_await granted(mine);
    const auto before = std::string(held(mine).path());
    const auto token = held(mine).fencing_token();
    const auto local = s.read(neighbour);
    co_await s.until_queue(2);
    const auto foreign = start<guard>([&](auto t) { theirs.lock_shared(std::move(t)); });
    co_await s.until_queue(3);
    const auto next = start<guard>([&](auto t) { theirs.lock(std::move(t)); });
    co_await s.until_queue(4);

    co_await unlocked(writer);
    CHECK(is_reader(s.first_name()));
    CHECK(is_reader(held(mine).path()));
    CHECK(sequence_of(held(mine).path()) == sequence_of(before));
    CHECK(held(mine).fencing_token() == token);
    co_await granted(local);
    co_await granted(foreign);
    co_await held(mine).verify();
    std::vector<operation> steps{op::create{s.path + "-data", "x"}};
    co_await held(mine).transaction(steps);

    // From now on the owner only shares the lock.
    co_await refused(s.write(me), errc::would_deadlock);
    co_await empty_handed(s.write_now(me));
    const auto late = s.read(me); // not behind the writer
    co_await granted(late);
    CHECK(held(late).path() == held(mine).path());
    CHECK(held(late).fencing_token() == token);
    co_await unlocked(local);
    co_await unlocked(foreign);
    co_await unlocked(mine);
    CHECK_FALSE(next->done());
    co_await unlocked(late);
    co_await granted(next);
    CHECK(s.queue().size() == 1);
}

CO_TEST("another owner of the same client can try_lock_shared once the writer only reads") {
    recursive_shared_scene s(executor);
    const owner me, other;
    const auto writer = s.write(me);
    const auto reader = s.read(me);
    co_await granted(writer);
    co_await granted(reader);
    co_await empty_handed(s.read_now(other));
    co_await unlocked(writer);
    const auto second = s.read_now(other);
    co_await granted(second);
    co_await empty_handed(s.write_now(other));
}

CO_TEST("a reader reads again at once, also while a writer waits") {
    recursive_shared_scene s(executor);
    const owner me, other;
    const auto first = s.read(me);
    co_await granted(first);
    const auto writer = s.write(other);
    co_await s.until_queue(2);
    const auto before = s.writes();
    const std::array all{s.read(me), s.read_now(me), s.read_for(me, 1s)};
    for (const auto& a : all) {
        co_await granted(a);
        CHECK(held(a).path() == held(first).path());
    }
    CHECK(s.writes() == before);
    held(first) = guard();
    for (const auto& a : all) {
        CHECK_FALSE(writer->done());
        held(a) = guard();
    }
    co_await granted(writer);
    CHECK(s.sent(opcode::multi) == 0);
}

CO_TEST("a reader that wants to write is refused at once, and goes on reading") {
    recursive_shared_scene s(executor);
    const owner me, other;
    const auto reader = s.read(me);
    co_await granted(reader);
    const auto before = s.writes();
    co_await refused(s.write(me), errc::would_deadlock);
    co_await refused(s.write_for(me, 1h), errc::would_deadlock);
    co_await empty_handed(s.write_for(me, 0ns));
    co_await empty_handed(s.write_now(me));
    CHECK(s.writes() == before);
    CHECK(held(reader).valid());
    const auto second = s.read(other);
    co_await granted(second);
    co_await unlocked(second);
    co_await unlocked(reader);
    const auto writer = s.write(me);
    co_await granted(writer);
}

CO_TEST("calls of one owner that wait behind its lock() are granted with it") {
    recursive_shared_scene s(executor);
    const owner me;
    const auto other = queue_up(s.direct, s.path, "__READ__");
    const auto writer = s.write(me);
    const auto reader = s.read(me);
    co_await empty_handed(s.read_now(me));
    co_await empty_handed(s.write_now(me));
    const auto second = s.write(me);
    co_await s.until_queue(2);
    CHECK(s.sent(opcode::create2) == 1);
    CHECK_FALSE(reader->done());
    s.direct.remove(other);
    co_await granted(writer);
    co_await granted(reader);
    co_await granted(second);
    CHECK(held(reader).path() == held(writer).path());
    CHECK_FALSE(is_reader(held(reader).path()));
    co_await unlocked(writer);
    CHECK_FALSE(is_reader(s.first_name()));
    co_await unlocked(second);
    CHECK(is_reader(s.first_name()));
    co_await unlocked(reader);
    CHECK(s.queue().empty());
}

CO_TEST("when the lock() that a shared call waits with is cancelled, the call becomes a reader") {
    recursive_shared_scene s(executor);
    co_await s.zk.connect();
    const owner me;
    const auto other = queue_up(s.direct, s.path, "__READ__");
    const auto writer = s.write(me);
    const auto limited = s.write_for(me, 50ms);
    const auto reader = s.read(me);
    co_await empty_handed(limited);
    CHECK_FALSE(reader->done());
    writer->cancel();
    co_await finished(writer);
    CHECK(writer->error == asio::error::operation_aborted);
    co_await granted(reader); // beside the other reader
    CHECK(is_reader(held(reader).path()));
    co_await s.until_queue(2);
    co_await refused(s.write(me), errc::would_deadlock);
    co_await unlocked(reader);
    CHECK(s.queue().size() == 1);
}

CO_TEST("a lock() behind a waiting lock_shared() of its owner is refused") {
    recursive_shared_scene s(executor);
    const owner me;
    const auto other = queue_up(s.direct, s.path, "__WRIT__");
    const auto reader = s.read(me);
    co_await refused(s.write(me), errc::would_deadlock);
    co_await refused(s.write_for(me, 1h), errc::would_deadlock);
    co_await empty_handed(s.write_now(me));
    co_await empty_handed(s.read_now(me));
    const auto second = s.read(me);
    co_await s.until_queue(2);
    CHECK(s.sent(opcode::create2) == 1);
    s.direct.remove(other);
    co_await granted(reader);
    co_await granted(second);
    co_await unlocked(reader);
    co_await unlocked(second);
    CHECK(s.queue().empty());
}

CO_TEST("calls of one owner that try at the same time agree on one node") {
    recursive_shared_scene s(executor);
    co_await s.zk.connect();
    const owner me;
    { // free
        const auto writes = s.write_now(me);
        const auto reads = s.read_now(me);
        const auto waits = s.read(me);
        co_await granted(writes);
        co_await granted(reads);
        co_await granted(waits);
        CHECK(held(reads).path() == held(writes).path());
        for (const auto& a : {writes, reads, waits})
            held(a) = guard();
        co_await s.until_queue(0);
    }
    { // taken by a reader: only what waits becomes one as well
        const auto other = queue_up(s.direct, s.path, "__READ__");
        const auto writes = s.write_now(me);
        const auto reads = s.read_now(me);
        const auto waits = s.read(me);
        co_await empty_handed(writes);
        co_await empty_handed(reads);
        co_await granted(waits);
        CHECK(is_reader(held(waits).path()));
    }
}

CO_TEST("a try_lock_shared goes on alone when the try_lock beside it is cancelled") {
    recursive_shared_scene s(executor);
    co_await s.zk.connect();
    const owner me;
    const auto other = queue_up(s.direct, s.path, "__READ__");
    s.proxy.hold_from(direction::down, opcode::children2);
    const auto writes = s.write_now(me);
    const auto reads = s.read_now(me);
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    writes->cancel();
    co_await finished(writes);
    CHECK(writes->error == asio::error::operation_aborted);
    s.proxy.release(direction::down);
    co_await granted(reads);
    CHECK(is_reader(held(reads).path()));
}

CO_TEST("the unlock of the last exclusive guard waits until readers can enter; others do not") {
    recursive_shared_scene s(executor);
    const owner me;
    const auto first = s.write(me);
    const auto last = s.write(me);
    const auto mine = s.read(me);
    const auto second = s.read(me);
    co_await granted(second);
    s.proxy.hold_from(direction::up, opcode::multi);
    co_await unlocked(first);
    const auto end = give_back(held(last));
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    co_await unlocked(second);
    CHECK(held(mine).valid());
    co_await refused(s.write(me), errc::would_deadlock); // the node is still exclusive
    const auto third = s.read(me);
    co_await granted(third);
    CHECK_FALSE(end->done());
    s.proxy.release(direction::up);
    co_await finished(end);
    CHECK_FALSE(end->error);
    CHECK(is_reader(held(mine).path()));
    CHECK(held(third).path() == held(mine).path());
    CHECK(s.queue().size() == 1);
}

CO_TEST("a hold that ends while it is being downgraded leaves no node") {
    recursive_shared_scene s(executor);
    const owner me;
    for (const auto way : {direction::up, direction::down}) {
        const auto writer = s.write(me);
        const auto reader = s.read(me);
        co_await granted(writer);
        co_await granted(reader);
        s.proxy.hold_from(way, opcode::multi);
        const auto end = give_back(held(writer));
        co_await eventually([&] { return s.proxy.waiting(way) > 0; });
        held(reader) = guard();
        const auto next = s.write(me); // of a new hold
        s.proxy.release(way);
        co_await finished(end);
        CHECK_MESSAGE(!end->error, end->error.message());
        co_await granted(next);
        co_await s.until_queue(1);
        co_await unlocked(next);
        CHECK(s.queue().empty());
    }
}

CO_TEST("the guards of an owner cannot be downgraded or upgraded by hand") {
    recursive_shared_scene s(executor);
    const owner me;
    const auto writer = s.write(me);
    const auto reader = s.read(me);
    co_await granted(writer);
    co_await granted(reader);
    for (const auto& a : {writer, reader}) {
        const auto down = start([&](auto t) { held(a).downgrade(std::move(t)); });
        const auto up = start([&](auto t) { held(a).upgrade(std::move(t)); });
        co_await finished(down);
        co_await finished(up);
        CHECK(down->error == errc::bad_argument);
        CHECK(up->error == errc::would_deadlock);
    }
    CHECK(s.sent(opcode::multi) == 0);
}

CO_TEST("Curator's readers and writers are respected, and respect what this lock leaves") {
    recursive_shared_scene s(executor);
    shared_mutex plain(s.zk, s.path);
    const owner me;
    const auto theirs = queue_up(s.direct, s.path, "__READ__");
    const auto reader = s.read(me);
    co_await granted(reader);
    const auto busy = co_await plain.try_lock();
    CHECK_FALSE(busy);
    auto beside = co_await plain.try_lock_shared();
    CHECK(beside.valid());
    beside = guard();
    co_await unlocked(reader);
    const auto writer = s.write(me);
    co_await s.until_queue(2);
    CHECK_FALSE(writer->done());
    const auto all = co_await s.again.contenders();
    REQUIRE(all.size() == 2);
    CHECK((all[0].shared && all[0].holder));
    CHECK((!all[1].shared && !all[1].holder));
    s.direct.remove(theirs);
    co_await granted(writer);
    CHECK(held(writer).path().find("-__WRIT__") != std::string_view::npos);
}

CO_TEST("owners, copies and separate objects are told apart") {
    recursive_shared_scene s(executor);
    recursive_shared_mutex copy = s.again;
    recursive_shared_mutex other(s.zk, s.path);
    const owner me, neighbour;
    const auto writer = s.write(me);
    co_await granted(writer);
    auto by_copy = co_await copy.lock_shared(me);
    CHECK(by_copy.valid());
    auto by_other = co_await other.try_lock_shared(me);
    CHECK_FALSE(by_other);
    co_await empty_handed(s.read_now(neighbour));
    const auto until = std::chrono::steady_clock::now() + 30ms;
    by_other = co_await other.try_lock_shared_until(neighbour, until);
    CHECK_FALSE(by_other);
    by_other = co_await other.try_lock_until(neighbour, until);
    CHECK_FALSE(by_other);
}

CO_TEST("the last call of an owner that leaves gives up the owner's place, at any point") {
    recursive_shared_scene s(executor);
    co_await s.zk.connect();
    const owner me;
    for (const auto& round :
         test.each(std::array{direction::up, direction::down},
                   std::array{opcode::create2, opcode::children2}, std::array{0, 1, 2})) {
        const auto way = std::get<0>(round);
        const auto first = std::get<2>(round); // the call that leaves first
        s.proxy.hold_from(way, std::get<1>(round));
        const std::array all{s.write(me), s.read(me), s.write(me)};
        co_await eventually([&] { return s.proxy.waiting(way) > 0; });
        for (std::size_t n = 0; n < all.size(); ++n) {
            const auto& a = all[(n + static_cast<std::size_t>(first)) % all.size()];
            a->cancel();
            co_await finished(a);
            CHECK(a->error == asio::error::operation_aborted);
        }
        const auto next = s.read(me); // a place of its own
        s.proxy.release(way);
        co_await granted(next);
        co_await s.until_queue(1);
        co_await unlocked(next);
        CHECK(s.queue().empty());
    }
}

TEST_CASE("a recursive_shared_mutex refuses the arguments that a shared_mutex refuses") {
    asio::io_context io;
    const client zk(io.get_executor(), "localhost");
    for (const std::string path : {"", "x", "/", "/x/", "/zookeeper"})
        CHECK_THROWS_AS(recursive_shared_mutex(zk, path), system_error);
    shared_mutex_options terms;
    terms.label = std::string(100'000, 'x');
    CHECK_THROWS_AS(recursive_shared_mutex(zk, "/x", terms), system_error);
}
