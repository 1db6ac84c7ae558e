// Every operation of the locks with the completion tokens of Asio.

#include "support/counting_allocator.hpp"
#include "support/lock_harness.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// Objects of all kinds, and calls of their operations. Results that hold a lock release it.
class every_operation {
public:
    every_operation(client& zk, const std::string& path)
        : zk_(zk)
        , fair_(zk, path + "/fair")
        , shared_(zk, path + "/shared")
        , again_(zk, path + "/again")
        , again_shared_(zk, path + "/again-shared")
        , simple_(zk, path + "/simple")
        , permits_(zk, path + "/permits", 1000)
        , votes_(zk, path + "/votes")
        , keys_(zk, path + "/keys")
        , shared_keys_(zk, path + "/shared-keys")
        , set_{mutex(zk, path + "/set-1"), shared(shared_mutex(zk, path + "/set-2")),
               permits(semaphore(zk, path + "/set-3", 1000), 2)} {}

    /// Calls `call(operation)` for each; `operation(token)` starts it.
    template <class Call>
    void each(Call call) const {
        call([m = fair_](auto token) { return m.lock(token); });
        call([m = fair_](auto token) { return m.try_lock(token); });
        call([m = fair_](auto token) { return m.try_lock_for(1h, token); });
        call([m = fair_](auto token) { return m.try_lock_until(later(), token); });
        call([m = fair_](auto token) { return m.enqueue(token); });
        call([m = fair_](auto token) { return m.contenders(token); });
        each_shared(call);
        each_recursive(call);
        call([m = simple_](auto token) { return m.lock(token); });
        call([m = simple_](auto token) { return m.try_lock(token); });
        call([m = simple_](auto token) { return m.try_lock_for(1h, token); });
        call([m = simple_](auto token) { return m.try_lock_until(later(), token); });
        call([m = permits_](auto token) { return m.acquire(token); });
        call([m = permits_](auto token) { return m.acquire(2, token); });
        call([m = permits_](auto token) { return m.try_acquire(token); });
        call([m = permits_](auto token) { return m.try_acquire(2, token); });
        call([m = permits_](auto token) { return m.try_acquire_for(1h, token); });
        call([m = permits_](auto token) { return m.try_acquire_for(2, 1h, token); });
        call([m = permits_](auto token) { return m.try_acquire_until(later(), token); });
        call([m = permits_](auto token) { return m.try_acquire_until(2, later(), token); });
        call([m = votes_](auto token) { return m.campaign(token); });
        call([m = votes_](auto token) { return m.try_campaign(token); });
        call([m = votes_](auto token) { return m.try_campaign_for(1h, token); });
        call([m = votes_](auto token) { return m.try_campaign_until(later(), token); });
        call([m = votes_](auto token) { return m.leader(token); });
        call([m = votes_](auto token) { return m.participants(token); });
        call([m = votes_](auto token) { return m.set_id(guard(), "id", token); });
        each_keyed(call);
        call([s = set_](auto token) { return lock_all(s, token); });
        call([s = set_](auto token) { return try_lock_all(s, token); });
        call([s = set_](auto token) { return try_lock_all_for(s, 1h, token); });
        call([s = set_](auto token) { return try_lock_all_until(s, later(), token); });
        call([c = &zk_](auto token) { return c->connect_for(1h, token); });
        call([c = &zk_](auto token) { return c->connect_until(later(), token); });
        call([](auto token) { return guard().unlock(token); });
        call([](auto token) { return guard().lost(token); });
        call([](auto token) { return guard_set().unlock(token); });
        call([](auto token) { return guard_set().lost(token); });
        call([](auto token) { return ticket().acquired(token); });
    }

private:
    static std::chrono::steady_clock::time_point later() {
        return std::chrono::steady_clock::now() + 1h;
    }

    template <class Call>
    void each_shared(Call call) const {
        call([m = shared_](auto token) { return m.lock(token); });
        call([m = shared_](auto token) { return m.try_lock(token); });
        call([m = shared_](auto token) { return m.try_lock_for(1h, token); });
        call([m = shared_](auto token) { return m.try_lock_until(later(), token); });
        call([m = shared_](auto token) { return m.lock_shared(token); });
        call([m = shared_](auto token) { return m.try_lock_shared(token); });
        call([m = shared_](auto token) { return m.try_lock_shared_for(1h, token); });
        call([m = shared_](auto token) { return m.try_lock_shared_until(later(), token); });
        call([m = shared_](auto token) { return m.enqueue(token); });
        call([m = shared_](auto token) { return m.enqueue_shared(token); });
        call([m = shared_](auto token) { return m.contenders(token); });
    }

    template <class Call>
    void each_recursive(Call call) const {
        call([m = again_](auto token) { return m.lock(owner(), token); });
        call([m = again_](auto token) { return m.try_lock(owner(), token); });
        call([m = again_](auto token) { return m.try_lock_for(owner(), 1h, token); });
        call([m = again_](auto token) { return m.try_lock_until(owner(), later(), token); });
        call([m = again_shared_](auto token) { return m.lock(owner(), token); });
        call([m = again_shared_](auto token) { return m.try_lock(owner(), token); });
        call([m = again_shared_](auto token) { return m.try_lock_for(owner(), 1h, token); });
        call([m = again_shared_](auto token) { return m.try_lock_until(owner(), later(), token); });
        call([m = again_shared_](auto token) { return m.lock_shared(owner(), token); });
        call([m = again_shared_](auto token) { return m.try_lock_shared(owner(), token); });
        call([m = again_shared_](auto token) { return m.try_lock_shared_for(owner(), 1h, token); });
        call([m = again_shared_](auto token) {
            return m.try_lock_shared_until(owner(), later(), token);
        });
    }

    template <class Call>
    void each_keyed(Call call) const {
        call([m = keys_](auto token) { return m.lock("key", token); });
        call([m = keys_](auto token) { return m.lock("", token); });
        call([m = keys_](auto token) { return m.try_lock("key", token); });
        call([m = keys_](auto token) { return m.try_lock_for("key", 1h, token); });
        call([m = keys_](auto token) { return m.try_lock_until("key", later(), token); });
        call([m = keys_](auto token) { return m.enqueue("key", token); });
        call([m = keys_](auto token) { return m.contenders("key", token); });
        call([m = shared_keys_](auto token) { return m.lock("key", token); });
        call([m = shared_keys_](auto token) { return m.try_lock("key", token); });
        call([m = shared_keys_](auto token) { return m.try_lock_for("key", 1h, token); });
        call([m = shared_keys_](auto token) { return m.try_lock_until("key", later(), token); });
        call([m = shared_keys_](auto token) { return m.lock_shared("key", token); });
        call([m = shared_keys_](auto token) { return m.try_lock_shared("key", token); });
        call([m = shared_keys_](auto token) { return m.try_lock_shared_for("key", 1h, token); });
        call([m = shared_keys_](auto token) {
            return m.try_lock_shared_until("key", later(), token);
        });
        call([m = shared_keys_](auto token) { return m.enqueue("key", token); });
        call([m = shared_keys_](auto token) { return m.enqueue_shared("key", token); });
        call([m = shared_keys_](auto token) { return m.contenders("key", token); });
    }

    client& zk_;
    mutex fair_;
    shared_mutex shared_;
    recursive_mutex again_;
    recursive_shared_mutex again_shared_;
    simple_mutex simple_;
    semaphore permits_;
    election votes_;
    lock_family keys_;
    shared_lock_family shared_keys_;
    std::vector<lock_request> set_;
};

/// What happened to the handler of one operation.
struct fate {
    int objects = 0, ever = 0; ///< in memory of its allocator
    int calls = 0;
    error_code error;
};

using strand = asio::strand<asio::io_context::executor_type>;

/// Of one type for all operations: the compiler has less to do.
struct fate_handler {
    fate& one;
    const strand& expected;
    const bool& starting;

    template <class... Result>
    void operator()(error_code why, const Result&...) const {
        CHECK_FALSE(starting);
        CHECK(expected.running_in_this_thread());
        CHECK(one.objects == 0);
        one.error = why;
        ++one.calls;
    }
};

using concrete = asio::awaitable<void, asio::io_context::executor_type>;

template <class Operation>
concrete await_deferred(Operation operation, error_code& why) {
    try {
        static_cast<void>(co_await operation(asio::deferred));
    } catch (const system_error& e) {
        why = e.code();
    }
}

/// Of the operations above: the empty objects, the empty key, and the id of an empty guard.
constexpr std::ptrdiff_t bad_arguments = 7;

} // namespace

CO_TEST("every handler runs once, later, on its strand, when its allocator has all memory back") {
    client zk(executor, shared_server().address());
    co_await zk.connect();
    const every_operation operations(zk, fresh_root());
    const strand on(io.get_executor());
    std::deque<fate> all;
    bool starting = false;
    operations.each([&](auto start) {
        auto& one = all.emplace_back();
        const counting_allocator<void> memory(one.objects, one.ever);
        starting = true;
        start(
            asio::bind_executor(on, asio::bind_allocator(memory, fate_handler{one, on, starting})));
        starting = false;
    });
    const auto called = [](const fate& one) { return one.calls > 0; };
    co_await eventually([&] { return std::all_of(all.begin(), all.end(), called); });
    co_await zk.close(); // a second call would come before
    for (const auto& one : all) {
        CHECK(one.calls == 1);
        CHECK(one.ever > 0);
        CHECK((!one.error || one.error == errc::bad_argument));
    }
    CHECK(std::count_if(all.begin(), all.end(), [](const fate& one) {
              return one.error == errc::bad_argument;
          }) == bad_arguments);
}

CO_TEST("a coroutine on an executor of a concrete type awaits every operation as deferred") {
    client zk(executor, shared_server().address());
    const every_operation operations(zk, fresh_root());
    std::vector<std::function<concrete(error_code&)>> works;
    operations.each([&](auto start) {
        works.push_back([start](error_code& why) { return await_deferred(start, why); });
    });
    std::vector<error_code> errors(works.size());
    std::optional<std::exception_ptr> end;
    const auto all = [&]() -> concrete {
        for (std::size_t i = 0; i < works.size(); ++i)
            co_await works[i](errors[i]);
    };
    asio::co_spawn(io.get_executor(), all, [&](std::exception_ptr failure) { end = failure; });
    co_await eventually([&] { return end.has_value(); });
    CHECK_FALSE(*end);
    CHECK(std::count(errors.begin(), errors.end(), error_code()) ==
          std::ssize(errors) - bad_arguments);
}

TEST_CASE("a thread that may wait gets a future for every operation") {
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    std::thread runner([&] { io.run(); });
    {
        client zk(io.get_executor(), shared_server().address());
        const every_operation operations(zk, fresh_root());
        operations.each([&](auto start) {
            auto result = start(asio::use_future);
            result.wait();
            CHECK(result.valid());
        });
        zk.close(asio::use_future).wait();
    }
    work.reset();
    runner.join();
}

CO_TEST("the handler may be type-erased") {
    client zk(executor, shared_server().address());
    const mutex lock(zk, fresh_root() + "/lock");
    guard held;
    std::optional<error_code> why;
    asio::any_completion_handler<void(error_code, guard)> erased = [&](error_code e, guard g) {
        held = std::move(g);
        why = e;
    };
    lock.lock(std::move(erased));
    co_await eventually([&] { return why.has_value(); });
    CHECK(why == error_code());
    CHECK(held.valid());
}
