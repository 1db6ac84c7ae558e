// Operations of empty and moved-from objects: each completes with bad_argument, later, and on the
// handler's executor.

#include "support/lock_harness.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/promise.hpp>
#include <boost/asio/experimental/use_promise.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>
#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// Counts completions, all of which must be refusals on the thread of the test.
struct refusals {
    explicit refusals(asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// A completion token. No handler may run from within the initiating function.
    auto token() {
        ++started;
        return asio::bind_executor(executor_, [this](error_code why, auto&&...) {
            CHECK(why == errc::bad_argument);
            CHECK(std::this_thread::get_id() == thread_);
            ++completed;
        });
    }
    asio::awaitable<void> all() {
        CHECK(completed == 0);
        co_await eventually([this] { return completed == started; });
    }

    int started = 0, completed = 0;

private:
    asio::any_io_executor executor_;
    std::thread::id thread_ = std::this_thread::get_id();
};

template <class Lock, class... Args>
constexpr bool takes_temporary_client = std::is_constructible_v<Lock, client, Args...>;

static_assert(!takes_temporary_client<mutex, const char*>);
static_assert(!takes_temporary_client<mutex, const char*, mutex_options>);
static_assert(!takes_temporary_client<shared_mutex, const char*>);
static_assert(!takes_temporary_client<recursive_mutex, const char*>);
static_assert(!takes_temporary_client<simple_mutex, const char*>);
static_assert(!takes_temporary_client<election, const char*>);
static_assert(!takes_temporary_client<semaphore, const char*, int>);
static_assert(!takes_temporary_client<watch>);
static_assert(std::is_constructible_v<mutex, client&, const char*>);

template <class Object>
constexpr bool
    has_executor = std::is_same_v<typename Object::executor_type, asio::any_io_executor>&& noexcept(
        std::declval<const Object&>().get_executor());

static_assert(has_executor<client> && has_executor<mutex> && has_executor<shared_mutex>);
static_assert(has_executor<recursive_mutex> && has_executor<semaphore>);
static_assert(has_executor<simple_mutex> && has_executor<election>);

/// An executor that a user wrote: it has no properties but its context.
struct plain_executor {
    asio::any_io_executor inside;

    template <typename Task>
    void execute(Task task) const {
        asio::post(inside, std::move(task));
    }
    asio::execution_context& query(asio::execution::context_t) const noexcept {
        return asio::query(inside, asio::execution::context);
    }
    bool operator==(const plain_executor&) const noexcept = default;
};

} // namespace

CO_TEST("results reach a handler whose executor a user wrote, and so do refusals") {
    client zk(executor, shared_server().address());
    mutex one(zk, fresh_root() + "/lock"), empty = std::move(one);
    std::swap(one, empty);
    std::vector<error_code> results;
    const auto token = [&] {
        return asio::bind_executor(plain_executor{executor},
                                   [&](error_code why, guard) { results.push_back(why); });
    };
    one.lock(token());
    co_await eventually([&] { return results.size() == 1; });
    empty.lock(token());
    CHECK(results.size() == 1);
    co_await eventually([&] { return results.size() == 2; });
    CHECK(!results[0]);
    CHECK(results[1] == errc::bad_argument);
    co_await zk.close();
}

CO_TEST("every operation of an empty guard is refused") {
    refusals r(executor);
    guard none;
    none.lost(r.token());
    none.revoke_requested(r.token());
    none.downgrade(r.token());
    none.upgrade(r.token());
    none.unlock(r.token());
    none.verify(r.token());
    none.transaction({}, r.token());
    co_await r.all();
    int runs = 0;
    error_code why;
    try {
        co_await none.run([&]() -> asio::awaitable<void> {
            ++runs;
            co_return;
        });
    } catch (const system_error& e) {
        why = e.code();
    }
    CHECK(why == errc::bad_argument);
    CHECK(runs == 0);
}

CO_TEST("every operation of an empty set, ticket or watch is refused") {
    refusals r(executor);
    guard_set set;
    set.lost(r.token());
    set.unlock(r.token());
    ticket place;
    place.holder(r.token());
    place.next_change(r.token());
    place.acquired(r.token());
    client zk(executor, "127.0.0.1:1");
    watch changed(zk);
    const watch to(std::move(changed));
    changed.event(r.token());
    co_await r.all();
    CHECK(zk.state() == client_state::connecting);
}

CO_TEST("a client that is moved to itself goes on") {
    client zk(executor, shared_server().address());
    auto& same = zk;
    zk = std::move(same);
    co_await zk.connect();
}

CO_TEST("every operation of a client that was moved from is refused") {
    refusals r(executor);
    client zk(executor, "127.0.0.1:1");
    const client to(std::move(zk));
    CHECK(zk.state() == client_state::closed);
    CHECK(zk.epoch() == 0);
    CHECK(zk.session_id() == 0);
    CHECK(zk.session_timeout() == 0ms);
    CHECK_FALSE(zk.get_executor());
    zk.connect(r.token());
    zk.connect_for(1s, r.token());
    zk.close(r.token());
    zk.next_state(client_state::connecting, r.token());
    zk.create("/a", r.token());
    zk.get("/a", r.token());
    zk.exists("/a", r.token());
    zk.children("/a", r.token());
    zk.set("/a", "", r.token());
    zk.remove("/a", r.token());
    zk.sync("/a", r.token());
    zk.multi({}, r.token());
    zk.get_acl("/a", r.token());
    zk.set_acl("/a", open_acl(), any_version, r.token());
    co_await r.all();
    CHECK_THROWS_WITH_AS(mutex(zk, "/a"), doctest::Contains("client was moved from"), system_error);
    CHECK_THROWS_AS(watch{zk}, system_error);
    CHECK_THROWS_AS(semaphore(zk, "/a", 1), system_error);
}

CO_TEST("every operation of a lock that was moved from is refused") {
    refusals r(executor);
    client zk(executor, "127.0.0.1:1");
    mutex m(zk, "/a");
    shared_mutex s(zk, "/a");
    recursive_mutex again(zk, "/a");
    simple_mutex simple(zk, "/a");
    semaphore permits(zk, "/a", 2);
    election votes(zk, "/a");
    const mutex to_m(std::move(m));
    const shared_mutex to_s(std::move(s));
    const recursive_mutex to_again(std::move(again));
    const simple_mutex to_simple(std::move(simple));
    const semaphore to_permits(std::move(permits));
    const election to_votes(std::move(votes));
    m.lock(r.token());
    m.try_lock_for(1s, r.token());
    m.enqueue(r.token());
    m.contenders(r.token());
    m.revoke({}, r.token());
    s.lock_shared(r.token());
    s.try_lock(r.token());
    again.lock(owner(), r.token());
    again.revoke({}, r.token());
    simple.lock(r.token());
    simple.holder(r.token());
    simple.kick({}, r.token());
    permits.acquire(r.token());
    permits.try_acquire(5, r.token());
    permits.enqueue(5, r.token());
    permits.set_permits(-1, r.token());
    permits.state(r.token());
    permits.contenders(r.token());
    permits.revoke({}, r.token());
    votes.campaign(r.token());
    votes.leader(r.token());
    votes.next_leader({}, r.token());
    votes.kick({}, r.token());
    co_await r.all();
}

CO_TEST("a refusal reaches every kind of completion token") {
    guard none;
    // Not on a thread of the system: libstdc++ counts the owners of an exception unseen by the
    // thread sanitizer.
    auto future = none.unlock(asio::bind_executor(executor, asio::use_future));
    co_await eventually([&] { return future.wait_for(0s) == std::future_status::ready; });
    CHECK_THROWS_AS(future.get(), system_error);
    error_code erased_why;
    bool erased_done = false;
    asio::any_completion_handler<void(error_code)> erased =
        asio::bind_executor(executor, [&](error_code e) {
            erased_why = e;
            erased_done = true;
        });
    none.unlock(std::move(erased));
    co_await eventually([&] { return erased_done; });
    CHECK(erased_why == errc::bad_argument);
    auto deferred = none.verify(asio::deferred);
    error_code why;
    bool done = false;
    std::move(deferred)(asio::bind_executor(executor, [&](error_code e) {
        why = e;
        done = true;
    }));
    co_await eventually([&] { return done; });
    CHECK(why == errc::bad_argument);
    error_code thrown;
    try {
        co_await none.lost();
    } catch (const system_error& e) {
        thrown = e.code();
    }
    CHECK(thrown == errc::bad_argument);
}

// A promise is not safe between threads, and an empty guard has no executor of its own.
TEST_CASE("a refusal reaches a promise") {
    asio::io_context io;
    guard none;
    auto promise = none.unlock(asio::bind_executor(io, asio::experimental::use_promise));
    error_code why;
    std::move(promise)([&](error_code e) { why = e; });
    io.run();
    CHECK(why == errc::bad_argument);
}
