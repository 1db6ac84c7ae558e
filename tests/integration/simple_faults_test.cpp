// simple_mutex with faults: no other holder's lock is deleted, and no node stays.

#include "simple_support.hpp"
#include "support/cut_sweep.hpp"
#include "support/way_out.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

asio::awaitable<void> until_epoch(simple_scene& s, std::uint64_t which) {
    co_await eventually(
        [&] { return s.zk.epoch() >= which && s.zk.state() == client_state::connected; });
}

} // namespace

CO_TEST("a caller that leaves at any point leaves nothing") {
    simple_scene s(executor);
    co_await s.zk.connect();
    struct point {
        bool taken;
        direction way;
        std::int32_t opcode;
    };
    const point points[] = {
        {false, direction::up, opcode::multi},  {false, direction::down, opcode::multi},
        {false, direction::up, opcode::get},    {false, direction::down, opcode::get},
        {true, direction::down, opcode::multi}, {true, direction::up, opcode::get},
        {true, direction::down, opcode::get}};
    for (const auto& round : test.each(points, ways_out)) {
        const auto& at = std::get<point>(round);
        const auto how = std::get<way_out>(round);
        INFO("request " << at.opcode << ", taken " << at.taken << ", way out "
                        << static_cast<int>(how));
        if (at.taken) s.foreigner_takes_it();
        s.proxy.hold_from(at.way, at.opcode);
        const auto a = how == way_out::time_limit ? ask_for(s.lock, brief_limit) : ask(s.lock);
        co_await before_leaving(a, how, [&] { return s.proxy.waiting(at.way) > 0; });
        co_await leave(a, how); // while the connection stands still
        const auto next = ask(s.lock);
        s.proxy.release(at.way);
        if (at.taken) s.direct.remove(s.path);
        co_await granted(next);
        co_await unlocked(next);
        CHECK(s.nodes().empty());
    }
}

CO_TEST("a caller that leaves while it watches, or without a connection, leaves nothing") {
    simple_scene s(executor);
    s.proxy.refuse(true);
    const auto early = ask(s.lock);
    early->cancel();
    co_await finished(early);
    s.proxy.refuse(false);
    co_await s.zk.connect();
    s.foreigner_takes_it();
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await eventually([&] { return s.answered(opcode::get) == 1; });
    a->cancel();
    co_await finished(a);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    b->cancel();
    co_await finished(b);
    CHECK(b->error == asio::error::operation_aborted);
    s.proxy.refuse(false);
    co_await s.until_connected();
    CHECK(s.nodes().size() == 1);
    s.direct.remove(s.path);
    const auto c = ask(s.lock);
    co_await granted(c);
    co_await unlocked(c);
}

CO_TEST("a connection cut anywhere costs a free lock nothing but time") {
    test.time_limit(90s);
    simple_scene s(executor, short_session(4s));
    co_await s.zk.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::each_way);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto a = ask(s.lock);
        co_await granted(a);
        CHECK(s.direct.stat(s.path)->czxid == held(a).fencing_token().zxid);
        CHECK(s.nodes().size() == 2);
        co_await unlocked(a);
        CHECK(s.nodes().empty());
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(6 * 3, 3)); // multi, get, multi
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a connection cut anywhere costs waiters nothing but time") {
    test.time_limit(120s);
    simple_scene s(executor, short_session(4s));
    client other(executor, shared_server().address());
    simple_mutex others(other, s.path), same(s.zk, s.path);
    co_await s.zk.connect();
    co_await other.connect();
    cut_sweep sweep(test, s.proxy, cut_sweep::in_turns);
    while (sweep.next()) {
        INFO(sweep.where());
        s.foreigner_takes_it();
        std::vector<lock_call> all{ask(s.lock), ask(others), ask(same), ask(s.lock)};
        co_await eventually([&] { return s.answered(opcode::get) > 0; });
        s.direct.remove(s.path);
        while (!all.empty()) {
            const auto a = co_await next_granted(all);
            co_await unlocked(a);
        }
        CHECK(s.nodes().empty());
        co_await s.until_connected();
        s.proxy.forget_frames();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(12, 2));
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a try_lock that creates the directory does not wait for another connection") {
    simple_scene s(executor);
    co_await s.zk.connect();
    simple_mutex deep(s.zk, s.directory + "/not/there/lock");
    s.proxy.hold_from(direction::up, opcode::create_container);
    const auto a = ask_now(deep);
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await finished(a);
    CHECK(a->error == errc::not_connected);
    s.proxy.refuse(false);
}

CO_TEST("a delete that was executed and is repeated does not hit the next holder (A4)") {
    simple_scene s(executor);
    for (const bool awaited : {true, false}) {
        const auto a = ask(s.lock);
        co_await granted(a);
        s.proxy.forget_frames();
        s.proxy.hold_from(direction::down, opcode::multi);
        under_way<> end;
        if (awaited)
            end = give_back(held(a));
        else
            held(a) = guard();
        co_await s.until_nodes(0); // executed, and the answer is on its way
        s.proxy.refuse(true);
        s.proxy.cut_all(cut::rst);
        s.proxy.release(direction::down);
        s.foreigner_takes_it();
        const auto foreign_czxid = s.direct.stat(s.path)->czxid;
        s.proxy.refuse(false);
        co_await s.until_connected();
        co_await eventually([&] { return s.answered(opcode::multi) >= 1; });
        co_await s.zk.exists("/");
        if (awaited) {
            co_await finished(end);
            CHECK_MESSAGE(!end->error, end->error.message());
        }
        CHECK(s.sent(opcode::multi) == 2); // it was repeated
        CHECK(s.direct.stat(s.path)->czxid == foreign_czxid);
        s.direct.remove(s.path);
    }
}

CO_TEST("a race whose answer was lost is found again by its marker's id") {
    simple_scene s(executor);
    co_await s.zk.connect();
    s.proxy.hold(direction::down);
    const auto a = ask(s.lock);
    co_await s.until_nodes(2);
    const auto made = s.direct.stat(s.path)->czxid;
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await granted(a);
    CHECK(held(a).fencing_token().zxid == made);
    CHECK(s.sent(opcode::multi) == 1);
    co_await unlocked(a);

    s.proxy.hold(direction::down); // and without a waiter
    const auto b = ask(s.lock);
    co_await s.until_nodes(2);
    b->cancel();
    co_await finished(b);
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await s.until_nodes(0);
}

CO_TEST("a late multi is found by its marker, and both its nodes are deleted (B2)") {
    simple_scene s(executor);
    co_await s.zk.connect();
    s.proxy.cut_at(direction::up, 0, 0); // the multi is lost on the way
    const auto a = ask(s.lock);
    co_await granted(a);
    CHECK(s.direct.exists(s.marker(2)));
    co_await unlocked(a);
    // Now a server executes it after all, in the same session.
    const auto late = [&] {
        foreigner_options in_session;
        in_session.session = s.proxy.last_credentials();
        foreigner server(shared_server().address(), in_session);
        server.create(s.marker(1), "", node_mode::ephemeral);
        server.create(s.path, "", node_mode::ephemeral);
        server.abandon();
    };
    late();
    const auto next = ask(s.lock); // the reconnect makes the client search
    co_await granted(next);
    CHECK(s.zk.epoch() == 1);
    CHECK_FALSE(s.direct.exists(s.marker(1)));
    co_await unlocked(next);
    co_await s.until_nodes(0);
}

CO_TEST("a guard whose lock node was deleted by hand deletes its marker alone") {
    simple_scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.forget_frames();
    s.direct.remove(s.path);
    co_await eventually([&] { return !held(a).valid(); });
    co_await s.until_nodes(0); // the marker alone, though the guard is still there
    CHECK(s.sent(opcode::multi) == 0);
    s.foreigner_takes_it();
    held(a) = guard();
    co_await s.zk.exists("/");
    CHECK(s.direct.exists(s.path));
}

CO_TEST("a holder loses a lock node that is deleted by hand, and the waiters race for the lock") {
    simple_scene s(executor);
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await granted(a);
    const auto told = end_of(held(a));
    s.direct.remove(s.path);
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    co_await granted(b);
    CHECK(held(b).fencing_token() > held(a).fencing_token());
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    co_await held(b).verify();
    co_await s.until_nodes(2);
    co_await unlocked(b);
    CHECK(s.nodes().empty());
}

CO_TEST("a lock node replaced while the connection is lost is noticed, and left alone") {
    simple_scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    s.direct.remove(s.path);
    s.foreigner_takes_it();
    s.proxy.refuse(false);
    co_await eventually([&] { return !held(a).valid(); });
    co_await s.until_nodes(1);
    held(a) = guard();
    co_await s.zk.exists("/");
    CHECK(s.direct.get(s.path).data == "foreign");
}

CO_TEST("a lock node that another client writes to still belongs to its holder") {
    simple_scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    for (int i = 2; i < 5; ++i) {
        const auto before = s.answered(opcode::get);
        s.direct.set(s.path, "scribble");
        co_await eventually([&] { return s.answered(opcode::get) > before; });
        CHECK(held(a).valid());
    }
    s.direct.remove(s.path);
    co_await eventually([&] { return !held(a).valid(); });
}

CO_TEST("when the session expires the hold is lost, and waiters race again in the next one") {
    simple_scene s(executor);
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await granted(a);
    const auto told = end_of(held(a));
    s.expire();
    co_await finished(told);
    CHECK(told->error == errc::session_expired);
    co_await granted(b);
    CHECK(s.zk.epoch() == 2);
    held(a) = guard();
    co_await held(b).verify();
    s.expire();
    co_await until_epoch(s, 3);
    s.foreigner_takes_it();
    const auto c = ask(s.lock);
    co_await eventually([&] { return s.answered(opcode::get) > 0; });
    s.expire();
    co_await until_epoch(s, 4);
    s.direct.remove(s.path);
    co_await granted(c);
    co_await unlocked(c);
    CHECK(s.nodes().empty());
}

CO_TEST("a session that expires during a race makes it start again, or fail by option") {
    for (const auto choice : {on_expiry::requeue, on_expiry::fail}) {
        simple_mutex_options terms;
        terms.on_expiry = choice;
        simple_scene s(executor, {}, terms);
        co_await s.zk.connect();
        std::uint64_t epoch = 1;
        for (const auto way : {direction::up, direction::down}) {
            s.proxy.hold_from(way, opcode::multi);
            const auto a = ask(s.lock);
            co_await eventually([&] { return s.proxy.waiting(way) > 0; });
            s.expire();
            s.proxy.cut_all(cut::rst);
            s.proxy.release(way);
            co_await finished(a);
            if (choice == on_expiry::fail) {
                CHECK(a->error == errc::session_expired);
            } else {
                CHECK(held(a).valid());
                co_await unlocked(a);
            }
            co_await until_epoch(s, ++epoch);
            co_await s.until_nodes(0);
        }
    }
}

CO_TEST("the client's end ends its guards and waits, and leaves no node") {
    simple_scene s(executor);
    lock_call a, b;
    under_way<> told;
    {
        client brief(executor, s.proxy.address());
        {
            simple_mutex m(brief, s.path);
            a = ask(m);
            co_await granted(a);
            b = ask(m);
        }
        told = end_of(held(a));
        co_await brief.exists("/");
    }
    co_await finished(b);
    co_await finished(told);
    CHECK(b->error == errc::closed);
    CHECK(told->error == errc::closed);
    co_await s.until_nodes(0);
}
