// A guard's promises: moving, unlocking, verifying, and writing under the lock.

#include "support/lock_harness.hpp"

#include <boost/asio/redirect_error.hpp>
#include <doctest/doctest.h>

#include <unistd.h>

using namespace paddock;
using namespace paddock::test;

namespace {

using results = std::vector<operation_result>;

under_way<results> transact(guard& g, std::vector<operation> steps) {
    return start<results>([&](auto token) { g.transaction(std::move(steps), std::move(token)); });
}

under_way<> verify(guard& g) {
    return start([&](auto token) { g.verify(std::move(token)); });
}

asio::awaitable<void> disconnect(scene& s) {
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::fin);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
}

} // namespace

CO_TEST("a guard can be moved, and only the last one releases the lock") {
    scene s(executor);
    guard a = co_await s.lock.lock();
    const auto token = a.fencing_token();
    const auto path = std::string(a.path());
    guard b(std::move(a));
    CHECK_FALSE(a);
    CHECK_FALSE(a.valid());
    CHECK(a.path().empty());
    CHECK(a.fencing_token() == fencing_token{});
    CHECK(b.valid());
    CHECK(b.path() == path);
    CHECK(b.fencing_token() == token);
    guard& same = b;
    b = std::move(same);
    CHECK(b.valid());
    a = std::move(b);
    CHECK(a.valid());
    co_await s.zk.exists("/");
    CHECK(s.queue().size() == 1);

    mutex other(s.zk, s.path, {.name = "other"});
    a = co_await other.lock(); // releases its old hold
    CHECK(a.valid());
    CHECK(a.path() != path);
    co_await s.until_queue(1);
    CHECK(s.path + '/' + s.queue()[0] == a.path());
    a = guard();
    co_await s.until_queue(0);
}

CO_TEST("after a guard's end the lock is free at once, before the delete is answered") {
    scene s(executor);
    for (int i = 0; i < 20; ++i) {
        {
            const guard first = co_await s.lock.lock();
            CHECK(first.valid());
        }
        const guard second = co_await s.lock.try_lock();
        CHECK(second.valid());
    }
}

CO_TEST("lost() completes with released when the guard releases the lock") {
    scene s(executor);
    for (const bool by_unlock : {true, false}) {
        const auto a = ask(s.lock);
        co_await granted(a);
        const auto one = end_of(held(a));
        const auto another = end_of(held(a));
        const auto cancelled = end_of(held(a));
        cancelled->cancel();
        co_await finished(cancelled);
        CHECK(cancelled->error == asio::error::operation_aborted);
        CHECK_FALSE(one->done());
        if (by_unlock)
            co_await held(a).unlock();
        else
            held(a) = guard();
        co_await finished(one);
        co_await finished(another);
        CHECK(one->error == errc::released);
        CHECK(another->error == errc::released);
    }
}

CO_TEST("cancelling an unlock ends the waiting, not the delete") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.hold(direction::up);
    const auto end = give_back(held(a));
    CHECK_FALSE(held(a));
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    end->cancel();
    co_await finished(end);
    CHECK(end->error == asio::error::operation_aborted);
    CHECK(s.queue().size() == 1);
    s.proxy.release(direction::up);
    co_await s.until_queue(0);
}

CO_TEST("an unlock without a connection completes when the connection is back") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await disconnect(s);
    const auto end = give_back(held(a));
    s.proxy.refuse(false);
    co_await finished(end);
    CHECK_MESSAGE(!end->error, end->error.message());
    CHECK(s.queue().empty());
}

CO_TEST("an unlock without a connection has an unknown outcome after two session timeouts") {
    const auto T = test.full_or_brief(1000ms, 600ms);
    scene s(executor, short_session(T));
    const auto begin = std::chrono::steady_clock::now(); // and there is contact after it
    const auto a = ask(s.lock);
    mutex other(s.zk, s.path, {.name = "other"});
    const auto b = ask(other);
    co_await finished(a);
    co_await finished(b);
    s.proxy.black_hole(true);
    s.proxy.cut_all(cut::rst);
    const auto end = give_back(held(a)); // while its lease certainly lasts
    co_await finished(end);
    CHECK(end->error == errc::outcome_unknown);
    CHECK(std::chrono::steady_clock::now() - begin >= 2 * T);
    const auto late = give_back(held(b)); // its lease ended long ago
    co_await finished(late);
    CHECK(late->error == errc::lock_lost);
    s.proxy.black_hole(false);
    co_await s.until_queue(0);
}

CO_TEST("unlock() tells that another client has deleted the node before") {
    scene s(executor);
    const recursive_mutex again(s.zk, s.path + "-again");
    const simple_mutex simple(s.zk, s.path + "-simple");
    const semaphore permits(s.zk, s.path + "-permits", 2);
    const owner by;
    std::vector<guard> all;
    all.push_back(co_await s.lock.lock());
    all.push_back(co_await again.lock(by));
    all.push_back(co_await simple.lock());
    all.push_back(co_await permits.acquire(2));
    for (auto& one : all) {
        s.direct.remove(std::string(one.path()));
        error_code why;
        co_await one.unlock(asio::redirect_error(asio::use_awaitable, why));
        CHECK(why == errc::lock_lost);
    }
}

CO_TEST("an unlock that the ensemble has not confirmed is closed with the client") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.hold(direction::up);
    const auto unlock = start<>([&](auto token) { held(a).unlock(std::move(token)); });
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    s.zk.close([](error_code) {});
    co_await finished(unlock);
    CHECK(unlock->error == errc::closed);
    s.proxy.release(direction::up);
}

CO_TEST("verify() checks with the ensemble, and ends a hold whose node is gone") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    auto checked = verify(held(a));
    co_await finished(checked);
    CHECK_MESSAGE(!checked->error, checked->error.message());
    CHECK(s.sent(opcode::multi) == 1);

    co_await disconnect(s);
    checked = verify(held(a));
    s.proxy.refuse(false);
    co_await finished(checked);
    CHECK_MESSAGE(!checked->error, checked->error.message());

    s.direct.remove(std::string(held(a).path()));
    checked = verify(held(a));
    co_await finished(checked);
    CHECK(checked->error == errc::lock_lost);
    CHECK_FALSE(held(a).valid());
}

CO_TEST("a transaction is executed as a whole, under the lock") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.direct.set(std::string(held(a).path()), "__REVOKE__"); // changes its version
    const auto base = s.path + "-data";
    auto t = transact(held(a), {op::create{.path = base, .data = "one"},
                                op::create{.path = base + "/x"}, op::set{base, "two"}});
    co_await finished(t);
    REQUIRE_MESSAGE(!t->error, t->error.message());
    const auto& done = std::get<0>(t->result);
    REQUIRE(done.size() == 3);
    CHECK(done[0].path == base);
    CHECK(done[1].path == base + "/x");
    CHECK(done[2].stat.version == 1);
    CHECK(s.direct.get(base).data == "two");

    t = transact(held(a), {op::set{base, "three"}, op::create{.path = base + "/x"}});
    co_await finished(t);
    CHECK(t->error == zk_errc::node_exists);
    CHECK(std::get<0>(t->result).empty());
    CHECK(s.direct.get(base).data == "two");
    t = transact(held(a), {op::set{base + "/missing", "three"}});
    co_await finished(t);
    CHECK(t->error == zk_errc::no_node); // and not lock_lost
    CHECK(held(a).valid());
    t = transact(held(a), {op::set{"no path", ""}});
    co_await finished(t);
    CHECK(t->error == errc::bad_argument);
    s.direct.remove_all(base);
}

CO_TEST("a transaction of a hold that has ended does nothing") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto base = s.path + "-data";
    s.proxy.hold(direction::down); // so only the ensemble knows of the loss
    s.direct.remove(std::string(held(a).path()));
    CHECK(held(a).valid());
    auto t = transact(held(a), {op::create{.path = base}});
    co_await eventually([&] { return s.sent(opcode::multi) == 1; });
    s.proxy.release(direction::down);
    co_await finished(t);
    CHECK(t->error == errc::lock_lost);
    CHECK_FALSE(held(a).valid());
    t = transact(held(a), {op::create{.path = base}});
    co_await finished(t);
    CHECK(t->error == errc::lock_lost);
    CHECK(s.sent(opcode::multi) == 1);
    CHECK_FALSE(s.direct.exists(base));
}

CO_TEST("a transaction whose answer is lost says so; one of a lost hold is not sent later") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto base = s.path + "-data";
    s.proxy.hold_from(direction::down, opcode::multi);
    auto t = transact(held(a), {op::create{.path = base}});
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await finished(t);
    CHECK(t->error == errc::outcome_unknown);
    CHECK(s.direct.exists(base));
    s.direct.remove(base);
    co_await s.until_connected();

    co_await disconnect(s);
    t = transact(held(a), {op::create{.path = base}});
    s.direct.remove(std::string(held(a).path()));
    s.proxy.refuse(false);
    co_await finished(t);
    CHECK(t->error == errc::lock_lost);
    CHECK_FALSE(s.direct.exists(base));
}

CO_TEST("contenders() lists the holder and the waiters in order") {
    scene s(executor, {}, {.label = "näher \"dran\""});
    mutex nowhere(s.zk, s.path + "/missing");
    CHECK((co_await nowhere.contenders()).empty());
    const auto begin = std::chrono::system_clock::now() - 1ms;
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto other = queue_up(s.direct, s.path);
    s.direct.set(other, "not JSON");
    const auto b = ask(s.lock);
    co_await s.until_queue(3);
    const auto queue = co_await s.lock.contenders();
    REQUIRE(queue.size() == 3);
    CHECK(queue[0].holder);
    CHECK_FALSE(queue[1].holder);
    CHECK_FALSE(queue[2].holder);
    CHECK(queue[0].path == held(a).path());
    CHECK(queue[0].token == held(a).fencing_token());
    CHECK(queue[0].session == s.zk.session_id());
    CHECK(queue[0].label == "näher \"dran\"");
    CHECK(queue[0].pid == ::getpid());
    CHECK_FALSE(queue[0].host.empty());
    CHECK(queue[0].since >= begin);
    CHECK(queue[0].since <= std::chrono::system_clock::now());
    CHECK(queue[0].sequence < queue[1].sequence);
    CHECK(queue[1].sequence < queue[2].sequence);
    CHECK(queue[1].path == other);
    CHECK(queue[1].data == "not JSON");
    CHECK(queue[1].session == s.direct.session_id());
    CHECK(queue[1].label.empty());
    CHECK(queue[2].token > queue[0].token);
}
