// What a program sees of its client's locks: events, statistics, health.

#include "support/lock_harness.hpp"
#include "support/ports.hpp"
#include "support/recording_observer.hpp"

#include <paddock/any_client.hpp>

#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <thread>

using namespace paddock;
using namespace paddock::test;
using words = std::vector<std::string>;

namespace {

client_options seen_by(std::shared_ptr<observer> by) {
    client_options options;
    options.observer = std::move(by);
    return options;
}

lock_statistics of(const client_statistics& all, std::string_view group, lock_kind kind) {
    const auto found = std::find_if(all.locks.begin(), all.locks.end(), [&](const auto& one) {
        return one.group == group && one.kind == kind;
    });
    REQUIRE(found != all.locks.end());
    return *found;
}

std::uint64_t lost_for(const lock_statistics& all, error_code why) {
    for (const auto& one : all.losses)
        if (one.why == why) return one.count;
    return 0;
}

/// The events of locks, without those of leases and sessions.
words of_locks(const recording_observer& heard) {
    words out;
    for (const auto& one : heard.events())
        for (const auto* const begin : {"waiting", "granted", "not granted", "ended"})
            if (one.starts_with(begin)) out.push_back(one);
    return out;
}

} // namespace

CO_TEST("a call and its hold are told once each, with path, label and kind") {
    const auto heard = std::make_shared<recording_observer>();
    scene s(executor, seen_by(heard), {.label = "a \"label\"\nin two lines"});
    guard hold = co_await s.lock.lock();
    CHECK(heard->last_label() == "a \"label\"\nin two lines");
    const auto busy = ask_now(s.lock);
    co_await finished(busy);
    const auto late = ask_for(s.lock, 30ms);
    co_await finished(late);
    const auto stopped = ask(s.lock);
    co_await s.until_queue(2);
    stopped->cancel();
    co_await finished(stopped);
    co_await hold.unlock();
    const auto here = "mutex " + s.path;
    CHECK(of_locks(*heard) ==
          words{"waiting " + here + " 1", "granted " + here, "waiting " + here + " 1",
                "not granted " + here + " busy", "waiting " + here + " 1",
                "not granted " + here + " timeout", "waiting " + here + " 1",
                "not granted " + here +
                    " cancelled: " + error_code(asio::error::operation_aborted).message(),
                "ended " + here + ": " + error_code(errc::released).message()});
    const auto all = s.zk.statistics();
    const auto one = of(all, s.path, lock_kind::mutex);
    CHECK(one.granted() == 1);
    for (const auto how : {wait_outcome::busy, wait_outcome::timeout, wait_outcome::cancelled})
        CHECK(one.waited_until(how).count() == 1);
    CHECK(one.waited_until(wait_outcome::timeout).sum >= 30ms);
    CHECK(one.waited_until(wait_outcome::error).count() == 0);
    CHECK(one.released.count() == 1);
    CHECK(one.waiters == 0);
    CHECK(one.holds == 0);
}

CO_TEST("every kind of lock is told as what it is") {
    const auto heard = std::make_shared<recording_observer>();
    client zk(executor, shared_server().address(), seen_by(heard));
    const auto root = fresh_root();
    const owner me;
    const shared_mutex shared(zk, root + "/s");
    const recursive_mutex recursive(zk, root + "/r");
    const recursive_shared_mutex reentrant(zk, root + "/rs");
    const election votes(zk, root + "/e", {.id = "candidate"});
    const semaphore pool(zk, root + "/p", 3);
    const simple_mutex simple(zk, root + "/x");
    const lock_family family(zk, root + "/f");
    const mutex sticky(zk, root + "/sticky", {.linger = 1s});
    words expected;
    const auto expect = [&](std::string_view kind, const std::string& path,
                            const std::string& group = {}) {
        const auto here = std::string(kind) + ' ' + path + (group.empty() ? "" : " in " + group);
        expected.insert(expected.end(),
                        {"waiting " + here + " 1", "granted " + here,
                         "ended " + here + ": " + error_code(errc::released).message()});
    };
    guard g = co_await shared.lock_shared();
    co_await g.unlock();
    expect("shared_mutex", root + "/s");
    g = co_await recursive.lock(me);
    co_await g.unlock();
    expect("recursive_mutex", root + "/r");
    g = co_await reentrant.lock_shared(me);
    co_await g.unlock();
    expect("recursive_shared_mutex", root + "/rs");
    g = co_await votes.campaign();
    CHECK(heard->last_label() == "candidate");
    co_await g.unlock();
    expect("election", root + "/e");
    g = co_await pool.acquire(2);
    co_await g.unlock();
    expect("semaphore", root + "/p");
    g = co_await simple.lock();
    co_await g.unlock();
    expect("simple_mutex", root + "/x");
    g = co_await family.lock("key");
    co_await g.unlock();
    expect("mutex", root + "/f/key", root + "/f");
    for (int n = 0; n < 2; ++n) {
        g = co_await sticky.lock();
        co_await g.unlock();
        expect("mutex", root + "/sticky");
    }
    const std::vector<lock_request> both{mutex(zk, root + "/1"),
                                         exclusive(shared_mutex(zk, root + "/2"))};
    guard_set all = co_await lock_all(both);
    co_await all.unlock();
    const auto told = of_locks(*heard);
    REQUIRE(told.size() == expected.size() + 6); // lock_all() is the calls of its locks
    CHECK(words(told.begin(), told.end() - 6) == expected);
    const auto statistics = zk.statistics();
    CHECK(of(statistics, root + "/p", lock_kind::semaphore).granted() == 1);
    CHECK(of(statistics, root + "/1", lock_kind::mutex).granted() == 1);
    CHECK(of(statistics, root + "/2", lock_kind::shared_mutex).released.count() == 1);
    co_await zk.close();
}

CO_TEST("a hold that is lost is counted under its reason") {
    const auto heard = std::make_shared<recording_observer>();
    scene s(executor, seen_by(heard));
    guard kicked = co_await s.lock.lock();
    const auto lost = end_of(kicked);
    s.direct.remove(std::string(kicked.path()));
    co_await finished(lost);
    kicked = guard();
    guard last = co_await s.lock.lock();
    co_await s.zk.close();
    const auto one = of(s.zk.statistics(), s.path, lock_kind::mutex);
    CHECK(lost_for(one, errc::node_deleted) == 1);
    CHECK(lost_for(one, errc::closed) == 1);
    CHECK(one.lost.count() == 2);
    CHECK(one.released.count() == 0);
    CHECK(one.holds == 0);
    const auto ends = heard->events("ended");
    CHECK(ends.size() == 2);
}

CO_TEST("series exist from construction on, and a family or group has one") {
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    const lock_family family(zk, root + "/family");
    const mutex a(zk, root + "/a", {.group = "jobs"});
    const mutex b(zk, root + "/b", {.group = "jobs"});
    const election votes(zk, root + "/e");
    CHECK(zk.statistics().locks.size() == 3);
    CHECK(of(zk.statistics(), root + "/e", lock_kind::election).holds == 0);
    for (int n = 0; n < 300; ++n) {
        guard g = co_await family.lock("key" + std::to_string(n));
        co_await g.unlock();
    }
    guard first = co_await a.lock();
    guard second = co_await b.lock();
    co_await eventually([&] { return zk.statistics().watches >= 2; }); // of holds that last
    const auto now = zk.statistics();
    CHECK(now.locks.size() == 3);
    CHECK(of(now, root + "/family", lock_kind::mutex).granted() == 300);
    CHECK(of(now, "jobs", lock_kind::mutex).holds == 2);
    CHECK(now.state == client_state::connected);
    CHECK(now.epoch == 1);
    CHECK(now.lease_remaining > 0s);
    CHECK(now.servers.at(0).server == zk.server());
    CHECK(now.servers.at(0).usable);
    CHECK(now.servers.at(0).writes.count() >= 600);
    CHECK(now.node_path_bytes.used > 0);
    CHECK(now.node_path_bytes.limit <= client_budgets().node_path_bytes);
    CHECK(now.watched_path_bytes.used > 0);
    co_await zk.close();
    CHECK(zk.statistics().node_path_bytes.used == 0);
}

CO_TEST("a group that is not acceptable is refused, and named") {
    client zk(executor, shared_server().address());
    for (const auto& group : {std::string("\xff"), std::string(513, 'g')}) {
        const auto refused = [&](auto make) {
            try {
                make();
            } catch (const system_error& e) {
                CHECK(e.code() == errc::bad_argument);
                return std::string(e.what()).find("::group") != std::string::npos;
            }
            return false;
        };
        CHECK(refused([&] { mutex(zk, "/a", {.group = group}); }));
        CHECK(refused([&] { shared_mutex(zk, "/a", {.group = group}); }));
        CHECK(refused([&] { election(zk, "/a", {.group = group}); }));
        CHECK(refused([&] { semaphore(zk, "/a", 1, {.group = group}); }));
        CHECK(refused([&] { simple_mutex(zk, "/a/b", {.group = group}); }));
    }
    CHECK(zk.statistics().locks.empty());
    co_return;
}

CO_TEST("an observer that destroys its client, or throws, harms nobody") {
    const auto heard = std::make_shared<recording_observer>();
    auto options = seen_by(heard);
    std::atomic<int> reports = 0;
    options.log = [&](const log_record& line) {
        reports += line.code == log_code::observer_failed;
    };
    std::optional<client> zk(std::in_place, executor, shared_server().address(), options);
    const mutex lock(*zk, fresh_root() + "/lock");
    heard->then = [&](const std::string& event) {
        if (event.starts_with("granted")) zk.reset();
        throw std::runtime_error("of the observer");
    };
    mutex same = lock;
    const auto call = ask(same);
    co_await finished(call);
    CHECK_FALSE(call->error);
    guard g = std::move(held(call));
    co_await eventually([&] { return !g.valid(); });
    co_await eventually([&] { return heard->events("ended").size() == 1; });
    CHECK(reports == 1);
    heard->then = {};
}

CO_TEST("an observer that blocks for a second delays the loop, which is told") {
    const auto heard = std::make_shared<recording_observer>();
    auto options = seen_by(heard);
    options.session_timeout = 4s;
    scene s(executor, options);
    heard->then = [&](const std::string& event) {
        if (event.starts_with("granted")) std::this_thread::sleep_for(1s);
    };
    guard g = co_await s.lock.lock();
    heard->then = {};
    co_await eventually([&] { return !heard->events("delay").empty(); });
    CHECK(g.valid());
    const auto delays = s.zk.statistics().loop_delay;
    CHECK(delays.sum >= 300ms); // a beat comes every 640 ms
    co_await g.unlock();
}

CO_TEST("eight threads read the statistics while the client works and closes") {
    const auto heard = std::make_shared<recording_observer>();
    scene s(executor, seen_by(heard));
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> readers;
    for (int n = 0; n < 8; ++n)
        readers.emplace_back([&](std::stop_token over) {
            while (!over.stop_requested()) {
                const auto now = s.zk.statistics();
                for (const auto& one : now.locks)
                    if (one.holds + one.released.count() + one.lost.count() != one.granted() &&
                        one.holds + one.released.count() + one.lost.count() != one.granted() + 1)
                        ++wrong; // a hold begins just before its call is told to be granted
                if (s.zk.health().reason.empty()) ++wrong;
                std::this_thread::sleep_for(1ms);
            }
        });
    for (int n = 0; n < 50; ++n) {
        guard g = co_await s.lock.lock();
        co_await g.unlock();
    }
    guard last = co_await s.lock.lock();
    co_await s.zk.close();
    readers.clear();
    CHECK(wrong == 0);
}

CO_TEST("health: ready only while connected, alive although the ensemble is away") {
    scene s(executor);
    auto now = s.zk.health();
    CHECK(now.alive);
    CHECK_FALSE(now.ready);
    CHECK(now.reason.starts_with("no connection yet"));
    s.proxy.refuse(true);
    const auto connects = start<>([&](auto token) { s.zk.connect(std::move(token)); });
    co_await eventually([&] { return s.zk.health().reason.starts_with("connecting: "); });
    now = s.zk.health();
    CHECK(now.alive);
    CHECK_FALSE(now.ready);
    s.proxy.refuse(false);
    co_await finished(connects);
    now = s.zk.health();
    CHECK(now.alive);
    CHECK(now.ready);
    CHECK(now.reason == "connected to " + s.zk.server());
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::fin);
    co_await eventually([&] { return !s.zk.health().ready; });
    now = s.zk.health();
    CHECK(now.alive);
    CHECK(now.reason.find("no connection") != std::string::npos);
    s.proxy.refuse(false);
    co_await eventually([&] { return s.zk.health().ready; });

    guard g = co_await s.lock.lock();
    const auto drains = start<>([&](auto token) { s.zk.drain(1h, std::move(token)); });
    co_await eventually([&] { return !s.zk.health().ready; });
    CHECK(s.zk.health().reason.find("draining") != std::string::npos);
    CHECK(s.zk.health().alive);
    co_await g.unlock();
    co_await finished(drains);
    CHECK(s.zk.health().reason == "closed");
    CHECK(s.zk.health().alive);
    CHECK_FALSE(s.zk.health().ready);
}

TEST_CASE("health: a loop that does not run is told after the session timeout, until it runs") {
    asio::io_context io;
    client_options options;
    options.session_timeout = 1s;
    client zk(io, "127.0.0.1:1", options);
    CHECK(zk.health().alive);
    const auto begun = std::chrono::steady_clock::now();
    while (zk.health().alive) {
        REQUIRE(std::chrono::steady_clock::now() - begun < 30s);
        std::this_thread::sleep_for(10ms);
    }
    CHECK(std::chrono::steady_clock::now() - begun >= 1s);
    CHECK(zk.health().reason.starts_with("the event loop has not run for "));
    io.poll();
    CHECK(zk.health().alive);
}

CO_TEST("a client of any system shows the same") {
    const auto heard = std::make_shared<recording_observer>();
    any_client_options options;
    options.observer = heard;
    any_client any(executor, "zk://" + shared_server().address(), options);
    const auto lock = any.mutex(fresh_root() + "/lock");
    guard g = co_await lock.lock();
    CHECK(any.statistics().locks.at(0).holds == 1);
    CHECK(any.health().ready);
    co_await g.unlock();
    CHECK(heard->events("ended").size() == 1);
    co_await any.close();
}
