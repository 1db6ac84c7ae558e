// The end of a service: no more grants, the holders finish, the client closes.

#include "support/lock_harness.hpp"
#include "support/semaphore_harness.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace paddock;
using namespace paddock::test;

namespace {

under_way<> drain(client& zk, std::chrono::nanoseconds limit) {
    return start<>([&](auto token) { zk.drain(limit, std::move(token)); });
}

asio::awaitable<void> turned_away(lock_call call) {
    co_await finished(call);
    CHECK_MESSAGE(call->error == errc::draining, call->error.message());
    CHECK(call->error == condition::closed);
}

const owner& anyone() {
    static const owner one;
    return one;
}

/// One call of each kind of lock, at a path below this one.
std::vector<lock_call> one_of_each(client& zk, const std::string& path) {
    const shared_mutex shared(zk, path + "/shared");
    const election votes(zk, path + "/election");
    const semaphore pool(zk, path + "/pool", 1);
    const recursive_mutex recursive(zk, path + "/recursive");
    const simple_mutex simple(zk, path + "/simple");
    const lock_family family(zk, path + "/family");
    const mutex sticky(zk, path + "/sticky", {.max_local_handoffs = 4});
    return {
        start<guard>([&](auto token) { shared.lock(std::move(token)); }),
        start<guard>([&](auto token) { votes.campaign(std::move(token)); }),
        start<guard>([&](auto token) { pool.acquire(std::move(token)); }),
        start<guard>([&](auto token) { recursive.lock(anyone(), std::move(token)); }),
        start<guard>([&](auto token) { simple.lock(std::move(token)); }),
        start<guard>([&](auto token) { family.lock("key", std::move(token)); }),
        start<guard>([&](auto token) { sticky.lock(std::move(token)); }),
    };
}

} // namespace

CO_TEST("drain() turns away who waits, lets the holder finish, and closes") {
    scene s(executor);
    const auto holds = ask(s.lock);
    co_await granted(holds);
    const auto waits = ask(s.lock);
    co_await s.until_queue(2);
    const auto ends = drain(s.zk, 1h);
    co_await turned_away(waits);
    co_await turned_away(ask(s.lock));
    co_await turned_away(ask_now(s.lock));
    co_await turned_away(ask_for(s.lock, 1s));
    co_await s.until_queue(1);
    CHECK(held(holds).valid());
    co_await held(holds).verify();
    co_await s.zk.exists("/");
    CHECK_FALSE(ends->done());
    CHECK(s.zk.state() == client_state::connected);
    // The unlock is confirmed before the client closes.
    s.proxy.hold_from(direction::down, opcode::remove, "");
    const auto unlocks = give_back(held(holds));
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    CHECK_FALSE(ends->done());
    CHECK_FALSE(unlocks->done());
    s.proxy.release(direction::down);
    co_await finished(unlocks);
    CHECK_FALSE(unlocks->error);
    co_await finished(ends);
    CHECK_FALSE(ends->error);
    CHECK(s.zk.state() == client_state::closed);
    const auto late = ask(s.lock);
    co_await finished(late);
    CHECK(late->error == errc::closed);
}

CO_TEST("drain() closes at once when nobody holds a lock, and closes once") {
    scene s(executor);
    const auto first = drain(s.zk, 1h);
    co_await finished(first);
    CHECK_FALSE(first->error);
    CHECK(s.zk.state() == client_state::closed);
    const auto again = drain(s.zk, 1h);
    co_await finished(again);
    CHECK_FALSE(again->error);
}

CO_TEST("drain() does not wait for holders beyond its limit") {
    scene s(executor);
    const auto holds = ask(s.lock);
    co_await granted(holds);
    const auto patient = drain(s.zk, 1h);
    const auto brief = drain(s.zk, 100ms);
    co_await finished(brief);
    co_await finished(patient);
    for (const auto& one : {brief, patient})
        CHECK(one->error == errc::lock_lost);
    CHECK_FALSE(held(holds).valid());
    const auto reason = co_await held(holds).lost();
    CHECK(reason == errc::closed);
    co_await eventually([&] { return s.queue().empty(); });
}

CO_TEST("drain() with a limit of zero turns away and closes at once") {
    scene s(executor);
    const auto holds = ask(s.lock);
    co_await granted(holds);
    const auto waits = ask(s.lock);
    const auto ends = drain(s.zk, 0s);
    co_await turned_away(waits);
    co_await finished(ends);
    CHECK(ends->error == errc::lock_lost);
}

CO_TEST("a guard that is destroyed ends the wait of drain()") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto ends = drain(s.zk, 1h);
    held(a) = guard();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
    co_await eventually([&] { return s.queue().empty(); });
}

CO_TEST("drain() waits for the guard of a lost hold, because its work may go on") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto ends = drain(s.zk, 1h);
    expire(s);
    co_await eventually([&] { return !held(a).valid(); });
    CHECK_FALSE(ends->done());
    held(a) = guard();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}

CO_TEST("drain() turns away the callers of every kind of lock, and refuses new ones") {
    scene s(executor);
    client other(executor, s.proxy.address());
    const auto holders = one_of_each(other, s.path);
    for (const auto& one : holders)
        co_await granted(one);
    const auto waiting = one_of_each(s.zk, s.path);
    const std::vector<mutex> both{mutex(s.zk, s.path + "/sticky"), mutex(s.zk, s.path + "/free")};
    const auto set = start<guard_set>([&](auto token) { lock_all(both, std::move(token)); });
    const auto in_line = start<ticket>([&](auto token) { both[0].enqueue(std::move(token)); });
    co_await finished(in_line);
    const auto stays = ask(s.lock); // so that the client stays open
    co_await granted(stays);
    const auto ends = drain(s.zk, 1h);
    for (const auto& one : waiting)
        co_await turned_away(one);
    co_await finished(set);
    CHECK(set->error == errc::draining);
    const auto place = start<guard>(
        [&](auto token) { std::get<ticket>(in_line->result).acquired(std::move(token)); });
    co_await turned_away(place);
    for (const auto& one : one_of_each(s.zk, s.path))
        co_await turned_away(one);
    co_await held(stays).unlock();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
    for (const auto& one : holders)
        CHECK(held(one).valid());
}

CO_TEST("the owner of a recursive lock takes it again while its client is drained") {
    scene s(executor);
    const recursive_mutex m(s.zk, s.path + "/r");
    const owner holder, stranger;
    guard first = co_await m.lock(holder);
    const auto ends = drain(s.zk, 1h);
    co_await s.zk.exists("/");
    guard again = co_await m.lock(holder);
    CHECK(again.valid());
    co_await turned_away(start<guard>([&](auto token) { m.lock(stranger, std::move(token)); }));
    co_await again.unlock();
    CHECK_FALSE(ends->done());
    co_await first.unlock();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}

CO_TEST("drain() that is cancelled goes on") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto ends = drain(s.zk, 1h);
    co_await turned_away(ask(s.lock));
    ends->cancel();
    co_await finished(ends);
    CHECK(ends->error == asio::error::operation_aborted);
    co_await turned_away(ask(s.lock));
    co_await held(a).unlock();
    co_await eventually([&] { return s.zk.state() == client_state::closed; });
}

CO_TEST("drain() ends by its limit while the ensemble is away, and when the client is closed") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    const auto brief = drain(s.zk, 50ms);
    const auto unlocks = give_back(held(a));
    co_await finished(brief);
    co_await finished(unlocks);
    CHECK(brief->error == errc::lock_lost);
    CHECK(unlocks->error == errc::closed);

    s.proxy.refuse(false);
    client other(executor, s.proxy.address());
    mutex m(other, s.path + "2");
    const auto b = ask(m);
    co_await granted(b);
    const auto ends = drain(other, 1h);
    co_await other.close();
    co_await finished(ends);
    CHECK(ends->error == errc::lock_lost);
}

CO_TEST("lead() ends when its client is drained, and its work is over") {
    scene s(executor);
    election votes(s.zk, s.path + "/leader");
    asio::steady_timer term(executor, 1h);
    bool leads = false;
    const auto work = [&]() -> asio::awaitable<void> {
        leads = true;
        error_code ended;
        co_await term.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    };
    const auto led = std::make_shared<std::optional<error_code>>();
    asio::co_spawn(executor, votes.lead(work), [led](std::exception_ptr failure) {
        try {
            if (failure) std::rethrow_exception(failure);
            *led = error_code();
        } catch (const system_error& e) {
            *led = e.code();
        }
    });
    co_await eventually([&] { return leads; });
    const auto ends = drain(s.zk, 1h);
    co_await s.zk.exists("/");
    CHECK_FALSE(ends->done());
    term.cancel();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
    co_await eventually([&] { return led->has_value(); });
    CHECK(**led == condition::closed);
}

CO_TEST("a ticket that is asked for while its client is drained is refused") {
    scene s(executor);
    const semaphore pool(s.zk, s.path + "/pool", 1);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto ends = drain(s.zk, 1h);
    co_await turned_away(ask(s.lock));
    const auto late = start<ticket>([&](auto token) { s.lock.enqueue(std::move(token)); });
    const auto later = start<ticket>([&](auto token) { pool.enqueue(std::move(token)); });
    for (const auto& one : {late, later}) {
        co_await finished(one);
        CHECK(one->error == errc::draining);
    }
    co_await held(a).unlock();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}

CO_TEST("a guard counts until it is destroyed, also after the grace of its hold") {
    scene s(executor, {}, {.hold_limit = {50ms, 50ms}});
    const auto a = ask(s.lock);
    co_await finished(a); // not granted(): on a slow machine the hold has ended by then
    CHECK_FALSE(a->error);
    const auto ends = drain(s.zk, 1h);
    co_await s.until_queue(0); // released after the grace
    co_await s.zk.exists("/");
    CHECK_FALSE(ends->done());
    held(a) = guard();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}

CO_TEST("a guard that was destroyed before the close was held by nobody then") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto ends = drain(s.zk, 1h);
    co_await turned_away(ask(s.lock));
    held(a) = guard();
    co_await s.zk.close();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}

CO_TEST("drain() of a client that is closed says whether somebody had a guard then") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await s.zk.close();
    for (int n = 0; n < 2; ++n) {
        const auto ends = drain(s.zk, 1h);
        co_await finished(ends);
        CHECK(ends->error == errc::lock_lost);
    }
}

CO_TEST("lock_all() over two clients grants nothing once one of them is drained") {
    scene s(executor);
    client other(executor, s.proxy.address());
    const std::vector<mutex> all{mutex(s.zk, s.path + "/a"), mutex(other, s.path + "/b"),
                                 mutex(s.zk, s.path + "/c")};
    s.direct.make_path(s.path + "/c");
    const auto first = queue_up(s.direct, s.path + "/c");
    const auto set = start<guard_set>([&](auto token) { lock_all(all, std::move(token)); });
    co_await eventually([&] { return queue_at(s.direct, s.path + "/c").size() == 2; });
    const auto ends = drain(other, 1h);
    co_await other.exists("/");
    CHECK_FALSE(ends->done());
    s.direct.remove(first);
    co_await finished(set);
    CHECK(set->error == errc::draining);
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}
