// recursive_mutex: lost holds, lost connections, ended sessions and clients.

#include "support/cut_sweep.hpp"
#include "support/recursive_harness.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a try_lock and a lock of one owner both end with the client, whenever that is") {
    const std::size_t latest = test.full_or_brief(10'000, 80);
    for (std::size_t moment = 0; test.begin_round(moment, latest); moment += 20) {
        recursive_scene s(executor);
        co_await s.zk.connect();
        const owner me;
        const auto tried = s.ask_now(me);
        const auto waits = s.ask(me);
        for (std::size_t n = 0; n < moment; ++n)
            co_await asio::post(executor, asio::use_awaitable);
        const bool late = waits->done();
        co_await s.zk.close();
        co_await finished(tried);
        co_await finished(waits);
        CHECK((!waits->error || waits->error == errc::closed)); // it may be granted meanwhile
        if (late) break;
    }
}

CO_TEST("after a lost hold the old guards stay lost, and the owner queues again") {
    recursive_scene s(executor);
    const owner me;
    for (const bool by_expiry : {true, false}) {
        const auto a = s.ask(me);
        const auto b = s.ask(me);
        co_await granted(a);
        co_await granted(b);
        const auto end_a = end_of(held(a));
        const auto end_b = end_of(held(b));
        const auto other = queue_up(s.direct, s.path);
        if (by_expiry)
            s.expire();
        else
            s.direct.remove(std::string(held(a).path()));
        co_await finished(end_a);
        co_await finished(end_b);
        const auto reason = by_expiry ? errc::session_expired : errc::node_deleted;
        CHECK(end_a->error == reason);
        CHECK(end_b->error == reason);
        const auto c = s.ask(me); // while the old guards are still there
        co_await s.until_queue(2);
        CHECK_FALSE(c->done());
        s.direct.remove(other);
        co_await granted(c);
        CHECK(held(c).fencing_token() > held(a).fencing_token());
        CHECK_FALSE(held(a).valid());
        const auto end = give_back(held(a));
        co_await finished(end);
        CHECK(end->error == errc::lock_lost);
        held(b) = guard();
        co_await held(c).verify();
        const auto d = s.ask(me);
        co_await granted(d);
        co_await unlocked(c);
        co_await held(d).verify();
        co_await unlocked(d);
        CHECK(s.queue().empty());
    }
}

CO_TEST("a connection cut anywhere changes nothing for waiting and holding owners") {
    test.time_limit(90s);
    recursive_scene s(executor, short_session(4s));
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::each_way);
    while (sweep.next()) {
        INFO(sweep.where());
        const owner one, two;
        const auto a = s.ask(one);
        const auto b = s.ask(one);
        const auto c = s.ask(two);
        co_await granted(a);
        co_await granted(b);
        CHECK(held(a).path() == held(b).path());
        CHECK_FALSE(c->done());
        co_await unlocked(b);
        co_await unlocked(a);
        co_await granted(c);
        co_await unlocked(c);
        co_await s.until_queue(0);
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(18, 3));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("waiting owners queue again when the session expires, or fail by on_expiry::fail") {
    for (const auto choice : {on_expiry::requeue, on_expiry::fail}) {
        mutex_options terms;
        terms.on_expiry = choice;
        recursive_scene s(executor, {}, terms);
        const owner me;
        const auto other = queue_up(s.direct, s.path);
        const auto a = s.ask(me);
        const auto b = s.ask(me);
        co_await s.until_queue(2);
        s.expire();
        if (choice == on_expiry::fail) {
            co_await finished(a);
            co_await finished(b);
            CHECK(a->error == errc::session_expired);
            CHECK(b->error == errc::session_expired);
            continue;
        }
        co_await eventually([&] { return s.zk.epoch() >= 2 && s.queue().size() == 2; });
        s.direct.remove(other);
        co_await granted(a);
        co_await granted(b);
    }
}

CO_TEST("guards and waiters outlive the mutex, and end with the client") {
    scene s(executor);
    const owner one, two;
    lock_call a, b;
    under_way<> told;
    {
        client brief(executor, s.proxy.address());
        {
            recursive_mutex m(brief, s.path);
            a = start<guard>([&](auto token) { m.lock(one, std::move(token)); });
            co_await granted(a);
            b = start<guard>([&](auto token) { m.lock(two, std::move(token)); });
        }
        co_await s.until_queue(2);
        CHECK(held(a).valid());
        told = end_of(held(a));
    }
    co_await finished(b);
    co_await finished(told);
    CHECK(b->error == errc::closed);
    CHECK(told->error == errc::closed);
    co_await s.until_queue(0);
}

CO_TEST("try_lock without a connection fails at once, and so it does with a limit of nothing") {
    recursive_scene s(executor);
    s.proxy.refuse(true);
    const owner me;
    const auto tried = s.ask_now(me);
    const auto limited = s.ask_for(me, 0ns);
    const auto waits = s.ask(me);
    co_await finished(tried);
    co_await finished(limited);
    CHECK(tried->error == errc::not_connected);
    CHECK(limited->error == errc::not_connected);
    s.proxy.refuse(false);
    co_await granted(waits);
}

namespace {

/// The lease lapses while the session lives on, and so does the node: the server gets the client's
/// requests, but the client gets no answer.
asio::awaitable<void> let_lapse(recursive_scene& s, guard& g) {
    const auto end = end_of(g);
    s.proxy.hold(direction::down);
    co_await finished(end);
    CHECK(end->error == errc::lease_lapsed);
    s.proxy.release(direction::down);
    co_await s.until_connected();
}

/// A client revokes the lock, and its holder has opted in.
asio::awaitable<void> let_revoke(recursive_scene& s, guard& g) {
    const auto end = end_of(g);
    s.direct.set(std::string(g.path()), "__REVOKE__");
    co_await finished(end);
    CHECK(end->error == errc::revoked);
}

} // namespace

CO_TEST("an owner whose hold has ended while its node exists does not wait for itself") {
    mutex_options terms;
    terms.revocable = true;
    const std::array ways{&let_lapse, &let_revoke};
    for (std::size_t n = 0; test.begin_round(n, ways.size()); ++n) {
        const auto end_hold = ways[n];
        recursive_scene s(executor, short_session(test.full_or_brief(2s, 1s)), terms);
        const owner me, other;
        const auto a = s.ask(me);
        const auto b = s.ask(me);
        co_await granted(a);
        co_await granted(b);
        co_await end_hold(s, held(a));
        for (auto* const guards_left : {&held(a), &held(b)}) {
            const auto waits = s.ask(me);
            const auto limited = s.ask_for(me, 1h);
            const auto tried = s.ask_now(me);
            co_await finished(waits);
            co_await finished(limited);
            co_await finished(tried);
            CHECK(waits->error == errc::would_deadlock);
            CHECK(limited->error == errc::would_deadlock);
            CHECK_FALSE(tried->error); // it does not wait
            CHECK_FALSE(held(tried));
            CHECK(s.queue().size() == 1);
            *guards_left = guard();
        }
        const auto next = s.ask(other); // no owner is blocked
        co_await granted(next);
        co_await unlocked(next);
        const auto again = s.ask(me);
        co_await granted(again);
        co_await unlocked(again);
        CHECK(s.queue().empty());
    }
}

CO_TEST("an owner whose hold has lapsed queues again when its node has been deleted") {
    recursive_scene s(executor, short_session(test.full_or_brief(2s, 1s)));
    const owner me;
    const auto a = s.ask(me);
    co_await granted(a);
    co_await let_lapse(s, held(a));
    s.direct.remove(s.path + '/' + s.queue().at(0));
    lock_call next;
    co_await eventually([&]() -> asio::awaitable<bool> {
        next = s.ask(me);
        co_await finished(next);
        co_return next->error != errc::would_deadlock; // its client knows of the delete
    });
    CHECK(held(next).valid());
    CHECK_FALSE(held(a).valid());
    held(a) = guard();
    co_await held(next).verify();
}
