// Semaphores whose number of permits is a node that may change while callers wait.

#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

struct counted_scene : semaphore_scene {
    explicit counted_scene(asio::any_io_executor executor, std::int32_t seed,
                           const std::string& where = fresh_root() + "/limits/pool")
        : semaphore_scene(executor, seed, {.counter = where}), counter(where) {}
    std::string counter;
};

} // namespace

CO_TEST("a missing counter is created with the semaphore's own number of permits") {
    counted_scene s(executor, 300);
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    CHECK(s.direct.get(s.counter).data == shared_count(300));
    const auto seen = co_await s.pool.state();
    CHECK(seen.permits == 300);
    semaphore other(s.zk, s.path, 1,
                    {.counter = s.counter}); // its own number does not count any more
    const auto b = ask(other, 2);
    co_await granted(b);
}

CO_TEST("try_acquire does not create the counter when there are too few permits") {
    counted_scene s(executor, 1);
    co_await s.zk.connect();
    const auto a = ask_now(s.pool, 2);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held(a));
    CHECK_FALSE(s.direct.exists(s.counter));
    const auto b = ask_now(s.pool);
    co_await granted(b);
    CHECK(s.direct.get(s.counter).data == shared_count(1));
}

CO_TEST("a counter that grows wakes waiters, and one that shrinks ends no hold") {
    counted_scene s(executor, 1);
    const auto a = ask(s.pool);
    co_await granted(a);
    const auto b = ask(s.pool);
    const auto c = ask(s.pool, 2);
    co_await s.until(2, 2);
    co_await s.pool.set_permits(2);
    co_await granted(b);
    co_await s.until(4, 1);
    CHECK_FALSE(c->done());
    s.direct.set(s.counter, shared_count(4)); // as Curator would
    co_await granted(c);
    co_await s.pool.set_permits(1);
    CHECK(held(a).valid());
    CHECK(held(c).valid());
    const auto d = ask(s.pool);
    co_await s.until(5, 1);
    held(a) = guard();
    held(b) = guard();
    co_await s.until(3, 1);
    CHECK_FALSE(d->done());
    held(c) = guard();
    co_await granted(d);
}

CO_TEST("with zero permits every caller waits until there are some") {
    counted_scene s(executor, 5);
    co_await s.pool.set_permits(0);
    CHECK(s.direct.get(s.counter).data == shared_count(0));
    const auto tried = ask_now(s.pool);
    co_await finished(tried);
    CHECK_FALSE(held(tried));
    const auto a = ask(s.pool, 3);
    co_await s.until(3, 1);
    s.direct.set(s.counter, shared_count(-7));
    co_await s.zk.exists("/");
    CHECK_FALSE(a->done());
    co_await s.pool.set_permits(3);
    co_await granted(a);
}

CO_TEST("a counter that is deleted while a caller waits is created again") {
    counted_scene s(executor, 1);
    const auto theirs = s.foreign_lease();
    const auto a = ask(s.pool);
    co_await s.until(2, 1);
    co_await eventually([&] { return s.direct.exists(s.counter); });
    s.direct.remove(s.counter);
    co_await eventually([&] { return s.direct.exists(s.counter); });
    CHECK_FALSE(a->done());
    co_await s.pool.set_permits(2);
    co_await granted(a);
}

CO_TEST("a malformed counter is an error, and nothing stays") {
    counted_scene s(executor, 1);
    s.direct.make_path(s.counter);
    s.direct.set(s.counter, "many");
    s.direct.set(s.counter, "three");
    const auto a = ask(s.pool);
    co_await finished(a);
    CHECK(a->error == zk_errc::data_inconsistency);
    co_await s.until(0, 0);
    const auto b = ask_now(s.pool);
    co_await finished(b);
    CHECK(b->error == zk_errc::data_inconsistency);
    co_await s.pool.set_permits(2);
    const auto c = ask(s.pool, 2);
    co_await granted(c);
}

CO_TEST("the counter is read again after a lost connection") {
    counted_scene s(executor, 1);
    const auto a = ask(s.pool);
    co_await granted(a);
    const auto b = ask(s.pool);
    co_await s.until(2, 1);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    s.direct.set(s.counter, shared_count(2));
    s.proxy.refuse(false);
    co_await granted(b);
    CHECK(held(a).valid());
}

CO_TEST("set_permits waits for a connection until it is cancelled") {
    counted_scene s(executor, 1);
    co_await s.pool.set_permits(4);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::fin);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
    const auto never = start([&](auto token) { s.pool.set_permits(5, std::move(token)); });
    never->cancel();
    co_await finished(never);
    CHECK(never->error == asio::error::operation_aborted);
    const auto later = start([&](auto token) { s.pool.set_permits(6, std::move(token)); });
    s.proxy.refuse(false);
    co_await finished(later);
    CHECK_MESSAGE(!later->error, later->error.message());
    CHECK(s.direct.get(s.counter).data == shared_count(6));
    CHECK(s.direct.stat(s.counter)->version == 2); // one write for 4, one for 6, and no 5
}
