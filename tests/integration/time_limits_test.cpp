// The limits of every try_…_for and try_…_until: any duration, any clock, and the result at the end
// of the time.

#include "support/lock_all_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::chrono::duration<double> infinite(std::numeric_limits<double>::infinity());

/// The outcome of a call with a time limit, for any kind of lock.
struct limited {
    std::function<bool()> done;
    std::function<error_code()> error;
    std::function<bool()> held;

    template <class Result>
    explicit limited(const under_way<Result>& a)
        : done([a] { return a->done(); })
        , error([a] { return a->error; })
        , held([a] { return static_cast<bool>(std::get<0>(a->result)); }) {}

    friend asio::awaitable<void> finished(limited a) {
        co_await eventually([&] { return a.done(); });
    }
};

/// One lock of each kind, of one client, in directories of their own.
struct all_kinds : scene {
    explicit all_kinds(asio::any_io_executor executor, client_options options = {})
        : scene(executor, std::move(options)) {
        for (const char* name : {"/first", "/second"})
            both.emplace_back(zk, path + name);
    }

    template <class Limit>
    std::vector<limited> ask_for(Limit limit, client* of = nullptr) {
        return ask_all(of ? *of : zk, [limit](auto& lock, auto token, auto... first) {
            using lock_type = std::decay_t<decltype(lock)>;
            if constexpr (std::is_same_v<lock_type, semaphore>)
                lock.try_acquire_for(first..., limit, std::move(token));
            else if constexpr (std::is_same_v<lock_type, std::vector<mutex>>)
                try_lock_all_for(lock, limit, std::move(token));
            else if constexpr (std::is_same_v<lock_type, shared_mutex>)
                shared(lock, limit, std::move(token), first...);
            else
                lock.try_lock_for(first..., limit, std::move(token));
        });
    }
    template <class Deadline>
    std::vector<limited> ask_until(Deadline deadline) {
        return ask_all(zk, [deadline](auto& lock, auto token, auto... first) {
            using lock_type = std::decay_t<decltype(lock)>;
            if constexpr (std::is_same_v<lock_type, semaphore>)
                lock.try_acquire_until(first..., deadline, std::move(token));
            else if constexpr (std::is_same_v<lock_type, std::vector<mutex>>)
                try_lock_all_until(lock, deadline, std::move(token));
            else if constexpr (std::is_same_v<lock_type, shared_mutex>)
                shared_until(lock, deadline, std::move(token), first...);
            else
                lock.try_lock_until(first..., deadline, std::move(token));
        });
    }

    /// Takes all of them with another client.
    asio::awaitable<void> take_all(client& other) {
        auto all = ask_for(10s, &other);
        for (const auto& one : all) {
            co_await finished(one);
            REQUIRE(one.held());
        }
        taken = std::move(all);
    }

    std::vector<mutex> both;
    std::vector<limited> taken;

private:
    template <class Limit, class Token>
    static void shared(shared_mutex& lock, Limit limit, Token token, bool alone) {
        if (alone)
            lock.try_lock_for(limit, std::move(token));
        else
            lock.try_lock_shared_for(limit, std::move(token));
    }
    template <class Deadline, class Token>
    static void shared_until(shared_mutex& lock, Deadline deadline, Token token, bool alone) {
        if (alone)
            lock.try_lock_until(deadline, std::move(token));
        else
            lock.try_lock_shared_until(deadline, std::move(token));
    }

    template <class Ask>
    std::vector<limited> ask_all(client& by, Ask how) {
        mutex plain(by, path + "/plain");
        shared_mutex both_ways(by, path + "/shared");
        recursive_mutex again(by, path + "/recursive");
        simple_mutex simple(by, path + "/simple");
        semaphore permits(by, path + "/permits", 1);
        std::vector<mutex> several{{by, path + "/first"}, {by, path + "/second"}};
        const auto one = [&](auto& lock, auto... first) {
            return limited(start<guard>([&](auto t) { how(lock, std::move(t), first...); }));
        };
        std::vector<limited> all;
        all.push_back(one(plain));
        all.push_back(one(both_ways, true));
        if (&by == &zk) all.push_back(one(both_ways, false)); // take_all() would wait for itself
        all.push_back(one(again, owner()));
        all.push_back(one(simple));
        all.push_back(one(permits, 1));
        all.push_back(limited(start<guard_set>([&](auto t) { how(several, std::move(t)); })));
        return all;
    }
};

} // namespace

CO_TEST("a deadline in the past, however far, does not wait for a taken lock") {
    const std::vector<std::function<std::vector<limited>(all_kinds&)>> ways{
        [](all_kinds& s) { return s.ask_for(std::chrono::nanoseconds::min()); },
        [](all_kinds& s) { return s.ask_for(std::chrono::hours::min()); },
        [](all_kinds& s) { return s.ask_for(-infinite); },
        [](all_kinds& s) { return s.ask_until(std::chrono::steady_clock::time_point::min()); },
        [](all_kinds& s) { return s.ask_until(std::chrono::system_clock::time_point::min()); },
        [](all_kinds& s) { return s.ask_until(boot_clock::time_point::min()); }};
    for (std::size_t n = 0; test.begin_round(n, test.full_or_brief(ways.size(), 1U)); ++n) {
        all_kinds s(executor);
        client other(executor, shared_server().address());
        co_await s.take_all(other);
        co_await s.zk.connect();
        for (const auto& one : ways[n](s)) {
            co_await finished(one);
            CHECK_FALSE(one.error());
            CHECK_FALSE(one.held());
        }
    }
}

CO_TEST("a deadline beyond the end of the clock waits for a taken lock") {
    const std::vector<std::function<std::vector<limited>(all_kinds&)>> ways{
        [](all_kinds& s) { return s.ask_for(std::chrono::nanoseconds::max()); },
        [](all_kinds& s) { return s.ask_for(std::chrono::hours::max()); },
        [](all_kinds& s) { return s.ask_for(infinite); },
        [](all_kinds& s) { return s.ask_until(std::chrono::steady_clock::time_point::max()); },
        [](all_kinds& s) { return s.ask_until(std::chrono::system_clock::time_point::max()); }};
    for (std::size_t n = 0; test.begin_round(n, test.full_or_brief(ways.size(), 1U)); ++n) {
        all_kinds s(executor);
        client other(executor, shared_server().address());
        co_await s.take_all(other);
        co_await s.zk.connect();
        auto all = ways[n](s);
        co_await eventually([&] { return queue_at(s.direct, s.path + "/plain").size() == 2; });
        for (const auto& one : all)
            CHECK_FALSE(one.done());
        all.erase(all.begin() + 2); // it cannot share the lock, and would wait on
        s.taken.clear();
        co_await other.close();
        for (const auto& one : all) {
            co_await finished(one);
            CHECK_FALSE(one.error());
            CHECK(one.held());
        }
    }
}

namespace {

/// Cuts the client off for good.
asio::awaitable<void> cut_off(scene& s) {
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() == client_state::suspended; });
}

/// Tries to take held locks, and returns when this client has seen that they are held.
asio::awaitable<std::vector<limited>> ask_for_taken_locks(all_kinds& s, client& other,
                                                          std::chrono::milliseconds limit) {
    co_await s.take_all(other);
    co_await s.zk.connect();
    auto all = s.ask_for(limit);
    const auto stand = [&](const char* in) { return queue_at(s.direct, s.path + in).size(); };
    const auto done = [](const limited& one) { return one.done(); };
    co_await eventually([&] {
        return std::any_of(all.begin(), all.end(), done) || // on a busy machine
               (stand("/plain") == 2 && stand("/shared") == 3 && stand("/recursive") == 2 &&
                stand("/permits/leases") == 2 && stand("/first") == 2);
    });
    co_await s.zk.sync("/"); // their requests were answered before
    if (std::any_of(all.begin(), all.end(), done))
        co_await eventually([&] { return std::all_of(all.begin(), all.end(), done); });
    co_return all;
}

} // namespace

CO_TEST("a time limit that ends without a connection fails with not_connected") {
    all_kinds s(executor);
    for (const bool from_the_start : {true, false}) {
        if (from_the_start) {
            s.proxy.refuse(true);
        } else {
            co_await s.zk.connect();
            co_await cut_off(s);
        }
        for (const auto limit : {0ms, 50ms})
            for (const auto& one : s.ask_for(limit)) {
                co_await finished(one);
                CHECK(one.error() == errc::not_connected);
                CHECK_FALSE(one.held());
            }
        s.proxy.refuse(false);
    }
}

CO_TEST("a call that saw the lock taken ends without guard and error while its lease lasts") {
    all_kinds s(executor);
    client other(executor, shared_server().address());
    const auto limit = test.full_or_brief(2s, 300ms);
    const auto all = co_await ask_for_taken_locks(s, other, limit);
    for (const auto& one : all) {
        if (!one.done()) co_await cut_off(s);
        co_await finished(one);
        CHECK_FALSE(one.error());
        CHECK_FALSE(one.held());
    }
}

CO_TEST("after the lease has lapsed, an earlier listing does not count any more") {
    all_kinds s(executor, short_session());
    client other(executor, shared_server().address());
    const auto all = co_await ask_for_taken_locks(s, other, 6s);
    co_await cut_off(s);
    if (test.full_or_brief(false, true)) co_return; // the rest only waits
    for (const auto& one : all) {
        co_await finished(one);
        CHECK(one.error() == errc::not_connected);
    }
}

CO_TEST("lock_all fails with not_connected when the client of the awaited lock is cut off") {
    scene s(executor);
    client other(executor, shared_server().address());
    co_await s.zk.connect();
    co_await other.connect();
    co_await cut_off(s);
    for (const bool cut_off_first : {true, false}) {
        std::vector<mutex> all;
        all.emplace_back(s.zk, s.path + (cut_off_first ? "/1" : "/3"));
        all.emplace_back(other, s.path + "/2");
        // The second time there must be time enough to get the first of them.
        const auto a = ask_all_for(all, cut_off_first ? 100ms : test.full_or_brief(2000ms, 500ms));
        co_await finished(a);
        CHECK(a->error == errc::not_connected);
        co_await eventually([&] { return queue_at(s.direct, s.path + "/2").empty(); });
    }
    const auto taken = queue_up(s.direct, s.path);
    std::vector<mutex> all;
    all.emplace_back(s.zk, s.path + "/zzz");
    all.emplace_back(other, s.path);
    const auto a = ask_all_for(all, 100ms); // it waits for the one that is taken
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held_set(a));
    s.direct.remove(taken);
}
