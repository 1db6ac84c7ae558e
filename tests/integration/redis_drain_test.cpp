// drain() of a client of Redis.

#include "support/redis_harness.hpp"

#include <paddock/any_client.hpp>
#include <paddock/redis/recursive_mutex.hpp>

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

CO_TEST("drain() of a client of Redis turns away who waits, and waits for the holder") {
    redis_scene s(executor);
    const auto holds = start<guard>([&](auto token) { s.lock.lock(std::move(token)); });
    co_await granted(holds);
    const auto waits = start<guard>([&](auto token) { s.lock.lock(std::move(token)); });
    co_await s.client.connect();
    const auto ends = start<>([&](auto token) { s.client.drain(1h, std::move(token)); });
    co_await finished(waits);
    CHECK(waits->error == errc::draining);
    CHECK(held(holds).valid());
    CHECK_FALSE(ends->done());
    const auto unlocks = give_back(held(holds));
    co_await finished(unlocks);
    CHECK_FALSE(unlocks->error);
    co_await finished(ends);
    CHECK_FALSE(ends->error);
    CHECK(s.keys() == 0);

    any_client any(executor, url_of(s.ports));
    const auto closes = start<>([&](auto token) { any.drain(1h, std::move(token)); });
    co_await finished(closes);
    CHECK_FALSE(closes->error);
}

CO_TEST("the owner of a lock on Redis takes it again while its client is drained") {
    redis_scene s(executor);
    const redis::recursive_mutex m(s.client, s.name);
    const owner holder, stranger;
    guard first = co_await m.lock(holder);
    const auto ends = start<>([&](auto token) { s.client.drain(1h, std::move(token)); });
    guard again = co_await m.lock(holder);
    CHECK(again.valid());
    const auto other = start<guard>([&](auto token) { m.lock(stranger, std::move(token)); });
    co_await finished(other);
    CHECK(other->error == errc::draining);
    co_await again.unlock();
    CHECK_FALSE(ends->done());
    co_await first.unlock();
    co_await finished(ends);
    CHECK_FALSE(ends->error);
}

CO_TEST("drain() tells when a client of Redis is closed while somebody has a guard") {
    redis_scene s(executor);
    const auto a = start<guard>([&](auto token) { s.lock.lock(std::move(token)); });
    co_await granted(a);
    const auto ends = start<>([&](auto token) { s.client.drain(1h, std::move(token)); });
    const auto late = start<guard>([&](auto token) { s.lock.lock(std::move(token)); });
    co_await finished(late);
    co_await s.client.close();
    co_await finished(ends);
    CHECK(ends->error == errc::lock_lost);
}
