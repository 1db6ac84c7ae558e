// The forms that all locks share, and the concept of a lock that has them.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A lock that a user wrote for a test: it is always free.
struct fake_lock {
    asio::any_io_executor get_executor() const { return asio::system_executor(); }
    asio::awaitable<guard> lock() const { co_return guard(); }
    asio::awaitable<guard> try_lock() const { return lock(); }
    asio::awaitable<guard> try_lock_for(std::chrono::nanoseconds) const { return lock(); }
    asio::awaitable<guard> try_lock_until(std::chrono::steady_clock::time_point) const {
        return lock();
    }
    asio::awaitable<void> with(auto work) const { co_await work(); }
    asio::awaitable<bool> try_with(auto work) const {
        co_await work();
        co_return true;
    }
    asio::awaitable<bool> try_with_for(std::chrono::nanoseconds, auto work) const {
        return try_with(work);
    }
    asio::awaitable<bool> try_with_until(std::chrono::steady_clock::time_point, auto work) const {
        return try_with(work);
    }
};

/// One without the forms that run work.
struct half_a_lock {
    asio::any_io_executor get_executor() const { return asio::system_executor(); }
    asio::awaitable<guard> lock() const { co_return guard(); }
    asio::awaitable<guard> try_lock() const { return lock(); }
};

using key = std::string_view;

static_assert(async_lockable<mutex> && async_lockable<const mutex> && async_lockable<mutex&>);
static_assert(async_lockable<shared_mutex> && async_lockable<simple_mutex>);
static_assert(async_lockable<any_mutex>);
static_assert(async_lockable<recursive_mutex, owner>);
static_assert(async_lockable<recursive_shared_mutex, owner>);
static_assert(async_lockable<lock_family, key> && async_lockable<lock_family, std::string>);
static_assert(async_lockable<shared_lock_family, key> && async_lockable<any_lock_family, key>);
static_assert(async_lockable<fake_lock>);

static_assert(!async_lockable<half_a_lock>);
static_assert(!async_lockable<mutex, owner> && !async_lockable<mutex, key>);
static_assert(!async_lockable<recursive_mutex> && !async_lockable<recursive_mutex, key>);
static_assert(!async_lockable<recursive_shared_mutex>);
static_assert(!async_lockable<lock_family> && !async_lockable<shared_lock_family>);
static_assert(!async_lockable<any_lock_family>);
static_assert(!async_lockable<semaphore> && !async_lockable<election>);
static_assert(!async_lockable<guard> && !async_lockable<ticket> && !async_lockable<client>);
static_assert(!async_lockable<std::mutex> && !async_lockable<int> && !async_lockable<void>);

// The bases have no state, and are nothing by themselves.
static_assert(sizeof(mutex) == sizeof(std::shared_ptr<void>));
static_assert(sizeof(recursive_shared_mutex) == sizeof(std::shared_ptr<void>));
static_assert(!std::is_destructible_v<lockable<mutex>>);
static_assert(!std::is_destructible_v<shared_lockable<shared_mutex>>);
static_assert(std::is_nothrow_move_constructible_v<mutex> && std::is_copy_assignable_v<mutex>);

int runs = 0;
asio::awaitable<void> work() {
    ++runs;
    co_return;
}

/// Takes the lock in every form, and finds it taken in every form that does not wait for ever.
template <typename Lock, typename Other, typename... Leading>
asio::awaitable<void> use_every_form(const Lock& lock, const Other& other,
                                     Leading... leading) requires async_lockable<Lock, Leading...> {
    const auto soon = [] { return std::chrono::system_clock::now() + 1ms; };
    const auto late = [] { return std::chrono::steady_clock::now() + 1h; };
    runs = 0;
    for (int n = 0; n < 4; ++n) {
        guard held;
        if (n == 0) held = co_await lock.lock(leading...);
        if (n == 1) held = co_await lock.try_lock(leading...);
        if (n == 2) held = co_await lock.try_lock_for(leading..., 1h);
        if (n == 3) held = co_await lock.try_lock_until(leading..., late());
        CAPTURE(n);
        CHECK(held.valid());
        const auto second = [&](auto... first) -> asio::awaitable<int> {
            guard none = co_await other.try_lock(first...);
            int taken = none ? 1 : 0;
            none = co_await other.try_lock_for(first..., 1ms);
            taken += none ? 1 : 0;
            none = co_await other.try_lock_until(first..., soon());
            taken += none ? 1 : 0;
            taken += co_await other.try_with(first..., work);
            taken += co_await other.try_with_for(first..., 1ms, work);
            taken += co_await other.try_with_until(first..., soon(), work);
            co_return taken;
        };
        int taken = 0;
        if constexpr ((std::is_same_v<Leading, owner> || ...))
            taken = co_await second(owner());
        else
            taken = co_await second(leading...);
        CHECK(taken == 0);
        co_await held.unlock();
    }
    CHECK(runs == 0);
    co_await lock.with(leading..., work);
    const bool tried = co_await lock.try_with(leading..., work);
    CHECK(tried);
    const bool in_time = co_await lock.try_with_for(leading..., 1h, work);
    CHECK(in_time);
    const bool until = co_await lock.try_with_until(leading..., late(), work);
    CHECK(until);
    CHECK(runs == 4);
}

} // namespace

// One case for each lock: torn down after each of its steps, one for all would take minutes.

CO_TEST("a mutex is taken in every form") {
    client zk(executor, shared_server().address());
    const mutex lock(zk, fresh_root() + "/lock");
    co_await zk.connect();
    co_await use_every_form(lock, lock);
}

CO_TEST("any mutex is taken in every form") {
    client zk(executor, shared_server().address());
    const mutex lock(zk, fresh_root() + "/lock");
    co_await zk.connect();
    const any_mutex any = lock;
    co_await use_every_form(any, lock);
}

CO_TEST("a shared mutex is taken in every form") {
    client zk(executor, shared_server().address());
    const shared_mutex lock(zk, fresh_root() + "/lock");
    co_await zk.connect();
    co_await use_every_form(lock, lock);
}

CO_TEST("a simple mutex is taken in every form") {
    client zk(executor, shared_server().address());
    const simple_mutex lock(zk, fresh_root() + "/lock");
    co_await zk.connect();
    co_await use_every_form(lock, lock);
}

CO_TEST("a recursive mutex is taken in every form") {
    client zk(executor, shared_server().address());
    const recursive_mutex lock(zk, fresh_root() + "/lock");
    co_await zk.connect();
    co_await use_every_form(lock, lock, owner());
}

CO_TEST("a recursive shared mutex is taken in every form") {
    client zk(executor, shared_server().address());
    const recursive_shared_mutex lock(zk, fresh_root() + "/lock");
    co_await zk.connect();
    co_await use_every_form(lock, lock, owner());
}

CO_TEST("the lock of a key is taken in every form") {
    client zk(executor, shared_server().address());
    const lock_family locks(zk, fresh_root() + "/locks");
    co_await zk.connect();
    co_await use_every_form(locks, locks, key("key"));
}

CO_TEST("the lock of a key of any family is taken in every form") {
    client zk(executor, shared_server().address());
    const lock_family locks(zk, fresh_root() + "/locks");
    co_await zk.connect();
    const any_lock_family any = locks;
    co_await use_every_form(any, locks, key("key"));
}

CO_TEST("the shared lock of a key is taken in every form") {
    client zk(executor, shared_server().address());
    const shared_lock_family locks(zk, fresh_root() + "/locks");
    co_await zk.connect();
    co_await use_every_form(locks, locks, key("key"));
}
