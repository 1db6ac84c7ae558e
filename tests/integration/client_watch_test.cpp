// Watches without faults.

#include "watch_support.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <optional>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A watch of each kind at one node that exists.
struct three_watches {
    explicit three_watches(watch_scene& s) : data(s.zk), presence(s.zk), children(s.zk) {}

    asio::awaitable<void> arm(watch_scene& s) {
        co_await s.zk.get(s.path, data);
        co_await s.zk.exists(s.path, presence);
        co_await s.zk.children(s.path, children);
    }

    paddock::watch data;
    paddock::watch presence;
    paddock::watch children;
};

} // namespace

CO_TEST("an event that happened long ago completes the next call at once") {
    watch_scene s(executor);
    paddock::watch changed(s.zk);
    const auto read = co_await s.zk.get(s.path, changed);
    CHECK(read.data == "1");
    CHECK_FALSE(changed.happened());
    s.direct.set(s.path, "2");
    co_await eventually([&] { return changed.happened(); });
    s.direct.set(s.path, "3");
    s.direct.remove(s.path);
    co_await s.zk.sync(s.path);
    auto what = co_await changed.event();
    CHECK(what == watch_event::changed);
    what = co_await changed.event(); // it stays latched
    CHECK(what == watch_event::changed);
}

CO_TEST("an event completes the call that waits for it, once") {
    watch_scene s(executor);
    paddock::watch changed(s.zk);
    co_await s.zk.get(s.path, changed);
    tally all;
    changed.event(all.expect());
    co_await let_others_run();
    CHECK(all.completions() == 0);
    s.direct.set(s.path, "2");
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(error_code()));
    s.direct.set(s.path, "3");
    co_await s.zk.sync(s.path);
    co_await s.zk.get(s.path);
    CHECK(all.all_once());
}

CO_TEST("an event call before the watch is armed waits for that, too") {
    watch_scene s(executor);
    paddock::watch changed(s.zk);
    std::optional<watch_event> heard;
    changed.event([&](error_code, watch_event what) { heard = what; });
    co_await let_others_run();
    co_await s.zk.get(s.path, changed);
    CHECK_FALSE(heard);
    s.direct.remove(s.path);
    co_await eventually([&] { return heard.has_value(); });
    CHECK(heard == watch_event::deleted);
}

CO_TEST("new data triggers the watches of get and exists, not that of children") {
    watch_scene s(executor);
    three_watches w(s);
    co_await w.arm(s);
    s.direct.set(s.path, "2");
    auto what = co_await latched(w.data);
    CHECK(what == watch_event::changed);
    what = co_await latched(w.presence);
    CHECK(what == watch_event::changed);
    co_await s.zk.get(s.path);
    CHECK_FALSE(w.children.happened());
    s.direct.create(s.path + "/a");
    what = co_await latched(w.children);
    CHECK(what == watch_event::children);
}

CO_TEST("a created or deleted child triggers the watch of children only") {
    watch_scene s(executor);
    three_watches w(s);
    co_await w.arm(s);
    s.direct.create(s.path + "/a");
    auto what = co_await latched(w.children);
    CHECK(what == watch_event::children);
    paddock::watch again(s.zk);
    co_await s.zk.children(s.path, again);
    s.direct.set(s.path + "/a", "x"); // of no interest
    s.direct.create(s.path + "/a/b");
    co_await s.zk.sync(s.path);
    co_await s.zk.get(s.path);
    CHECK_FALSE(again.happened());
    s.direct.remove(s.path + "/a/b");
    s.direct.remove(s.path + "/a");
    what = co_await latched(again);
    CHECK(what == watch_event::children);
    CHECK_FALSE(w.data.happened());
    CHECK_FALSE(w.presence.happened());
}

CO_TEST("the delete of a node triggers every watch on it") {
    watch_scene s(executor);
    three_watches w(s);
    co_await w.arm(s);
    s.direct.remove(s.path);
    for (auto* const one : {&w.data, &w.presence, &w.children}) {
        const auto what = co_await latched(*one);
        CHECK(what == watch_event::deleted);
    }
}

CO_TEST("exists watches a missing node, and reports its creation") {
    watch_scene s(executor);
    paddock::watch appeared(s.zk);
    const auto [error, stat] = co_await s.zk.exists(s.path + "/a", appeared, no_throw);
    CHECK(error == zk_errc::no_node);
    CHECK_FALSE(appeared.happened());
    s.direct.create(s.path + "/a");
    const auto what = co_await latched(appeared);
    CHECK(what == watch_event::created);
}

CO_TEST("two watches at one path get the same event, and a destroyed one does not") {
    watch_scene s(executor);
    paddock::watch one(s.zk);
    paddock::watch two(s.zk);
    std::optional<paddock::watch> gone(std::in_place, s.zk);
    for (auto* const w : {&one, &two, &*gone})
        co_await s.zk.get(s.path, *w);
    CHECK(s.watches() == 1); // the session watches it once
    gone.reset();
    co_await s.zk.sync(s.path);
    CHECK(s.watches() == 1); // other watches need it
    s.direct.set(s.path, "2");
    for (auto* const w : {&one, &two}) {
        const auto what = co_await latched(*w);
        CHECK(what == watch_event::changed);
    }
}

CO_TEST("watches at many paths each get their own event") {
    watch_scene s(executor);
    std::vector<std::unique_ptr<paddock::watch>> all;
    for (int i = 0; i < 20; ++i) {
        const auto path = s.path + "/" + std::to_string(i);
        s.direct.create(path);
        all.push_back(std::make_unique<paddock::watch>(s.zk));
        co_await s.zk.get(path, *all.back());
    }
    s.direct.set(s.path + "/1", "x");
    s.direct.remove(s.path + "/10");
    auto what = co_await latched(*all[1]);
    CHECK(what == watch_event::changed);
    what = co_await latched(*all[10]);
    CHECK(what == watch_event::deleted);
    co_await s.zk.sync(s.path);
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(all[i]->happened() == (i == 1 || i == 10));
}

CO_TEST("a destroyed watch is disarmed at the server") {
    watch_scene s(executor);
    {
        paddock::watch data(s.zk);
        paddock::watch children(s.zk);
        paddock::watch missing(s.zk);
        co_await s.zk.get(s.path, data);
        co_await s.zk.children(s.path, children);
        co_await s.zk.exists(s.path + "/none", missing, no_throw);
        CHECK(s.watches() == 2);
    }
    co_await s.until_no_watches();
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("a watch that is destroyed before its read is answered is disarmed, too") {
    watch_scene s(executor);
    co_await s.zk.connect();
    tally all;
    {
        paddock::watch changed(s.zk);
        s.proxy.hold(direction::down);
        s.zk.get(s.path, changed, all.expect());
        co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    }
    co_await let_others_run();
    s.proxy.release(direction::down);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(error_code()));
    co_await s.until_no_watches();
}

CO_TEST("a cancelled event call keeps the watch armed, and its event") {
    watch_scene s(executor);
    paddock::watch changed(s.zk);
    co_await s.zk.get(s.path, changed);
    for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::terminal}) {
        asio::cancellation_signal stop;
        tally all;
        changed.event(asio::bind_cancellation_slot(stop.slot(), all.expect()));
        co_await let_others_run();
        stop.emit(asio::cancellation_type::partial); // has no effect
        co_await let_others_run();
        CHECK(all.completions() == 0);
        stop.emit(type);
        co_await eventually([&] { return all.all_once(); });
        CHECK(all.error(0) == asio::error::operation_aborted);
    }
    asio::steady_timer timer(executor, 5ms);
    const auto first = co_await (changed.event() || timer.async_wait(asio::use_awaitable));
    CHECK(first.index() == 1);
    s.direct.set(s.path, "2");
    const auto what = co_await latched(changed);
    CHECK(what == watch_event::changed);
}

CO_TEST("a second event call ends the first") {
    watch_scene s(executor);
    paddock::watch changed(s.zk);
    co_await s.zk.get(s.path, changed);
    tally all;
    changed.event(all.expect());
    changed.event(all.expect());
    co_await eventually([&] { return all.completions() == 1; });
    CHECK(all.error(0) == asio::error::operation_aborted);
    s.direct.set(s.path, "2");
    co_await eventually([&] { return all.all_once(); });
    CHECK_FALSE(all.error(1));
}

CO_TEST("a destroyed watch ends its event call") {
    watch_scene s(executor);
    tally all;
    {
        paddock::watch changed(s.zk);
        co_await s.zk.get("/", changed);
        changed.event(all.expect());
        co_await let_others_run();
    }
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == asio::error::operation_aborted);
}

CO_TEST("a watch can be used once") {
    watch_scene s(executor);
    paddock::watch changed(s.zk);
    co_await s.zk.get(s.path, changed);
    s.proxy.forget_frames();
    auto [error, read] = co_await s.zk.get(s.path, changed, no_throw);
    CHECK(error == errc::bad_argument);
    const auto [again, stat] = co_await s.zk.exists(s.path + "/b", changed, no_throw);
    CHECK(again == errc::bad_argument);
    CHECK(again.message() == "watch has served another read");
    const auto [bad, list] = co_await s.zk.children("no path", changed, no_throw);
    CHECK(bad == errc::bad_argument);
    CHECK(s.proxy.count(direction::up) == 0);
    CHECK_FALSE(changed.happened()); // the first use still counts
    s.direct.set(s.path, "2");
    const auto what = co_await latched(changed);
    CHECK(what == watch_event::changed);
    std::tie(error, read) = co_await s.zk.get(s.path, changed, no_throw);
    CHECK(error == errc::bad_argument);
}

CO_TEST("a moved watch gets its event, and one that is assigned to is disarmed") {
    watch_scene s(executor);
    s.direct.make_path(s.path + "/a");
    s.direct.make_path(s.path + "/b");
    paddock::watch first(s.zk);
    co_await s.zk.get(s.path + "/a", first);
    paddock::watch moved(std::move(first));
    paddock::watch second(s.zk);
    co_await s.zk.get(s.path + "/b", second);
    second = std::move(moved);
    co_await eventually([&] { return s.watches("/b") == 0; });
    CHECK(s.watches("/a") == 1);
    s.direct.set(s.path + "/a", "x");
    const auto what = co_await latched(second);
    CHECK(what == watch_event::changed);
}
