// The recursive mutex on Redis: an owner locks it again without a request.

#include "support/redis_harness.hpp"

#include <paddock/redis/recursive_mutex.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

using paddock::test::ask_now;

static_assert(async_lockable<redis::recursive_mutex, owner>);
static_assert(!async_lockable<redis::recursive_mutex>);

lock_call ask(const redis::recursive_mutex& m, owner by) {
    return start<guard>([&](auto token) { m.lock(by, std::move(token)); });
}
lock_call ask_now(const redis::recursive_mutex& m, owner by) {
    return start<guard>([&](auto token) { m.try_lock(by, std::move(token)); });
}
lock_call ask_for(const redis::recursive_mutex& m, owner by, std::chrono::nanoseconds limit) {
    return start<guard>([&](auto token) { m.try_lock_for(by, limit, std::move(token)); });
}
under_way<> ask_servers(const guard& g) {
    return start([&](auto token) { g.verify(std::move(token)); });
}

} // namespace

CO_TEST("an owner relocks, and the last of its guards releases the lock") {
    redis_scene s(executor, 3);
    const redis::recursive_mutex lock(s.client, s.name), same(s.client, s.name);
    const owner me, other;
    const auto first = ask(lock, me);
    co_await granted(first);
    const auto token = held(first).fencing_token();
    const auto again = ask(same, me);
    const auto tried = ask_now(lock, me);
    const auto limited = ask_for(lock, me, 1s);
    for (const auto& one : {again, tried, limited}) {
        co_await granted(one);
        CHECK(held(one).fencing_token() == token);
    }
    const auto theirs = ask(lock, other);
    const auto now = ask_now(lock, other);
    co_await finished(now);
    CHECK_FALSE(held(now));
    co_await unlocked(first); // at once: the others keep the lock
    CHECK_FALSE(theirs->done());
    CHECK(held(again).valid());
    held(tried) = guard();
    held(limited) = guard();
    co_await unlocked(again);
    co_await granted(theirs);
    CHECK(held(theirs).fencing_token() > token);
    co_await unlocked(theirs);
}

CO_TEST("the longest time of a hold counts from its own beginning") {
    constexpr auto longest = 500ms * time_scale;
    redis_scene s(executor);
    redis::mutex_options options;
    options.hold_limit.longest = longest;
    const redis::recursive_mutex lock(s.client, s.name), limited(s.client, s.name, options);
    const owner me;
    const auto first = ask(lock, me);
    co_await granted(first);
    const auto since = boot_clock::now();
    co_await eventually([&] { return boot_clock::now() - since > longest; });
    const auto again = ask(limited, me);
    co_await granted(again);
    CHECK(held(again).valid());
    co_await eventually([&] { return !held(again).valid(); });
    CHECK(held(first).valid());
    held(again) = guard();
    co_await unlocked(first);
}

CO_TEST("the end of one guard does not fail the verify of another") {
    redis_scene s(executor, 1);
    const redis::recursive_mutex lock(s.client, s.name);
    const owner me;
    const auto first = ask(lock, me);
    const auto second = ask(lock, me);
    co_await granted(second);
    const auto of_first = ask_servers(held(first));
    const auto of_second = ask_servers(held(second));
    co_await unlocked(second);
    co_await finished(of_first);
    CHECK_FALSE(of_first->error);
    co_await finished(of_second);
    CHECK(of_second->error == errc::lock_lost);
    co_await unlocked(first);
}

CO_TEST("calls of one owner that wait are granted together") {
    redis_scene s(executor, 1);
    const redis::recursive_mutex lock(s.client, s.name);
    const owner me, other;
    const auto first = ask(lock, other);
    co_await granted(first);
    const std::vector<lock_call> mine{ask(lock, me), ask(lock, me)};
    const auto between = ask(lock, other);
    co_await granted(between); // the owner has the lock
    const auto last = ask(lock, me);
    co_await unlocked(first);
    CHECK_FALSE(mine[0]->done());
    co_await unlocked(between);
    for (const auto& one : {mine[0], mine[1], last})
        co_await granted(one);
    for (const auto& one : {mine[0], mine[1], last})
        co_await unlocked(one);
    CHECK(s.keys() == 0);
}

CO_TEST("an owner with guards of a lost hold is told so, until they are gone") {
    redis_scene s(executor, 1, new_servers(1500ms * time_scale));
    const redis::recursive_mutex lock(s.client, s.name);
    const owner me, other;
    const auto first = ask(lock, me);
    const auto second = ask(lock, me);
    co_await granted(first);
    co_await granted(second);
    const auto ends = std::vector{end_of(held(first)), end_of(held(second))};
    s.foreigner_takes_it();
    for (const auto& one : ends) {
        co_await finished(one);
        CHECK(one->error == errc::node_deleted);
    }
    const auto refused = ask(lock, me);
    co_await finished(refused);
    CHECK(refused->error == errc::lock_lost);
    const auto theirs = ask(lock, other);
    held(first) = guard();
    held(second) = guard();
    s.foreigner_gives_it_back();
    co_await granted(theirs);
    const auto next = ask(lock, me);
    co_await unlocked(theirs);
    co_await granted(next);
    co_await unlocked(next);
}

CO_TEST("a mutex and a recursive mutex with one name exclude each other") {
    redis_scene s(executor, 1);
    const redis::recursive_mutex lock(s.client, s.name);
    const owner me;
    const auto first = ask(lock, me);
    co_await granted(first);
    const auto plain = ask_now(s.lock);
    co_await finished(plain);
    CHECK_FALSE(plain->error);
    CHECK_FALSE(held(plain));
    co_await unlocked(first);
    int runs = 0;
    const auto inner = [&]() -> asio::awaitable<void> {
        ++runs;
        co_return;
    };
    const auto outer = [&]() -> asio::awaitable<void> { co_await lock.with(me, inner); };
    co_await lock.with(me, outer);
    CHECK(runs == 1);
}
