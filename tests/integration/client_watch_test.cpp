// Watches while all is well.

#include "client_support.hpp"
#include "support/admin.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <optional>

using namespace paddock;
using namespace paddock::test;

namespace {

/// The event of a watch that must have happened already.
asio::awaitable<watch_event> latched(paddock::watch& changed) {
    co_await eventually([&] { return changed.happened(); });
    const auto what = co_await changed.event();
    co_return what;
}

/// Two watches of each kind at one node that exists; only `heard` may hear what is done to it.
struct three_watches {
    explicit three_watches(client& zk) : data(zk), presence(zk), children(zk) {}

    asio::awaitable<void> arm(client& zk, const std::string& path) {
        co_await zk.get(path, data);
        co_await zk.exists(path, presence);
        co_await zk.children(path, children);
    }

    paddock::watch data;
    paddock::watch presence;
    paddock::watch children;
};

std::size_t watches_at(const std::string& path) {
    const auto all = watches_by_path(shared_server().admin_port());
    const auto found = all.find(path);
    return found == all.end() ? 0 : found->second.size();
}

} // namespace

CO_TEST("an event that happened long ago is told as soon as somebody asks") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path, "1");
    paddock::watch changed(zk);
    const auto read = co_await zk.get(path, changed);
    CHECK(read.data == "1");
    CHECK_FALSE(changed.happened());
    direct.set(path, "2");
    co_await eventually([&] { return changed.happened(); });
    direct.set(path, "3");
    direct.remove(path);
    co_await zk.sync(path);
    auto what = co_await changed.event();
    CHECK(what == watch_event::changed);
    what = co_await changed.event(); // it stays latched
    CHECK(what == watch_event::changed);
}

CO_TEST("an event is told to who waits for it, once") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    paddock::watch changed(zk);
    co_await zk.get(path, changed);
    tally all;
    changed.event(all.expect());
    co_await let_others_run();
    CHECK(all.completions() == 0);
    direct.set(path, "2");
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(error_code()));
    direct.set(path, "3");
    co_await zk.sync(path);
    co_await zk.get(path);
    CHECK(all.all_once());
}

CO_TEST("who asks before the watch is armed waits for that, too") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    paddock::watch changed(zk);
    std::optional<watch_event> heard;
    changed.event([&](error_code, watch_event what) { heard = what; });
    co_await let_others_run();
    CHECK_FALSE(heard);
    co_await zk.get(path, changed);
    CHECK_FALSE(heard);
    direct.remove(path);
    co_await eventually([&] { return heard.has_value(); });
    CHECK(heard == watch_event::deleted);
}

CO_TEST("new data is heard by the watches of get and exists, not by that of children") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    three_watches w(zk);
    co_await w.arm(zk, path);
    direct.set(path, "2");
    auto what = co_await latched(w.data);
    CHECK(what == watch_event::changed);
    what = co_await latched(w.presence);
    CHECK(what == watch_event::changed);
    co_await zk.get(path);
    CHECK_FALSE(w.children.happened());
    direct.create(path + "/a");
    what = co_await latched(w.children);
    CHECK(what == watch_event::children);
}

CO_TEST("a child that comes or goes is heard by the watch of children only") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    three_watches w(zk);
    co_await w.arm(zk, path);
    direct.create(path + "/a");
    auto what = co_await latched(w.children);
    CHECK(what == watch_event::children);
    paddock::watch again(zk);
    co_await zk.children(path, again);
    direct.set(path + "/a", "x"); // of no interest
    direct.create(path + "/a/b");
    co_await zk.sync(path);
    co_await zk.get(path);
    CHECK_FALSE(again.happened());
    direct.remove(path + "/a/b");
    direct.remove(path + "/a");
    what = co_await latched(again);
    CHECK(what == watch_event::children);
    CHECK_FALSE(w.data.happened());
    CHECK_FALSE(w.presence.happened());
}

CO_TEST("the end of a node is heard by every watch at it") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    three_watches w(zk);
    co_await w.arm(zk, path);
    direct.remove(path);
    for (auto* const one : {&w.data, &w.presence, &w.children}) {
        const auto what = co_await latched(*one);
        CHECK(what == watch_event::deleted);
    }
}

CO_TEST("exists watches a missing node, and hears of its creation") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    paddock::watch appeared(zk);
    const auto [error, stat] = co_await zk.exists(path, appeared, no_throw);
    CHECK(error == zk_errc::no_node);
    CHECK_FALSE(appeared.happened());
    direct.create(path);
    const auto what = co_await latched(appeared);
    CHECK(what == watch_event::created);
}

CO_TEST("two watches at one path hear the same event, and one that is destroyed does not") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    paddock::watch one(zk);
    paddock::watch two(zk);
    std::optional<paddock::watch> gone(std::in_place, zk);
    for (auto* const w : {&one, &two, &*gone})
        co_await zk.get(path, *w);
    CHECK(watches_at(path) == 1); // the session watches it once
    gone.reset();
    co_await zk.sync(path);
    CHECK(watches_at(path) == 1); // others need it
    direct.set(path, "2");
    for (auto* const w : {&one, &two}) {
        const auto what = co_await latched(*w);
        CHECK(what == watch_event::changed);
    }
}

CO_TEST("watches at many paths hear each its own") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    direct.create(root);
    std::vector<std::unique_ptr<paddock::watch>> all;
    for (int i = 0; i < 20; ++i) {
        const auto path = root + "/" + std::to_string(i);
        direct.create(path);
        all.push_back(std::make_unique<paddock::watch>(zk));
        co_await zk.get(path, *all.back());
    }
    direct.set(root + "/1", "x");
    direct.remove(root + "/10");
    auto what = co_await latched(*all[1]);
    CHECK(what == watch_event::changed);
    what = co_await latched(*all[10]);
    CHECK(what == watch_event::deleted);
    co_await zk.sync(root);
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(all[i]->happened() == (i == 1 || i == 10));
}

CO_TEST("a destroyed watch is disarmed at the server") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    direct.create(root);
    {
        paddock::watch data(zk);
        paddock::watch children(zk);
        paddock::watch missing(zk);
        co_await zk.get(root, data);
        co_await zk.children(root, children);
        co_await zk.exists(root + "/none", missing, no_throw);
        CHECK(count_watches_under(shared_server().admin_port(), root) == 2);
    }
    co_await eventually(
        [&] { return count_watches_under(shared_server().admin_port(), root) == 0; });
    CHECK(zk.epoch() == 1);
}

CO_TEST("a watch that is destroyed before its read is answered is disarmed, too") {
    fault_proxy proxy(shared_server().port());
    foreigner direct(shared_server().address());
    client zk(executor, proxy.address());
    const auto root = fresh_root();
    direct.create(root);
    co_await zk.connect();
    tally all;
    {
        paddock::watch changed(zk);
        proxy.hold(direction::down);
        zk.get(root, changed, all.expect());
        co_await eventually([&] { return proxy.waiting(direction::down) == 1; });
    }
    co_await let_others_run();
    proxy.release(direction::down);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(error_code()));
    co_await eventually(
        [&] { return count_watches_under(shared_server().admin_port(), root) == 0; });
}

CO_TEST("cancelling an event keeps the watch armed, and what it hears") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    paddock::watch changed(zk);
    co_await zk.get(path, changed);
    for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::terminal}) {
        asio::cancellation_signal stop;
        tally all;
        changed.event(asio::bind_cancellation_slot(stop.slot(), all.expect()));
        co_await let_others_run();
        stop.emit(asio::cancellation_type::partial); // not heard
        co_await let_others_run();
        CHECK(all.completions() == 0);
        stop.emit(type);
        co_await eventually([&] { return all.all_once(); });
        CHECK(all.error(0) == asio::error::operation_aborted);
    }
    asio::steady_timer timer(executor, 5ms);
    const auto first = co_await (changed.event() || timer.async_wait(asio::use_awaitable));
    CHECK(first.index() == 1);
    direct.set(path, "2");
    const auto what = co_await latched(changed);
    CHECK(what == watch_event::changed);
}

CO_TEST("a second call of event ends the first") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    direct.create(path);
    paddock::watch changed(zk);
    co_await zk.get(path, changed);
    tally all;
    changed.event(all.expect());
    changed.event(all.expect());
    co_await eventually([&] { return all.completions() == 1; });
    CHECK(all.error(0) == asio::error::operation_aborted);
    direct.set(path, "2");
    co_await eventually([&] { return all.all_once(); });
    CHECK_FALSE(all.error(1));
}

CO_TEST("a destroyed watch ends its event") {
    client zk(executor, shared_server().address());
    tally all;
    {
        paddock::watch changed(zk);
        co_await zk.get("/", changed);
        changed.event(all.expect());
        co_await let_others_run();
    }
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == asio::error::operation_aborted);
}

CO_TEST("a watch serves once") {
    fault_proxy proxy(shared_server().port());
    foreigner direct(shared_server().address());
    client zk(executor, proxy.address());
    const auto path = fresh_root();
    direct.create(path);
    paddock::watch changed(zk);
    co_await zk.get(path, changed);
    proxy.forget_frames();
    auto [error, read] = co_await zk.get(path, changed, no_throw);
    CHECK(error == errc::bad_argument);
    const auto [again, stat] = co_await zk.exists(path + "/b", changed, no_throw);
    CHECK(again == errc::bad_argument);
    const auto [bad, list] = co_await zk.children("no path", changed, no_throw);
    CHECK(bad == errc::bad_argument);
    CHECK(proxy.count(direction::up) == 0);
    CHECK_FALSE(changed.happened()); // the first use still counts
    direct.set(path, "2");
    const auto what = co_await latched(changed);
    CHECK(what == watch_event::changed);
    std::tie(error, read) = co_await zk.get(path, changed, no_throw);
    CHECK(error == errc::bad_argument);
}

CO_TEST("a moved watch hears, and one that is assigned to is disarmed") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    direct.make_path(root + "/a");
    direct.make_path(root + "/b");
    paddock::watch first(zk);
    co_await zk.get(root + "/a", first);
    paddock::watch moved(std::move(first));
    paddock::watch second(zk);
    co_await zk.get(root + "/b", second);
    second = std::move(moved);
    co_await eventually([&] { return watches_at(root + "/b") == 0; });
    CHECK(watches_at(root + "/a") == 1);
    direct.set(root + "/a", "x");
    const auto what = co_await latched(second);
    CHECK(what == watch_event::changed);
}
