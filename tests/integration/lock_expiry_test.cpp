// The session expires: no hold crosses epochs, and waiters queue again.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

asio::awaitable<void> until_epoch(scene& s, std::uint64_t which) {
    co_await eventually(
        [&] { return s.zk.epoch() >= which && s.zk.state() == client_state::connected; });
}

} // namespace

CO_TEST("waiters of an expired session queue again in the next one, in their order") {
    scene s(executor);
    const auto other = queue_up(s.direct, s.path);
    std::vector<lock_call> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(ask(s.lock));
    co_await s.until_queue(6);
    expire(s);
    co_await until_epoch(s, 2);
    co_await s.until_queue(6);
    for (const auto& a : all)
        CHECK_FALSE(a->done());
    s.direct.remove(other);
    int before = -1;
    for (const auto& a : all) {
        co_await granted(a);
        CHECK(sequence_of(held(a).path()) > before);
        before = sequence_of(held(a).path());
        co_await held(a).unlock();
    }
    co_await s.until_queue(0);
}

CO_TEST("a guard of an expired session is lost, stays lost, and does no harm to the next") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto told = end_of(held(a));
    const auto b = ask(s.lock);
    co_await s.until_queue(2);
    CHECK_FALSE(told->done());
    expire(s);
    co_await finished(told);
    CHECK(told->error == errc::session_expired);
    CHECK_FALSE(held(a).valid());
    co_await granted(b);
    CHECK(s.zk.epoch() == 2);
    CHECK_FALSE(held(a).valid());
    CHECK(static_cast<bool>(held(a)));
    CHECK(held(b).fencing_token() > held(a).fencing_token());

    const auto late = end_of(held(a));
    co_await finished(late);
    CHECK(late->error == errc::session_expired);
    const auto checked = start([&](auto token) { held(a).verify(std::move(token)); });
    co_await finished(checked);
    CHECK(checked->error == errc::lock_lost);
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    co_await s.zk.exists("/");
    CHECK(s.queue().size() == 1);
    CHECK(held(b).valid());
    co_await held(b).unlock();
}

CO_TEST("a session that expires during a create makes lock() start again") {
    scene s(executor);
    co_await s.zk.connect();
    std::uint64_t epoch = 1;
    struct {
        direction way;
        std::int32_t opcode;
    } const points[] = {{direction::up, opcode::create2}, // the session does not know the directory
                        {direction::up, opcode::multi},
                        {direction::down, opcode::multi},
                        {direction::down, opcode::children2}};
    for (const auto& at : points) {
        co_await until_epoch(s, epoch++);
        s.proxy.hold_from(at.way, at.opcode);
        const auto a = ask(s.lock);
        const auto b = ask(s.lock);
        co_await eventually([&] { return s.proxy.waiting(at.way) > 0; });
        expire(s);
        s.proxy.cut_all(cut::rst);
        s.proxy.release(at.way);
        co_await granted(a);
        CHECK(s.zk.epoch() == epoch);
        co_await held(a).unlock();
        co_await granted(b);
        co_await held(b).unlock();
        co_await s.until_queue(0);
    }
}

CO_TEST("waiters with on_expiry::fail fail when the session expires") {
    scene s(executor, {}, {.on_expiry = on_expiry::fail});
    const auto other = queue_up(s.direct, s.path);
    const auto waiting = ask(s.lock);
    const auto behind = ask(s.lock);
    mutex patient(s.zk, s.path);
    const auto third = ask(patient);
    co_await s.until_queue(4);
    expire(s);
    co_await finished(waiting);
    co_await finished(behind);
    CHECK(waiting->error == errc::session_expired);
    CHECK(behind->error == errc::session_expired);
    s.direct.remove(other);
    co_await granted(third);
    co_await held(third).unlock();

    s.proxy.hold_from(direction::down, opcode::create2);
    const auto creating = ask(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    expire(s);
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await finished(creating);
    CHECK(creating->error == errc::session_expired);
    co_await s.until_queue(0);
}

CO_TEST("an unlock is done when its session ends") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.hold(direction::up);
    const auto end = give_back(held(a));
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    CHECK_FALSE(end->done());
    expire(s);
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::up);
    co_await finished(end);
    CHECK_MESSAGE(!end->error, end->error.message());
    CHECK(s.queue().empty());
}

CO_TEST("a session without a connection expires, and its waiters queue again") {
    scene s(executor, short_session(test.full_or_brief(1000ms, 400ms)));
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await finished(a);
    co_await s.until_queue(2);
    s.proxy.black_hole(true);
    co_await s.until_queue(0);
    const auto other = queue_up(s.direct, s.path);
    s.proxy.black_hole(false);
    co_await until_epoch(s, 2);
    CHECK_FALSE(held(a).valid());
    co_await s.until_queue(2);
    CHECK_FALSE(b->done());
    s.direct.remove(other);
    co_await finished(b);
    CHECK_MESSAGE(!b->error, b->error.message());
}

CO_TEST("one session after the other expires, and every waiter is served at last") {
    scene s(executor);
    std::vector<lock_call> all;
    for (int i = 0; i < 10; ++i)
        all.push_back(ask(s.lock));
    for (std::uint64_t epoch = 1; epoch < 5; ++epoch) {
        co_await until_epoch(s, epoch);
        expire(s);
        s.proxy.cut_all(cut::rst);
    }
    for (const auto& a : all) {
        co_await finished(a);
        CHECK(a->times == 1);
        held(a) = guard(); // some were lost to the next expiry
    }
    co_await s.until_queue(0);
}
