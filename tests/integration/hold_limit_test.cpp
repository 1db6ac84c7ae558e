// The longest time of a hold: how it ends, what stays, and what releases the lock.

#include "support/background_task.hpp"
#include "support/lock_harness.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto longest = 250ms * time_scale;

mutex_options limited(std::chrono::milliseconds grace = 0ms,
                      std::chrono::milliseconds time = longest) {
    mutex_options options;
    options.hold_limit = {.longest = time, .grace = grace};
    return options;
}
/// For tests that do something else between the grant and the end of the hold.
mutex_options long_limited() { return limited(0ms, 4 * longest); }

template <class Options>
std::string complaint(std::function<void(const Options&)> make, hold_limit limit) {
    Options options;
    options.hold_limit = limit;
    try {
        make(options);
    } catch (const system_error& e) {
        CHECK(e.code() == errc::bad_argument);
        return e.what();
    }
    return {};
}

} // namespace

CO_TEST("a hold ends after its longest time, and its node stays until the guard goes") {
    scene s(executor, {}, limited());
    guard g = co_await s.lock.lock();
    const auto until = g.valid_until();
    CHECK(until <= boot_clock::now() + longest);
    const error_code why = co_await g.lost();
    CHECK(why == errc::hold_expired);
    CHECK(boot_clock::now() >= until);
    CHECK_FALSE(g.valid());
    CHECK(g.valid_until() == boot_clock::time_point());
    CHECK(s.queue().size() == 1);
    error_code end;
    try {
        co_await g.unlock();
    } catch (const system_error& e) {
        end = e.code();
    }
    CHECK(end == errc::lock_lost);
    co_await s.until_queue(0);
}

CO_TEST("a hold that is released in time ends as released, and the next one has all its time") {
    mutex_options options;
    options.hold_limit.longest = 3s;
    scene s(executor, {}, options);
    for (int i = 0; i < 3; ++i) {
        const auto before = boot_clock::now();
        guard g = co_await s.lock.lock();
        CHECK(g.valid());
        CHECK(g.valid_until() >= before + 3s);
        const auto end = end_of(g);
        co_await g.unlock();
        co_await finished(end);
        CHECK(end->error == errc::released);
    }
}

CO_TEST("valid() is false after the longest time even while the event loop is blocked") {
    scene s(executor, {}, limited());
    const guard g = co_await s.lock.lock();
    const auto end = end_of(const_cast<guard&>(g));
    while (boot_clock::now() < g.valid_until() || g.valid()) {
    }
    CHECK_FALSE(end->done()); // the loop has had no turn
    co_await finished(end);
    CHECK(end->error == errc::hold_expired);
}

CO_TEST("a call that finds its owner's hold over its longest time ends it as expired") {
    scene s(executor);
    const recursive_mutex again(s.zk, s.path, limited());
    const owner by;
    guard g = co_await again.lock(by);
    const auto end = end_of(g);
    const auto next = start<guard>([&](auto token) { again.try_lock(by, std::move(token)); });
    while (g.valid()) {
    }
    co_await finished(next);
    CHECK_FALSE(held(next));
    co_await finished(end);
    CHECK(end->error == errc::hold_expired);
}

CO_TEST("run and with cancel the work after the longest time, and release the lock") {
    scene s(executor, {}, limited());
    const auto work = [&] { return sleep_until_cancelled(executor); };
    error_code why, reason;
    std::string text;
    try {
        co_await s.lock.with(work);
    } catch (const lock_lost_error& e) {
        why = e.code();
        reason = e.reason();
        text = e.what();
    }
    CHECK(why == errc::lock_lost);
    CHECK(reason == errc::hold_expired);
    CHECK(text.find("the hold has reached its longest time: the lock is not held") == 0);
    CHECK(s.queue().empty());

    why = {};
    const guard kept = co_await s.lock.lock();
    try {
        co_await kept.run(work);
    } catch (const system_error& e) {
        why = e.code();
    }
    CHECK(why == errc::lock_lost);
    co_await s.until_queue(0); // although the guard exists
}

CO_TEST("the run() of a set releases the locks whose longest time is over, and no others") {
    scene s(executor, {}, long_limited());
    const mutex without(s.zk, s.path + "-without");
    const std::vector<mutex> both{s.lock, without};
    const guard_set all = co_await lock_all(both);
    const auto work = [&] { return sleep_until_cancelled(executor); };
    error_code reason;
    try {
        co_await all.run(work);
    } catch (const lock_lost_error& e) {
        reason = e.reason();
    }
    CHECK(reason == errc::hold_expired);
    co_await s.until_queue(0);
    CHECK(all[1].valid());
}

CO_TEST("work that ignores the cancellation keeps the lock until it has ended") {
    scene s(executor, {}, limited());
    const guard g = co_await s.lock.lock();
    const auto ignore = asio::as_tuple(asio::use_awaitable);
    const auto stubborn = [&]() -> asio::awaitable<int> {
        co_await asio::this_coro::throw_if_cancelled(false);
        while (g.valid())
            co_await g.lost(ignore);
        for (int i = 0; i < 3; ++i)
            co_await s.zk.sync("/", ignore);
        CHECK(s.queue().size() == 1);
        co_return 1;
    };
    const int result = co_await g.run(stubborn);
    CHECK(result == 1);
    co_await s.until_queue(0);
}

CO_TEST("after the grace the client releases the lock, although the guard exists") {
    scene s(executor);
    mutex limited_lock(s.zk, s.path, limited(50ms));
    const auto a = ask(limited_lock);
    co_await finished(a);
    CHECK_FALSE(a->error);
    const auto b = ask(s.lock);
    co_await granted(b);
    CHECK_FALSE(held(a).valid());
    CHECK(held(b).valid());
    held(a) = guard();
    CHECK(held(b).valid());
    co_await unlocked(b);
    co_await s.until_queue(0);
}

CO_TEST("every kind of lock has the limit") {
    scene s(executor);
    const hold_limit limit = long_limited().hold_limit;
    shared_mutex_options shared_options;
    shared_options.hold_limit = limit;
    semaphore_options permit_options;
    permit_options.hold_limit = limit;
    simple_mutex_options simple_options;
    simple_options.hold_limit = limit;
    election_options election_options;
    election_options.hold_limit = limit;
    const shared_mutex shared(s.zk, s.path + "-shared", shared_options);
    const semaphore permits(s.zk, s.path + "-permits", 2, permit_options);
    const simple_mutex simple(s.zk, s.path + "-simple", simple_options);
    const election votes(s.zk, s.path + "-votes", election_options);
    const recursive_mutex again(s.zk, s.path + "-again", long_limited());
    const mutex fair(s.zk, s.path + "-fair", long_limited());
    const owner by;
    std::vector<guard> all;
    all.push_back(co_await shared.lock_shared());
    all.push_back(co_await permits.acquire(2));
    all.push_back(co_await simple.lock());
    all.push_back(co_await votes.campaign());
    all.push_back(co_await again.lock(by));
    all.push_back(co_await again.lock(by));
    ticket place = co_await fair.enqueue();
    all.push_back(co_await place.acquired());
    CHECK(all[4].valid_until() == all[5].valid_until());
    for (const auto& one : all) {
        const error_code why = co_await one.lost();
        CHECK(why == errc::hold_expired);
        CHECK_FALSE(one.valid());
    }
}

CO_TEST("lock_all fails when a hold has reached its longest time before it has all locks") {
    scene s(executor, {}, limited());
    const mutex other(s.zk, s.path + "-other");
    const guard before = co_await other.lock();
    const std::vector<mutex> both{s.lock, other};
    const auto ignore = asio::as_tuple(asio::use_awaitable);
    const auto [why, none] = co_await lock_all(both, ignore);
    CHECK(why == errc::hold_expired);
    CHECK_FALSE(none);
    co_await s.until_queue(0);
}

CO_TEST("a limit that makes no sense is refused") {
    client zk(executor, "127.0.0.1:1");
    const auto mutex_complaint = [&](hold_limit limit) {
        return complaint<mutex_options>([&](const auto& o) { mutex(zk, "/a", o); }, limit);
    };
    CHECK(mutex_complaint({-1ms, 0ms}).starts_with("mutex_options::hold_limit.longest"));
    CHECK(mutex_complaint({1ms, -1ms}).starts_with("mutex_options::hold_limit.grace"));
    CHECK(mutex_complaint({0ms, 1ms}).starts_with("mutex_options::hold_limit.grace"));
    CHECK(mutex_complaint({std::chrono::milliseconds::max(), 0ms}).find("year") !=
          std::string::npos);
    CHECK(mutex_complaint({1ms, 1ms}).empty());
    const hold_limit bad{-1ms, 0ms};
    CHECK_FALSE(
        complaint<shared_mutex_options>([&](const auto& o) { shared_mutex(zk, "/a", o); }, bad)
            .empty());
    CHECK_FALSE(complaint<semaphore_options>([&](const auto& o) { semaphore(zk, "/a", 1, o); }, bad)
                    .empty());
    CHECK_FALSE(
        complaint<simple_mutex_options>([&](const auto& o) { simple_mutex(zk, "/a", o); }, bad)
            .empty());
    CHECK_FALSE(
        complaint<election_options>([&](const auto& o) { election(zk, "/a", o); }, bad).empty());
    CHECK_FALSE(complaint<mutex_options>([&](const auto& o) { recursive_mutex(zk, "/a", o); }, bad)
                    .empty());
    co_return;
}
