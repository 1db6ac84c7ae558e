// A lock family with very many keys: the client keeps nothing of a key whose contenders have left.

#include "sim/keys_stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test::sim;
using namespace std::chrono_literals;

namespace {

constexpr int many = 10'000;

std::string key_of(int n) { return "article " + std::to_string(n); }

} // namespace

TEST_CASE("ten thousand keys that were locked together leave nothing") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    std::vector<guard> guards;
    for (int n = 0; n < many; ++n)
        orders.lock(key_of(n), [&](error_code why, guard got) {
            REQUIRE_FALSE(why);
            guards.push_back(std::move(got));
        });
    s.until([&] { return guards.size() == many; });
    CHECK(std::all_of(guards.begin(), guards.end(), [](const guard& g) { return g.valid(); }));
    CHECK(s.queues() == many);
    CHECK(s.lock_nodes() == many);
    guards.resize(many / 2);
    s.until([&] { return s.queues() == many / 2; });
    guards.clear();
    s.check_that_nothing_is_left();
}

TEST_CASE("ten thousand keys, one after the other, leave nothing and never many") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    std::size_t most = 0;
    bool over = false;
    asio::co_spawn(
        s.here->io(),
        [&]() -> asio::awaitable<void> {
            for (int n = 0; n < many; ++n) {
                guard held = co_await orders.lock(key_of(n));
                const guard none = co_await orders.try_lock(key_of(n));
                CHECK_FALSE(none);
                most = std::max(most, s.queues());
                co_await held.unlock();
            }
        },
        [&](std::exception_ptr failed) {
            CHECK_FALSE(failed);
            over = true;
        });
    s.until([&] { return over; });
    CHECK(most < 10);
    s.check_that_nothing_is_left();
}

TEST_CASE("calls that are refused, or given up, leave nothing either") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    const shared_lock_family prices(zk, "/prices");
    std::vector<guard> guards;
    int refused = 0, waiting = 0, given_up = 0;
    const auto keep = [&](error_code why, guard got) {
        CHECK_FALSE(why);
        guards.push_back(std::move(got));
    };
    constexpr int some = 100;
    for (int n = 0; n < some; ++n) {
        orders.lock(key_of(n), keep);
        prices.lock_shared(key_of(n), keep);
    }
    s.until([&] { return guards.size() == 2 * some; });
    for (int n = 0; n < some; ++n) {
        const auto empty = [&](error_code why, const guard& got) {
            CHECK_FALSE(why);
            CHECK_FALSE(got);
            ++given_up;
        };
        orders.try_lock(key_of(n), empty);
        orders.try_lock_for(key_of(n), 1s, empty);
        prices.try_lock(key_of(n), empty);
        prices.try_lock_for(key_of(n), 1s, empty);
        prices.contenders(key_of(n), [&](error_code why, const std::vector<contender>& all) {
            CHECK_FALSE(why);
            CHECK(!all.empty());
            ++waiting;
        });
        orders.lock("", [&](error_code why, const guard&) {
            CHECK(why == errc::bad_argument);
            ++refused;
        });
    }
    s.until([&] { return refused + waiting + given_up == 6 * some; });
    CHECK(refused == some);
    CHECK(waiting == some);
    CHECK(s.queues() == 2 * some);
    guards.clear();
    s.check_that_nothing_is_left();
}

namespace {

/// The key's lock was acquired and released once.
void use_once(stage& s, const lock_family& locks, std::string_view key) {
    guard held;
    locks.lock(key, [&](error_code why, guard got) {
        CHECK_FALSE(why);
        held = std::move(got);
    });
    s.until([&] { return held.valid(); });
}

request directory_of_a_key(std::string data) {
    return {.what = verb::create,
            .path = "/orders/4711",
            .data = std::move(data),
            .mode = create_mode::persistent};
}

} // namespace

TEST_CASE("a directory that a crash has left is deleted after the key's next use") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    use_once(s, orders, "another");
    s.servers.administrator(directory_of_a_key(std::string(rules::own_directory_data)));
    s.until([&] { return s.directories() == 1 && s.servers.truth().exists("/orders/4711"); });
    use_once(s, orders, "4711");
    s.check_that_nothing_is_left();
    CHECK(s.servers.truth().exists("/orders"));
}

TEST_CASE("a directory that another program has made is never deleted") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    use_once(s, orders, "another");
    s.servers.administrator(directory_of_a_key("configuration"));
    s.until([&] { return s.servers.truth().exists("/orders/4711"); });
    use_once(s, orders, "4711");
    s.check_that_nothing_is_left();
    s.until([&] { return s.core->own_directories().free("/orders/4711"); }); // it was visited
    CHECK(s.servers.truth().find("/orders/4711")->data == "configuration");
}

TEST_CASE("a client that closes deletes the directories of the locks that it holds") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    std::vector<guard> guards;
    for (int n = 0; n < 100; ++n)
        orders.lock(key_of(n), [&](error_code why, guard got) {
            CHECK_FALSE(why);
            guards.push_back(std::move(got));
        });
    s.until([&] { return guards.size() == 100; });
    CHECK(s.directories() == 100);
    s.here->post([&] {
        for (std::size_t n = 0; n < 50; ++n) // their deletes are not sent yet
            static_cast<void>(guard(std::move(guards[n])));
        s.core->close(errc::closed);
    });
    s.until([&] { return s.directories() == 0 && s.lock_nodes() == 0; });
}

TEST_CASE("a client that closes deletes the directories of holds that an earlier session had") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    guard held;
    orders.lock("4711", [&](error_code, guard got) { held = std::move(got); });
    s.until([&] { return held.valid(); });
    s.servers.kill(s.servers.truth().sessions().begin()->first);
    s.until([&] { return !held.valid(); });
    s.until([&] { return s.core->own_directories().made_by_locks("/orders/4711"); });
    CHECK(s.directories() == 1);
    s.here->post([&] { s.core->close(errc::closed); });
    s.until([&] { return s.directories() == 0; });
}

namespace {

/// Two clients with the same family, and a call of each for the same key.
struct two_clients : stage {
    client a = paddock::detail::access::make<client>(core);
    client b = paddock::detail::access::make<client>(make_core());
    lock_family of_a{a, "/orders"};
    lock_family of_b{b, "/orders"};
    guard a_holds, b_holds;

    void a_locks() { lock(of_a, a_holds); }
    void lock(const lock_family& by, guard& held) {
        by.lock("4711", [&](error_code why, guard got) {
            if (!why) held = std::move(got);
        });
        if (&held == &a_holds) until([&] { return held.valid(); });
    }
    void b_waits() {
        lock(of_b, b_holds);
        until([&] { return lock_nodes() == 2; });
    }
    void close(client& one) {
        bool ended = false;
        one.close([&](error_code) { ended = true; });
        until([&] { return ended; });
    }
    void check_that_no_directory_is_left() {
        CHECK(lock_nodes() == 0);
        CHECK(directories() == 0);
        CHECK_FALSE(servers.truth().exists("/orders/4711"));
    }
};

} // namespace

TEST_CASE("the last of two clients that close deletes the directory that the first has made") {
    two_clients s;
    s.a_locks();
    s.b_waits();
    SUBCASE("it holds the lock") {
        s.close(s.a);
        s.until([&] { return s.b_holds.valid(); });
    }
    SUBCASE("it has just released the lock") {
        s.a_holds = {};
        s.until([&] { return s.b_holds.valid(); });
        s.close(s.a);
        s.b_holds = {};
    }
    s.close(s.b);
    s.check_that_no_directory_is_left();
}

TEST_CASE("the last of two clients that close deletes a directory that its first calls found") {
    two_clients s;
    s.a_locks();
    std::vector<guard> late_ones; // two at once, before there is a connection
    auto zk = paddock::detail::access::make<client>(s.make_core());
    const lock_family orders(zk, "/orders");
    for (int n = 0; n < 2; ++n)
        orders.lock("4711", [&](error_code, guard got) { late_ones.push_back(std::move(got)); });
    s.until([&] { return s.lock_nodes() == 3; });
    s.close(s.a);
    for (std::size_t n = 1; n <= 2; ++n) {
        s.until([&] { return late_ones.size() == n && late_ones.back().valid(); });
        late_ones.back() = {};
    }
    s.until([&] { return s.lock_nodes() == 0; });
    s.close(zk);
    s.check_that_no_directory_is_left();
}

TEST_CASE("calls for a new key that wait for a connection leave nothing") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    int done = 0;
    for (int n = 0; n < 3; ++n)
        orders.lock("4711", [&](error_code why, const guard&) { done += why ? 0 : 1; });
    s.until([&] { return done == 3 && s.lock_nodes() == 0; });
    CHECK_FALSE(s.servers.truth().exists("/orders/4711"));
}

TEST_CASE("a call of a sticky lock that is refused because of another kind leaves nothing") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    semaphore pool(zk, "/here", 1);
    mutex_options sticky;
    sticky.linger = 1min;
    mutex refused(zk, "/here", sticky);
    guard permit;
    pool.acquire([&](error_code, guard got) { permit = std::move(got); });
    s.until([&] { return permit.valid(); });
    error_code why;
    refused.lock([&](error_code e, const guard&) { why = e; });
    s.until([&] { return why == errc::bad_argument; });
    permit = {};
    s.until([&] { return s.queues() == 0; });
}

TEST_CASE("a client that closes deletes its directory, though others have used it") {
    two_clients s;
    s.a_locks();
    s.b_waits();
    bool given_up = false;
    s.of_a.try_lock_for("4711", 100ms, [&](error_code, const guard&) { given_up = true; });
    s.until([&] { return given_up && !s.core->own_directories().free("/orders/4711"); });
    s.close(s.b);
    s.close(s.a);
    s.check_that_no_directory_is_left();
}

TEST_CASE("a client that closes deletes its directory behind all of its nodes") {
    two_clients s;
    s.a_locks();
    asio::cancellation_signal cancel;
    s.of_a.lock("4711", asio::bind_cancellation_slot(cancel.slot(), [](error_code, guard) {}));
    s.until([&] { return s.lock_nodes() == 2; });
    const auto answered = s.time.now() + 1s;
    s.until([&] { return s.time.now() > answered; });
    SUBCASE("one that a cancelled call has just given up") {
        cancel.emit(asio::cancellation_type::total);
    }
    SUBCASE("one that was just released") { s.a_holds = {}; }
    s.close(s.a);
    s.check_that_no_directory_is_left();
}

TEST_CASE("a client that closes deletes its directory behind a mutex at the same path, too") {
    two_clients s;
    s.a_locks();
    s.b_waits();
    s.a_holds = {};
    s.until([&] { return s.b_holds.valid(); }); // A has left the directory that it has made
    const mutex same(s.a, s.of_a.path_of("4711"));
    guard held;
    same.lock([&](error_code, guard got) { held = std::move(got); });
    s.until([&] { return s.lock_nodes() == 2; });
    s.close(s.b);
    s.until([&] { return held.valid(); });
    SUBCASE("that holds the lock") {}
    SUBCASE("that has just released it") { held = {}; }
    s.close(s.a);
    s.check_that_no_directory_is_left();
}

TEST_CASE("a client that closes deletes a directory that it just makes") {
    two_clients s;
    use_once(s, s.of_a, "another");
    s.of_a.lock("4711", [](error_code, guard) {});
    s.until([&] { return s.servers.truth().exists("/orders/4711"); });
    s.close(s.a);
    s.check_that_no_directory_is_left();
}

TEST_CASE("a client that closes deletes no directory that another program has made") {
    stage s;
    auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    use_once(s, orders, "another");
    s.servers.administrator(directory_of_a_key("configuration"));
    s.until([&] { return s.servers.truth().exists("/orders/4711"); });
    use_once(s, orders, "4711");
    s.until([&] { return s.lock_nodes() == 0; });
    bool ended = false;
    zk.close([&](error_code) { ended = true; });
    s.until([&] { return ended; });
    CHECK(s.servers.truth().exists("/orders/4711"));
}
