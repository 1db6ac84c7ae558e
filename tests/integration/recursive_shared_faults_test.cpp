// recursive_shared_mutex: lost holds, lost connections, refused downgrades, ended clients.

#include "support/cut_sweep.hpp"
#include "support/recursive_shared_harness.hpp"

#include <boost/asio/redirect_error.hpp>
#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;

namespace {

/// What has become of the owner's hold when the fault happens.
enum class phase { exclusive, downgrading, shared };

/// Takes an exclusive and a shared guard, and brings the hold into this phase.
asio::awaitable<std::array<lock_call, 2>> hold_both(recursive_shared_scene& s, owner by, phase at) {
    std::array both{s.write(by), s.read(by)};
    co_await granted(both[0]);
    co_await granted(both[1]);
    if (at == phase::shared) co_await unlocked(both[0]);
    if (at == phase::downgrading) {
        s.proxy.hold_from(direction::up, opcode::multi);
        held(both[0]) = guard();
        co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    }
    co_return both;
}

} // namespace

CO_TEST("a connection cut anywhere changes nothing for writers, readers and downgrades") {
    test.time_limit(120s);
    recursive_shared_scene s(executor, short_session(4s));
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::each_way);
    while (sweep.next()) {
        INFO(sweep.where());
        const owner one, two;
        const auto writer = s.write(one);
        const auto mine = s.read(one);
        const auto other = s.read(two);
        co_await granted(writer);
        co_await granted(mine);
        CHECK_FALSE(other->done());
        co_await unlocked(writer);
        co_await granted(other);
        CHECK(held(mine).valid());
        CHECK(is_reader(held(mine).path()));
        co_await unlocked(mine);
        co_await unlocked(other);
        co_await s.until_queue(0);
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(18, 3));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("after a lost hold the old guards stay lost, and the owner queues again in any way") {
    for (const auto& round :
         test.each(std::array{phase::exclusive, phase::downgrading, phase::shared},
                   std::array{true, false}, std::array{true, false})) {
        recursive_shared_scene s(executor);
        const auto at = std::get<0>(round);
        const bool by_expiry = std::get<1>(round), writes = std::get<2>(round);
        const owner me;
        const auto both = co_await hold_both(s, me, at);
        const auto end = end_of(held(both[1]));
        const auto other = queue_up(s.direct, s.path, "__WRIT__");
        if (by_expiry)
            expire(s);
        else
            s.direct.remove(s.path + '/' + s.first_name());
        s.proxy.release(direction::up);
        co_await finished(end);
        CHECK(end->error == (by_expiry ? errc::session_expired : errc::node_deleted));
        const auto next = writes ? s.write(me) : s.read(me); // while the old guards are there
        co_await s.until_queue(2);
        CHECK_FALSE(next->done());
        s.direct.remove(other);
        co_await granted(next);
        CHECK_FALSE(held(both[0]).valid());
        CHECK_FALSE(held(both[1]).valid());
        held(both[0]) = guard();
        held(both[1]) = guard();
        co_await held(next).verify();
        co_await unlocked(next);
        CHECK(s.queue().empty());
    }
}

CO_TEST("calls that wait queue again when the session expires, or fail by on_expiry::fail") {
    for (const auto choice : {on_expiry::requeue, on_expiry::fail}) {
        shared_mutex_options terms;
        terms.on_expiry = choice;
        recursive_shared_scene s(executor, {}, terms);
        const owner me;
        const auto other = queue_up(s.direct, s.path, "__WRIT__");
        const auto writer = s.write(me);
        const auto reader = s.read(me);
        co_await s.until_queue(2);
        expire(s);
        if (choice == on_expiry::fail) {
            co_await refused(writer, errc::session_expired);
            co_await refused(reader, errc::session_expired);
            continue;
        }
        co_await eventually([&] { return s.zk.epoch() >= 2 && s.queue().size() == 2; });
        s.direct.remove(other);
        co_await granted(writer);
        co_await granted(reader);
    }
}

CO_TEST("a refused downgrade is reported, and readers wait for the owner's last guard") {
    recursive_shared_scene s(executor);
    const owner me, other;
    const auto both = co_await hold_both(s, me, phase::exclusive);
    const auto reader = s.read(other);
    co_await s.until_queue(2);
    s.direct.set_acl(s.path, {{31 - 4, "world", "anyone"}}); // no right to create
    const auto end = give_back(held(both[0]));
    co_await finished(end);
    CHECK(end->error == zk_errc::no_auth);
    CHECK(held(both[1]).valid());
    co_await held(both[1]).verify();
    CHECK_FALSE(reader->done());
    s.direct.set_acl(s.path, {test::acl_entry()});
    co_await refused(s.write(me), errc::would_deadlock);
    const auto again = s.read(me);
    co_await granted(again);
    co_await unlocked(both[1]);
    CHECK_FALSE(reader->done());
    co_await unlocked(again);
    co_await granted(reader);
}

CO_TEST("an unlock that waits for the downgrade ends with the lease, and with the client") {
    for (const bool closes : {true, false}) {
        recursive_shared_scene s(executor, short_session(2s));
        const owner me;
        const auto both = co_await hold_both(s, me, phase::exclusive);
        const auto end = end_of(held(both[1]));
        s.proxy.hold(direction::down);
        const auto unlocks = give_back(held(both[0]));
        co_await eventually([&] { return s.sent(opcode::multi) > 0; });
        if (closes) {
            co_await s.zk.close();
            co_await finished(unlocks);
            CHECK(unlocks->error == errc::closed);
            co_await finished(end);
            CHECK(end->error == errc::closed);
            continue;
        }
        co_await finished(end);
        CHECK(end->error == errc::lease_lapsed);
        co_await finished(unlocks);
        CHECK(unlocks->error == errc::outcome_unknown);
        s.proxy.release(direction::down);
        co_await s.until_connected();
        co_await eventually([&] { return is_reader(s.first_name()); });
        held(both[1]) = guard();
        co_await s.until_queue(0);
    }
}

CO_TEST("an owner whose hold has ended while its node exists does not wait for itself") {
    shared_mutex_options terms;
    terms.revocable = true;
    for (const auto& round :
         test.each(std::array{phase::exclusive, phase::shared}, std::array{true, false})) {
        const auto at = std::get<0>(round);
        const bool lapses = std::get<1>(round);
        recursive_shared_scene s(executor, short_session(test.full_or_brief(2s, 1s)), terms);
        const owner me, other;
        const auto both = co_await hold_both(s, me, at);
        const auto end = end_of(held(both[1]));
        if (lapses)
            s.proxy.hold(direction::down);
        else
            s.direct.set(std::string(held(both[1]).path()), "__REVOKE__");
        co_await finished(end);
        CHECK(end->error == (lapses ? errc::lease_lapsed : errc::revoked));
        s.proxy.release(direction::down);
        co_await s.until_connected();
        co_await refused(s.write(me), errc::would_deadlock);
        co_await refused(s.read(me), errc::would_deadlock);
        co_await refused(s.read_for(me, 1h), errc::would_deadlock);
        co_await empty_handed(s.write_now(me));
        co_await empty_handed(s.read_now(me));
        const auto next = s.write(other);
        co_await s.until_queue(2);
        held(both[0]) = guard();
        CHECK_FALSE(next->done());
        held(both[1]) = guard();
        co_await granted(next);
        co_await unlocked(next);
        CHECK(s.queue().empty());
    }
}

CO_TEST("the exclusive guards of a hold that has lapsed are released as those of a valid one") {
    recursive_shared_scene s(executor, short_session(test.full_or_brief(2s, 1s)));
    const owner me, other;
    const auto both = co_await hold_both(s, me, phase::exclusive);
    const auto end = end_of(held(both[1]));
    s.proxy.hold(direction::down);
    co_await finished(end);
    CHECK(end->error == errc::lease_lapsed);
    s.proxy.release(direction::down);
    co_await s.until_connected();
    const auto reader = s.read(other);
    co_await s.until_queue(2);
    held(both[0]) = guard();
    co_await granted(reader); // the owner's code may still read, but not write
    CHECK_FALSE(held(both[1]).valid());
    held(both[1]) = guard();
    co_await s.until_queue(1);
}

CO_TEST("an administrator's delete of the shared node that is left ends the shared guards") {
    recursive_shared_scene s(executor);
    const owner me;
    const auto both = co_await hold_both(s, me, phase::shared);
    const auto again = s.read(me);
    co_await granted(again);
    const auto one = end_of(held(both[1])), two = end_of(held(again));
    s.direct.remove(std::string(held(both[1]).path()));
    co_await finished(one);
    co_await finished(two);
    CHECK(one->error == errc::node_deleted);
    CHECK(two->error == errc::node_deleted);
}

CO_TEST("a revoke request reaches all guards of the owner, shared ones too") {
    recursive_shared_scene s(executor);
    const owner me;
    const auto both = co_await hold_both(s, me, phase::exclusive);
    const auto request_to = [](guard& g) {
        return start([&](auto t) { g.revoke_requested(std::move(t)); });
    };
    const auto to_writer = request_to(held(both[0])), to_reader = request_to(held(both[1]));
    s.direct.set(std::string(held(both[0]).path()), "__REVOKE__");
    co_await finished(to_writer);
    co_await finished(to_reader);
    CHECK_FALSE(to_writer->error);
    CHECK_FALSE(to_reader->error);
    co_await unlocked(both[0]);
    const auto late = s.read(me);
    co_await granted(late);
    const auto to_late = request_to(held(late));
    co_await finished(to_late);
    CHECK_FALSE(to_late->error);
}

CO_TEST("guards and waiters outlive the mutex, and end with the client") {
    scene s(executor);
    const owner one, two;
    lock_call writer, mine, other;
    under_way<> told;
    {
        client brief(executor, s.proxy.address());
        {
            recursive_shared_mutex m(brief, s.path);
            writer = start<guard>([&](auto token) { m.lock(one, std::move(token)); });
            mine = start<guard>([&](auto token) { m.lock_shared(one, std::move(token)); });
            co_await granted(mine);
            other = start<guard>([&](auto token) { m.lock(two, std::move(token)); });
        }
        co_await s.until_queue(2);
        co_await unlocked(writer);
        CHECK(held(mine).valid());
        told = end_of(held(mine));
    }
    co_await finished(other);
    co_await finished(told);
    CHECK(other->error == errc::closed);
    CHECK(told->error == errc::closed);
    co_await s.until_queue(0);
}

CO_TEST("without a connection the tries fail at once, and what waits is granted later") {
    recursive_shared_scene s(executor);
    s.proxy.refuse(true);
    const owner me;
    const auto writes = s.write_now(me);
    const auto reads = s.read_now(me);
    const auto limited = s.read_for(me, 0ns);
    const auto waits = s.write(me);
    co_await refused(writes, errc::not_connected);
    co_await refused(reads, errc::not_connected);
    co_await refused(limited, errc::not_connected);
    s.proxy.refuse(false);
    co_await granted(waits);
}

CO_TEST("an unlock that would downgrade tells that another client has deleted the node before") {
    recursive_shared_scene s(executor);
    const owner me;
    guard writes = co_await s.again.lock(me);
    const guard reads = co_await s.again.lock_shared(me);
    s.direct.remove(std::string(writes.path()));
    error_code why;
    co_await writes.unlock(asio::redirect_error(asio::use_awaitable, why));
    CHECK(why == errc::lock_lost);
}
