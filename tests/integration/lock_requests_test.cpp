// The requests of a lock, packet by packet.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

using codes = std::vector<std::int32_t>;
const codes join{opcode::create2, opcode::children2};

/// One more round trip on the same connection: the server has seen all earlier packets.
asio::awaitable<void> round_trip(scene& s) { co_await s.zk.exists("/"); }

} // namespace

CO_TEST("an uncontended lock takes one round trip, and its release one delete") {
    scene s(executor);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    s.proxy.hold(direction::down);
    const auto a = ask(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::down) >= 2; });
    CHECK(s.requests() == join);
    CHECK_FALSE(a->done());
    s.proxy.release(direction::down);
    a->then = [&] { CHECK(s.requests() == join); };
    co_await granted(a);

    s.proxy.forget_frames();
    co_await held(a).unlock();
    auto seen = s.requests();
    std::erase(seen, opcode::get); // a hold that is older than 100 ms watches its node
    CHECK(seen == codes{opcode::remove});
    CHECK(s.queue().empty());
}

CO_TEST("a lock creates its missing directory, as a container or as a persistent node") {
    for (const bool persistent : {false, true}) {
        fault_proxy proxy(shared_server().port());
        foreigner direct(shared_server().address());
        const auto root = fresh_root();
        client zk(executor, proxy.address());
        mutex m(zk, root + "/a/b", {.persistent_parents = persistent});
        const auto a = ask(m);
        co_await granted(a);
        CHECK(held(a).path().starts_with(root + "/a/b/_c_"));
        CHECK(queue_at(direct, root + "/a/b").size() == 1);
        // root, a and b; b after a first try that finds a missing, and that after one for root
        CHECK(proxy.count(direction::up, opcode::create_container) == (persistent ? 0 : 5));
        co_await held(a).unlock();
    }
}

CO_TEST("a waiter behind a foreign node watches that node and its own, and nothing else") {
    scene s(executor);
    const auto first = queue_up(s.direct, s.path);
    const auto second = queue_up(s.direct, s.path);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    const auto a = ask(s.lock);
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) == 2; });
    auto expected = join;
    expected.insert(expected.end(), 2, opcode::get);
    CHECK(s.requests() == expected);
    CHECK(s.proxy.snapshot().count_if([&](const frame& f) {
        return f.way == direction::up && f.opcode == opcode::get && f.path == second;
    }) == 1);

    s.direct.remove(first); // not the predecessor: no waiter is woken
    co_await round_trip(s);
    CHECK(s.proxy.count(direction::down, opcode::notification) == 0);
    CHECK_FALSE(a->done());
    s.direct.remove(second); // a listing shows that the first is gone
    co_await granted(a);
    expected.insert(expected.end(), {opcode::exists, opcode::children2});
    CHECK(s.requests() == expected);
    co_await held(a).unlock();
}

CO_TEST("a lock passes from one local waiter to the next without a request in between") {
    scene s(executor);
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    const auto c = ask(s.lock);
    co_await granted(a);
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) >= 2; });
    s.proxy.hold(direction::up); // the server does not get the delete
    held(a) = guard();
    co_await granted(b);
    held(b) = guard();
    co_await granted(c);
    CHECK(held(c).fencing_token() > held(b).fencing_token());
    CHECK(s.queue().size() == 3);
    s.proxy.release(direction::up);
    co_await s.until_queue(1);
    co_await held(c).unlock();
}

CO_TEST("try_lock on a lock that another client holds is one listing and writes nothing") {
    scene s(executor);
    const auto other = queue_up(s.direct, s.path);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    const auto a = ask_now(s.lock);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
    co_await round_trip(s);
    CHECK(s.requests() == codes{opcode::children2, opcode::exists});

    s.direct.remove(other);
    auto b = ask_now(s.lock);
    co_await granted(b);
    co_await held(b).unlock();
}

CO_TEST("try_lock of a client that holds the lock or waits for it sends no request") {
    scene s(executor);
    const auto other = queue_up(s.direct, s.path);
    const auto waiting = ask(s.lock);
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::get) == 2; });
    s.proxy.forget_frames();
    auto a = ask_now(s.lock);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
    co_await round_trip(s);
    CHECK(s.requests() == codes{opcode::exists});

    s.direct.remove(other);
    co_await granted(waiting);
    s.proxy.hold(direction::up); // no answer could come
    a = ask_now(s.lock);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
    s.proxy.release(direction::up);
    co_await held(waiting).unlock();
}

CO_TEST("a try_lock that loses to an earlier node leaves nothing, and waits for no delete") {
    scene s(executor);
    co_await s.zk.connect();
    s.proxy.hold_from(direction::up, opcode::create2);
    const auto a = ask_now(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    const auto other = queue_up(s.direct, s.path); // between the listing and the create
    a->then = [&] { s.proxy.hold(direction::up); };
    s.proxy.release(direction::up);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
    s.proxy.release(direction::up);
    co_await s.until_queue(1);
}

CO_TEST("try_lock can let the server catch up first, in the same flight") {
    scene s(executor, {}, {.sync_first = true});
    const auto other = queue_up(s.direct, s.path);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    s.proxy.hold(direction::down);
    const auto a = ask_now(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::down) >= 2; });
    CHECK(s.requests() == codes{opcode::sync, opcode::children2});
    s.proxy.release(direction::down);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
}

CO_TEST("try_lock without a connection fails at once") {
    scene s(executor);
    auto a = ask_now(s.lock);
    co_await finished(a);
    CHECK(a->error == errc::not_connected);
    co_await s.zk.connect();
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::fin);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    a = ask_now(s.lock);
    co_await finished(a);
    CHECK(a->error == errc::not_connected);
    a = ask_for(s.lock, 0s);
    co_await finished(a);
    CHECK(a->error == errc::not_connected);
    s.proxy.refuse(false);
    co_await s.until_connected();
    CHECK(s.sent(opcode::create2) == 0);
}
