// Watches with failed reads, lost connections, expired sessions, or no room.

#include "watch_support.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>
#include <optional>

using namespace paddock;
using namespace paddock::test;

CO_TEST("the event of a failed read is its error") {
    watch_scene s(executor);
    const auto path = s.path + "/none";
    paddock::watch data(s.zk);
    tally before;
    data.event(before.expect());
    const auto [no_data, read] = co_await s.zk.get(path, data, no_throw);
    CHECK(no_data == zk_errc::no_node);
    auto why = co_await end_of(data);
    CHECK(why == zk_errc::no_node);
    co_await eventually([&] { return before.all_once(); });
    CHECK(before.error(0) == zk_errc::no_node);

    paddock::watch children(s.zk);
    const auto [no_list, list] = co_await s.zk.children(path, children, no_throw);
    CHECK(no_list == zk_errc::no_node);
    why = co_await end_of(children);
    CHECK(why == zk_errc::no_node);

    paddock::watch malformed(s.zk);
    const auto [bad, stat] = co_await s.zk.exists("x", malformed, no_throw);
    CHECK(bad == errc::bad_argument);
    why = co_await end_of(malformed);
    CHECK(why == errc::bad_argument);
}

CO_TEST("a refused read leaves no watch at the server") {
    watch_scene s(executor);
    const auto path = s.path + "/secret";
    s.direct.create(path, "", node_mode::persistent, {{31, "ip", "10.0.0.1"}});
    paddock::watch changed(s.zk);
    const auto [error, read] = co_await s.zk.get(path, changed, no_throw);
    CHECK(error == zk_errc::no_auth);
    const auto why = co_await end_of(changed);
    CHECK(why == zk_errc::no_auth);
    CHECK(s.watches() == 0);
}

CO_TEST("a read that is cancelled before it was sent ends its watch") {
    watch_scene s(executor);
    s.proxy.refuse(true);
    paddock::watch changed(s.zk);
    asio::cancellation_signal stop;
    tally all;
    s.zk.get(s.path, changed, asio::bind_cancellation_slot(stop.slot(), all.expect()));
    changed.event(all.expect());
    co_await let_others_run();
    stop.emit(asio::cancellation_type::terminal);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(asio::error::operation_aborted));
    s.proxy.refuse(false);
    co_await s.zk.connect();
    co_await s.zk.sync("/");
    CHECK(s.proxy.count(direction::up, opcode::get) == 0);
}

CO_TEST("a read that is cancelled under way ends its watch, at client and server") {
    watch_scene s(executor);
    co_await s.zk.connect();
    paddock::watch changed(s.zk);
    asio::cancellation_signal stop;
    tally all;
    s.proxy.hold(direction::down);
    s.zk.get(s.path, changed, asio::bind_cancellation_slot(stop.slot(), all.expect()));
    changed.event(all.expect());
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    stop.emit(asio::cancellation_type::terminal);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(asio::error::operation_aborted));
    s.proxy.release(direction::down);
    co_await s.until_no_watches();
}

CO_TEST("a watch survives a lost connection, and one event is reported once") {
    watch_scene s(executor);
    paddock::watch data(s.zk);
    paddock::watch missing(s.zk);
    paddock::watch children(s.zk);
    co_await s.zk.get(s.path, data);
    co_await s.zk.exists(s.path + "/a", missing, no_throw);
    co_await s.zk.children(s.path, children);
    for (int i = 0; i < 3; ++i) {
        const auto connections = s.proxy.accepted();
        s.proxy.cut_all(i == 1 ? cut::rst : cut::fin);
        co_await eventually([&] {
            return s.proxy.accepted() > connections && s.zk.state() == client_state::connected;
        });
        co_await s.zk.sync("/");
    }
    CHECK_FALSE(data.happened());
    CHECK_FALSE(children.happened());
    s.direct.set(s.path, "2");
    auto what = co_await data.event();
    CHECK(what == watch_event::changed);
    CHECK_FALSE(missing.happened());
    s.direct.create(s.path + "/a");
    what = co_await missing.event();
    CHECK(what == watch_event::created);
    what = co_await children.event();
    CHECK(what == watch_event::children);
}

CO_TEST("a change during a lost connection is reported after the reconnect") {
    watch_scene s(executor);
    s.direct.create(s.path + "/doomed");
    paddock::watch data(s.zk);
    paddock::watch doomed(s.zk);
    paddock::watch missing(s.zk);
    paddock::watch children(s.zk);
    paddock::watch quiet(s.zk);
    co_await s.zk.get(s.path, data);
    co_await s.zk.get(s.path + "/doomed", doomed);
    co_await s.zk.exists(s.path + "/a", missing, no_throw);
    co_await s.zk.children(s.path, children);
    co_await s.zk.exists(s.path + "/b", quiet, no_throw);
    tally all;
    data.event(all.expect());
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::fin);
    co_await s.zk.next_state(client_state::connected);
    s.direct.set(s.path, "2");
    s.direct.remove(s.path + "/doomed");
    s.direct.create(s.path + "/a");
    co_await let_others_run();
    CHECK(all.completions() == 0);
    s.proxy.refuse(false);
    auto what = co_await data.event();
    CHECK(what == watch_event::changed);
    what = co_await doomed.event();
    CHECK(what == watch_event::deleted);
    what = co_await missing.event();
    CHECK(what == watch_event::created);
    what = co_await children.event();
    CHECK(what == watch_event::children);
    co_await s.zk.sync("/");
    CHECK_FALSE(quiet.happened());
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a watch is armed by a read that had to be repeated") {
    watch_scene s(executor);
    co_await s.zk.connect();
    for (const std::ptrdiff_t bytes : {0, 3, -1}) {
        for (const auto way : {direction::up, direction::down}) {
            paddock::watch changed(s.zk);
            s.proxy.cut_at(way, 0, bytes);
            co_await s.zk.get(s.path, changed);
            CHECK_FALSE(changed.happened());
            s.direct.set(s.path, "x");
            const auto what = co_await changed.event();
            CHECK(what == watch_event::changed);
            co_await eventually([&] { return s.zk.state() == client_state::connected; });
            s.proxy.forget_plans();
        }
    }
    CHECK(s.proxy.cuts() >= 5);
}

CO_TEST("watches survive a restart of the server, and report changes after it") {
    static zk_server server;
    server.start();
    const auto root = fresh_root();
    std::optional<foreigner> direct(server.address());
    direct->create(root + "-kept");
    direct->create(root + "-changed");
    client zk(executor, server.address(), with_timeout(20s));
    paddock::watch kept(zk);
    paddock::watch changed(zk);
    co_await zk.get(root + "-kept", kept);
    co_await zk.get(root + "-changed", changed);
    const auto session = zk.session_id();
    direct.reset();
    server.kill();
    co_await zk.next_state(client_state::connected);
    server.start();
    direct.emplace(server.address());
    direct->set(root + "-changed", "2");
    const auto what = co_await changed.event();
    CHECK(what == watch_event::changed);
    CHECK(zk.session_id() == session);
    CHECK_FALSE(kept.happened());
    direct->remove(root + "-kept");
    const auto end = co_await kept.event();
    CHECK(end == watch_event::deleted);
}

CO_TEST("watches end with their session, and with their client") {
    watch_scene s(executor);
    paddock::watch waited_for(s.zk);
    paddock::watch later(s.zk);
    paddock::watch idle(s.zk);
    paddock::watch heard(s.zk);
    co_await s.zk.get(s.path, waited_for);
    co_await s.zk.children(s.path, later);
    co_await s.zk.get(s.path, heard);
    tally all;
    waited_for.event(all.expect());
    kill_session(shared_server().address(), s.proxy.last_credentials());
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == errc::session_expired);
    auto why = co_await end_of(later);
    CHECK(why == errc::session_expired);

    // One that was not armed then is still good, and so is a new one.
    CHECK_FALSE(idle.happened());
    co_await s.zk.get(s.path, idle);
    CHECK(s.zk.epoch() == 2);
    paddock::watch in_time(s.zk);
    co_await s.zk.get(s.path, in_time);
    s.direct.set(s.path, "2");
    const auto what = co_await idle.event();
    CHECK(what == watch_event::changed);
    co_await eventually([&] { return in_time.happened(); });

    paddock::watch last(s.zk);
    co_await s.zk.get(s.path, last);
    co_await s.zk.close();
    why = co_await end_of(last);
    CHECK(why == errc::closed);
    const auto kept = co_await in_time.event(); // an earlier event is not forgotten
    CHECK(kept == watch_event::changed);
}

CO_TEST("a read that is repeated in the next session arms its watch there") {
    watch_scene s(executor);
    co_await s.zk.connect();
    s.proxy.hold(direction::up);
    paddock::watch changed(s.zk);
    tally all;
    s.zk.get(s.path, changed, all.expect());
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    kill_session(shared_server().address(), s.proxy.last_credentials());
    s.proxy.release(direction::up);
    s.proxy.refuse(false);
    co_await eventually([&] { return all.all_once(); });
    CHECK_FALSE(all.error(0));
    CHECK(s.zk.epoch() == 2);
    CHECK_FALSE(changed.happened());
    s.direct.set(s.path, "2");
    const auto [error, what] = co_await changed.event(no_throw);
    CHECK_FALSE(error);
    CHECK(what == watch_event::changed);
}

CO_TEST("the bytes of watched paths are limited, and freed bytes can be used again") {
    enum class way_back { event, destroyed_watch, failed_read };
    for (const auto& round :
         test.each(std::array{way_back::event, way_back::destroyed_watch, way_back::failed_read})) {
        client_options options;
        options.budgets.watched_path_bytes = 1024;
        watch_scene s(executor, options);
        const auto path = [&](char name) { return s.path + '/' + std::string(300, name); };
        std::vector<std::unique_ptr<paddock::watch>> armed;
        for (const char name : {'a', 'b', 'c'}) {
            s.direct.create(path(name));
            armed.push_back(std::make_unique<paddock::watch>(s.zk));
            co_await s.zk.get(path(name), *armed.back());
        }
        s.direct.create(path('d'));
        paddock::watch too_many(s.zk);
        const auto [error, read] = co_await s.zk.get(path('d'), too_many, no_throw);
        CHECK(error == errc::over_budget);
        const auto why = co_await end_of(too_many);
        CHECK(why == errc::over_budget);
        paddock::watch second_at_one_path(s.zk);
        co_await s.zk.get(path('a'), second_at_one_path); // costs nothing
        co_await s.zk.get(path('d'));                     // nor does a read without a watch
        paddock::watch of_another_kind(s.zk);
        const auto [refused, names] = co_await s.zk.children(path('a'), of_another_kind, no_throw);
        CHECK(refused == errc::over_budget);

        const auto uses_the_room = [&]() -> asio::awaitable<void> {
            paddock::watch another(s.zk);
            co_await s.zk.get(path('d'), another);
        };
        switch (std::get<way_back>(round)) {
        case way_back::event:
            s.direct.set(path('b'), "x");
            co_await armed[1]->event();
            break;
        case way_back::destroyed_watch:
            armed.pop_back();
            break;
        case way_back::failed_read:
            armed.pop_back();
            paddock::watch failed(s.zk);
            co_await s.zk.get(path('e'), failed, no_throw);
        }
        co_await uses_the_room();
    }
}

CO_TEST("a watch of another client, or a moved-from one, is refused and nothing is sent") {
    watch_scene s(executor);
    co_await s.zk.connect();
    const auto read = [&](int which, paddock::watch& changed) -> asio::awaitable<error_code> {
        if (which == 0) {
            const auto [error, got] = co_await s.zk.get(s.path, changed, no_throw);
            co_return error;
        }
        if (which == 1) {
            const auto [error, got] = co_await s.zk.exists(s.path, changed, no_throw);
            co_return error;
        }
        const auto [error, got] = co_await s.zk.children(s.path, changed, no_throw);
        co_return error;
    };
    const auto reads = [&] {
        return s.proxy.count(direction::up, opcode::get) +
               s.proxy.count(direction::up, opcode::children2);
    };
    std::optional<client> brief(std::in_place, executor, shared_server().address());
    paddock::watch of_destroyed(*brief);
    co_await brief->close();
    brief.reset();
    auto result = co_await read(0, of_destroyed);
    CHECK(result == errc::bad_argument);
    client other(executor, shared_server().address());
    for (const int which : {0, 1, 2}) {
        paddock::watch foreign(other);
        tally before;
        foreign.event(before.expect());
        result = co_await read(which, foreign);
        CHECK(result == errc::bad_argument);
        co_await eventually([&] { return before.all_once(); }); // no event will ever come
        CHECK(before.error(0) == errc::bad_argument);
        const paddock::watch to(std::move(foreign));
        result = co_await read(which, foreign);
        CHECK(result == errc::bad_argument);
        CHECK_FALSE(foreign.happened());
    }
    CHECK(reads() == 0);
}

CO_TEST("an armed watch gets its event although another client has refused it") {
    watch_scene s(executor);
    client other(executor, shared_server().address());
    paddock::watch changed(s.zk);
    co_await s.zk.get(s.path, changed);
    const auto [error, got] = co_await other.get(s.path, changed, no_throw);
    CHECK(error == errc::bad_argument);
    s.direct.set(s.path, "2");
    const auto what = co_await changed.event();
    CHECK(what == watch_event::changed);
}
