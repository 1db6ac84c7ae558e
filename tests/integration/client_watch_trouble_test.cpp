// Watches whose read fails, whose connection breaks, whose session ends, and that find no room.

#include "client_support.hpp"
#include "support/admin.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>
#include <optional>

using namespace paddock;
using namespace paddock::test;

namespace {

/// What event() says of a watch of which nothing will ever come.
asio::awaitable<error_code> end_of(paddock::watch& changed) {
    co_await eventually([&] { return changed.happened(); });
    const auto [error, what] = co_await changed.event(no_throw);
    co_return error;
}

struct behind_proxy {
    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string path = fresh_root();
    behind_proxy() { direct.create(path, "1"); }
};

} // namespace

CO_TEST("the event of a read that failed is its error") {
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    paddock::watch data(zk);
    tally before;
    data.event(before.expect());
    const auto [no_data, read] = co_await zk.get(path, data, no_throw);
    CHECK(no_data == zk_errc::no_node);
    auto why = co_await end_of(data);
    CHECK(why == zk_errc::no_node);
    co_await eventually([&] { return before.all_once(); });
    CHECK(before.error(0) == zk_errc::no_node);

    paddock::watch children(zk);
    const auto [no_list, list] = co_await zk.children(path, children, no_throw);
    CHECK(no_list == zk_errc::no_node);
    why = co_await end_of(children);
    CHECK(why == zk_errc::no_node);

    paddock::watch malformed(zk);
    const auto [bad, stat] = co_await zk.exists("x", malformed, no_throw);
    CHECK(bad == errc::bad_argument);
    why = co_await end_of(malformed);
    CHECK(why == errc::bad_argument);
}

CO_TEST("a read that is refused leaves no watch at the server") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path, "", node_mode::persistent, {{31, "ip", "10.0.0.1"}});
    paddock::watch changed(zk);
    const auto [error, read] = co_await zk.get(path, changed, no_throw);
    CHECK(error == zk_errc::no_auth);
    const auto why = co_await end_of(changed);
    CHECK(why == zk_errc::no_auth);
    CHECK(count_watches_under(shared_server().admin_port(), path) == 0);
}

CO_TEST("a read that is cancelled before it was sent is the end of its watch") {
    behind_proxy b;
    b.proxy.refuse(true);
    client zk(executor, b.proxy.address());
    paddock::watch changed(zk);
    asio::cancellation_signal stop;
    tally all;
    zk.get(b.path, changed, asio::bind_cancellation_slot(stop.slot(), all.expect()));
    changed.event(all.expect());
    co_await let_others_run();
    stop.emit(asio::cancellation_type::terminal);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(asio::error::operation_aborted));
    b.proxy.refuse(false);
    co_await zk.connect();
    co_await zk.sync("/");
    CHECK(b.proxy.count(direction::up, opcode::get) == 0);
}

CO_TEST("a read that is cancelled while it is under way is the end of its watch, at both sides") {
    behind_proxy b;
    client zk(executor, b.proxy.address());
    co_await zk.connect();
    paddock::watch changed(zk);
    asio::cancellation_signal stop;
    tally all;
    b.proxy.hold(direction::down);
    zk.get(b.path, changed, asio::bind_cancellation_slot(stop.slot(), all.expect()));
    changed.event(all.expect());
    co_await eventually([&] { return b.proxy.waiting(direction::down) == 1; });
    stop.emit(asio::cancellation_type::terminal);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(asio::error::operation_aborted));
    b.proxy.release(direction::down);
    co_await eventually(
        [&] { return count_watches_under(shared_server().admin_port(), b.path) == 0; });
}

CO_TEST("a watch survives a connection that is cut, and one event is told once") {
    behind_proxy b;
    client zk(executor, b.proxy.address());
    paddock::watch data(zk);
    paddock::watch missing(zk);
    paddock::watch children(zk);
    co_await zk.get(b.path, data);
    co_await zk.exists(b.path + "/a", missing, no_throw);
    co_await zk.children(b.path, children);
    for (int i = 0; i < 3; ++i) {
        const auto connections = b.proxy.accepted();
        b.proxy.cut_all(i == 1 ? cut::rst : cut::fin);
        co_await eventually([&] {
            return b.proxy.accepted() > connections && zk.state() == client_state::connected;
        });
        co_await zk.sync("/");
    }
    CHECK_FALSE(data.happened());
    CHECK_FALSE(missing.happened());
    CHECK_FALSE(children.happened());
    b.direct.set(b.path, "2");
    auto what = co_await data.event();
    CHECK(what == watch_event::changed);
    CHECK_FALSE(missing.happened());
    b.direct.create(b.path + "/a");
    what = co_await missing.event();
    CHECK(what == watch_event::created);
    what = co_await children.event();
    CHECK(what == watch_event::children);
}

CO_TEST("what happens while the connection is down is heard after it is up again") {
    behind_proxy b;
    b.direct.create(b.path + "/doomed");
    client zk(executor, b.proxy.address());
    paddock::watch data(zk);
    paddock::watch doomed(zk);
    paddock::watch missing(zk);
    paddock::watch children(zk);
    paddock::watch quiet(zk);
    co_await zk.get(b.path, data);
    co_await zk.get(b.path + "/doomed", doomed);
    co_await zk.exists(b.path + "/a", missing, no_throw);
    co_await zk.children(b.path, children);
    co_await zk.exists(b.path + "/b", quiet, no_throw);
    tally all;
    data.event(all.expect());
    b.proxy.refuse(true);
    b.proxy.cut_all(cut::fin);
    co_await zk.next_state(client_state::connected);
    b.direct.set(b.path, "2");
    b.direct.remove(b.path + "/doomed");
    b.direct.create(b.path + "/a");
    co_await let_others_run();
    CHECK(all.completions() == 0);
    b.proxy.refuse(false);
    auto what = co_await data.event();
    CHECK(what == watch_event::changed);
    what = co_await doomed.event();
    CHECK(what == watch_event::deleted);
    what = co_await missing.event();
    CHECK(what == watch_event::created);
    what = co_await children.event();
    CHECK(what == watch_event::children);
    co_await zk.sync("/");
    CHECK_FALSE(quiet.happened());
    CHECK(zk.epoch() == 1);
}

CO_TEST("a watch is armed by a read that had to be repeated") {
    behind_proxy b;
    client zk(executor, b.proxy.address());
    co_await zk.connect();
    for (const std::ptrdiff_t bytes : {0, 3, -1}) {
        for (const auto way : {direction::up, direction::down}) {
            paddock::watch changed(zk);
            b.proxy.cut_at(way, 0, bytes);
            co_await zk.get(b.path, changed);
            CHECK_FALSE(changed.happened());
            b.direct.set(b.path, "x");
            const auto what = co_await changed.event();
            CHECK(what == watch_event::changed);
            co_await eventually([&] { return zk.state() == client_state::connected; });
            b.proxy.forget_plans();
        }
    }
    CHECK(b.proxy.cuts() >= 5);
}

CO_TEST("watches survive a restart of the server, and hear what came of it") {
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

CO_TEST("watches die with their session, and their client") {
    behind_proxy b;
    client zk(executor, b.proxy.address());
    paddock::watch waited_for(zk);
    paddock::watch later(zk);
    paddock::watch idle(zk);
    paddock::watch heard(zk);
    co_await zk.get(b.path, waited_for);
    co_await zk.children(b.path, later);
    co_await zk.get(b.path, heard);
    tally all;
    waited_for.event(all.expect());
    kill_session(shared_server().address(), b.proxy.last_credentials());
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == errc::session_expired);
    auto why = co_await end_of(later);
    CHECK(why == errc::session_expired);

    // One that was not armed then is still good, and so is a new one.
    CHECK_FALSE(idle.happened());
    co_await zk.get(b.path, idle);
    CHECK(zk.epoch() == 2);
    paddock::watch in_time(zk);
    co_await zk.get(b.path, in_time);
    b.direct.set(b.path, "2");
    const auto what = co_await idle.event();
    CHECK(what == watch_event::changed);
    co_await eventually([&] { return in_time.happened(); });

    paddock::watch last(zk);
    co_await zk.get(b.path, last);
    co_await zk.close();
    why = co_await end_of(last);
    CHECK(why == errc::closed);
    const auto kept = co_await in_time.event(); // what was heard before is not forgotten
    CHECK(kept == watch_event::changed);
}

CO_TEST("a read that is repeated in the next session arms its watch there") {
    behind_proxy b;
    client zk(executor, b.proxy.address());
    co_await zk.connect();
    b.proxy.hold(direction::up);
    paddock::watch changed(zk);
    tally all;
    zk.get(b.path, changed, all.expect());
    co_await eventually([&] { return b.proxy.waiting(direction::up) == 1; });
    b.proxy.refuse(true);
    b.proxy.cut_all(cut::rst);
    kill_session(shared_server().address(), b.proxy.last_credentials());
    b.proxy.release(direction::up);
    b.proxy.refuse(false);
    co_await eventually([&] { return all.all_once(); });
    CHECK_FALSE(all.error(0));
    CHECK(zk.epoch() == 2);
    CHECK_FALSE(changed.happened());
    b.direct.set(b.path, "2");
    const auto [error, what] = co_await changed.event(no_throw);
    CHECK_FALSE(error);
    CHECK(what == watch_event::changed);
}

CO_TEST("there is room for so many watched bytes only, and room that is given back serves again") {
    enum class way_back { event, destroyed_watch, failed_read };
    for (const auto& round :
         test.each(std::array{way_back::event, way_back::destroyed_watch, way_back::failed_read})) {
        foreigner direct(shared_server().address());
        client_options options;
        options.budgets.watched_path_bytes = 1024;
        client zk(executor, shared_server().address(), options);
        const auto root = fresh_root();
        direct.create(root);
        const auto path = [&](char name) { return root + '/' + std::string(300, name); };
        std::vector<std::unique_ptr<paddock::watch>> armed;
        for (const char name : {'a', 'b', 'c'}) {
            direct.create(path(name));
            armed.push_back(std::make_unique<paddock::watch>(zk));
            co_await zk.get(path(name), *armed.back());
        }
        direct.create(path('d'));
        paddock::watch too_many(zk);
        const auto [error, read] = co_await zk.get(path('d'), too_many, no_throw);
        CHECK(error == errc::over_budget);
        const auto why = co_await end_of(too_many);
        CHECK(why == errc::over_budget);
        paddock::watch second_at_one_path(zk);
        co_await zk.children(path('a'), second_at_one_path); // costs nothing
        co_await zk.get(path('d'));                          // nor does a read without a watch

        const auto takes_the_room = [&]() -> asio::awaitable<void> {
            paddock::watch another(zk);
            co_await zk.get(path('d'), another);
        };
        switch (std::get<way_back>(round)) {
        case way_back::event:
            direct.set(path('b'), "x");
            co_await armed[1]->event();
            break;
        case way_back::destroyed_watch:
            armed.pop_back();
            break;
        case way_back::failed_read:
            armed.pop_back();
            paddock::watch failed(zk);
            co_await zk.get(path('e'), failed, no_throw);
        }
        co_await takes_the_room();
    }
}
