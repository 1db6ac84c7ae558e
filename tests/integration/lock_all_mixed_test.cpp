// lock_all of mutexes, readers, writers and permits together.

#include "support/cut_sweep.hpp"
#include "support/lock_all_harness.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace paddock;
using namespace paddock::test;
using namespace boost::asio::experimental::awaitable_operators;

namespace {

/// A mutex, two read-write locks and a semaphore of three permits, at /…/lock/{a,b,c,d}.
struct mixed_locks {
    mixed_locks(const client& zk, const std::string& path, on_expiry choice = on_expiry::requeue)
        : a(zk, path + "/a")
        , b(zk, path + "/b", writer_options(choice))
        , c(zk, path + "/c", 3)
        , d(zk, path + "/d") {}

    static shared_mutex_options writer_options(on_expiry choice) {
        shared_mutex_options options;
        options.on_expiry = choice;
        return options;
    }
    /// Not in the order of their paths.
    std::vector<lock_request> all() const { return {permits(c, 2), shared(d), a, exclusive(b)}; }

    mutex a;
    shared_mutex b;
    semaphore c;
    shared_mutex d;
};

/// The index of each argument of mixed_locks::all().
enum { permits_at, reader_at, mutex_at, writer_at };

struct mixed_scene : scene {
    explicit mixed_scene(asio::any_io_executor executor, client_options options = {},
                         on_expiry choice = on_expiry::requeue)
        : scene(executor, std::move(options)), locks(zk, path, choice) {
        for (const auto& directory : directories())
            direct.make_path(directory);
    }

    /// Of the nodes of a, b, c and d, and of the semaphore's queue.
    std::array<std::string, 5> directories() const {
        return {path + "/a", path + "/b", path + "/c/leases", path + "/d", path + "/c/locks"};
    }
    std::array<std::size_t, 5> nodes() {
        std::array<std::size_t, 5> counts{};
        const auto all = directories();
        for (std::size_t n = 0; n < all.size(); ++n)
            counts[n] = queue_at(direct, all[n]).size();
        return counts;
    }
    asio::awaitable<void> until_nodes(std::array<std::size_t, 5> wanted) {
        co_await eventually([&] { return nodes() == wanted; });
    }
    asio::awaitable<void> until_empty() {
        const std::array<std::size_t, 5> none{};
        co_await until_nodes(none);
    }
    /// A foreigner that blocks the request for lock number n, in the order of the paths.
    std::string block(int n) {
        if (n == 2) { // two permits of three
            const auto one = queue_up(direct, path + "/c/leases", "lease-");
            others.push_back(queue_up(direct, path + "/c/leases", "lease-"));
            return one;
        }
        const char* const markers[] = {"lock-", "__READ__", "", "__WRIT__"};
        return queue_up(direct, directories()[static_cast<std::size_t>(n)], markers[n]);
    }
    void unblock(const std::string& path) {
        direct.remove(path);
        for (const auto& other : others)
            direct.remove(other);
        others.clear();
    }
    /// The nodes while the request for lock number n waits.
    static std::array<std::size_t, 5> blocked_at(int n) {
        std::array<std::size_t, 5> counts{};
        if (n > 0) counts[0] = 1;
        if (n > 1) counts[1] = 1;
        if (n > 2) counts[2] = 2;
        counts[static_cast<std::size_t>(n)] = n == 2 ? 4 : 2;
        if (n == 2) counts[4] = 1;
        return counts;
    }

    mixed_locks locks;
    std::vector<std::string> others;
};

inline lock_all_call try_all(const lock_requests& all) {
    return start<guard_set>([&](auto token) { try_lock_all(all, std::move(token)); });
}

asio::awaitable<void> none_of_them(lock_all_call a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    CHECK_FALSE(held_set(a));
}

} // namespace

CO_TEST("locks of all kinds are taken in the order of their paths") {
    mixed_scene s(executor);
    const auto all = s.locks.all();
    auto set = co_await lock_all(all);
    REQUIRE(set.size() == 4);
    CHECK(set.valid());
    CHECK(set[permits_at].path().starts_with(s.path + "/c/leases/"));
    CHECK(set[reader_at].path().starts_with(s.path + "/d/"));
    CHECK(set[reader_at].path().find("__READ__") != std::string_view::npos);
    CHECK(set[mutex_at].path().starts_with(s.path + "/a/"));
    CHECK(set[writer_at].path().starts_with(s.path + "/b/"));
    CHECK(set[writer_at].path().find("__WRIT__") != std::string_view::npos);
    CHECK(set[mutex_at].fencing_token() < set[writer_at].fencing_token());
    CHECK_FALSE(set[reader_at].has_token());
    CHECK(set[permits_at].fencing_token() == fencing_token());
    const std::array<std::size_t, 5> nodes{1, 1, 2, 1, 0};
    co_await s.until_nodes(nodes);
    for (std::size_t i = 0; i < set.size(); ++i)
        co_await set[i].verify();

    // Others have what the requests leave to them.
    client other(executor, shared_server().address());
    const mixed_locks theirs(other, s.path);
    co_await other.connect();
    const std::vector<lock_request> rest{permits(theirs.c), shared(theirs.d)};
    auto beside = co_await try_lock_all(rest);
    CHECK(beside.valid());
    co_await beside.unlock();
    const std::vector<lock_request> taken{permits(theirs.c, 2), exclusive(theirs.d), theirs.a,
                                          exclusive(theirs.b), shared(theirs.b)};
    for (const auto& each : taken) {
        const std::vector<lock_request> one{each};
        beside = co_await try_lock_all(one);
        CHECK_FALSE(beside);
    }
    co_await set.unlock();
    CHECK_FALSE(set);
    co_await s.until_empty();
}

CO_TEST("the next lock is not requested before the previous one is held, whatever its kind") {
    for (int n = 0; n < 4; ++n) {
        mixed_scene s(executor);
        const auto other = s.block(n);
        const auto all = s.locks.all();
        const auto a = ask_all(all);
        co_await s.until_nodes(s.blocked_at(n));
        CHECK_FALSE(a->done());
        s.unblock(other);
        co_await granted_all(a);
        held_set(a) = {};
        co_await s.until_empty();
    }
}

CO_TEST("try_lock_all takes all locks or leaves none") {
    for (int n = 0; n < 4; ++n) {
        mixed_scene s(executor);
        co_await s.zk.connect();
        const auto other = s.block(n);
        const auto blocked = s.nodes();
        co_await none_of_them(try_all(s.locks.all()));
        co_await s.until_nodes(blocked);
        s.unblock(other);
        const auto a = try_all(s.locks.all());
        co_await granted_all(a);
        co_await none_of_them(try_all(s.locks.all()));
        CHECK(held_set(a).valid());
    }
}

CO_TEST("try_lock_all without a connection fails at once") {
    mixed_scene s(executor);
    s.proxy.refuse(true);
    const auto a = try_all(s.locks.all());
    co_await finished(a);
    CHECK(a->error == errc::not_connected);
    s.proxy.refuse(false);
}

CO_TEST("a caller that leaves, or whose time is over, releases what it has") {
    for (int n = 0; n < 4; ++n) {
        mixed_scene s(executor);
        const auto other = s.block(n);
        const auto blocked = s.nodes();
        const auto all = s.locks.all();
        const auto a = ask_all(all);
        co_await s.until_nodes(s.blocked_at(n));
        a->cancel();
        co_await finished(a);
        CHECK(a->error == asio::error::operation_aborted);
        co_await s.until_nodes(blocked);
        const auto until = std::chrono::steady_clock::now() + 100ms;
        const auto late = co_await try_lock_all_until(all, until);
        CHECK_FALSE(late);
        co_await s.until_nodes(blocked);
        s.unblock(other);
    }
}

CO_TEST("a set begins again when one of its locks is lost before it has the last") {
    for (int lost = 0; lost < 4; ++lost) { // 3: all of them
        mixed_scene s(executor);
        const auto other = s.block(3);
        const auto all = s.locks.all();
        const auto a = ask_all(all);
        const auto waiting = s.blocked_at(3);
        co_await s.until_nodes(waiting);
        const auto directory = s.directories()[static_cast<std::size_t>(lost % 3)];
        const auto first = queue_at(s.direct, directory).at(0);
        if (lost == 3)
            expire(s);
        else
            s.direct.remove(directory + '/' + first);
        co_await eventually([&] {
            const auto now = queue_at(s.direct, directory);
            return !now.empty() && now[0] != first && s.nodes() == waiting;
        });
        CHECK_FALSE(a->done());
        s.unblock(other);
        co_await granted_all(a);
        co_await held_set(a)[permits_at].verify();
        co_await held_set(a).unlock();
        co_await s.until_empty();
    }
}

CO_TEST("a set that waits for any kind of lock when the session expires begins again, or fails") {
    for (const auto& round :
         test.each(std::array{on_expiry::requeue, on_expiry::fail}, std::array{0, 1, 2, 3})) {
        const auto choice = std::get<0>(round);
        const int n = std::get<1>(round);
        mixed_scene s(executor, {}, choice);
        const auto other = s.block(n);
        const auto blocked = s.nodes();
        const auto all = s.locks.all();
        const auto a = ask_all(all);
        co_await s.until_nodes(s.blocked_at(n));
        expire(s);
        const bool fails = choice == on_expiry::fail && n > 0; // the option is the writer's
        if (fails) {
            co_await finished(a);
            CHECK(a->error == errc::session_expired);
            co_await s.until_nodes(blocked);
            s.unblock(other);
            continue;
        }
        co_await eventually([&] { return s.zk.epoch() >= 2 && s.nodes() == s.blocked_at(n); });
        s.unblock(other);
        co_await granted_all(a);
        held_set(a) = {};
        co_await s.until_empty();
    }
}

CO_TEST("a set is lost with the first of its locks, a permit as well") {
    mixed_scene s(executor);
    const auto all = s.locks.all();
    auto set = co_await lock_all(all);
    const auto told = end_of_set(set);
    const auto permit = s.path + "/c/leases/" + queue_at(s.direct, s.path + "/c/leases").at(1);
    s.direct.remove(permit);
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    CHECK_FALSE(set.valid());
    CHECK(set[writer_at].valid());
    const auto end = give_back_set(set);
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    co_await s.until_empty();
}

CO_TEST("callers that name the same locks in any order are all served") {
    mixed_scene s(executor);
    client second(executor, shared_server().address());
    const mixed_locks theirs(second, s.path);
    std::mt19937 random(11);
    int writers = 0, served = 0;
    const int rounds = test.full_or_brief(20, 2);
    const auto work = [&](std::vector<lock_request> mine, bool writes) -> asio::awaitable<void> {
        for (int i = 0; i < rounds; ++i) {
            std::shuffle(mine.begin(), mine.end(), random);
            auto set = co_await lock_all(mine);
            if (writes) ++writers;
            CHECK(writers <= 1);
            co_await asio::post(executor, asio::use_awaitable);
            CHECK(set.valid());
            if (writes) --writers;
            ++served;
            co_await set.unlock();
        }
    };
    const auto writing = [](const mixed_locks& l) {
        return std::vector<lock_request>{exclusive(l.d), permits(l.c, 2), exclusive(l.b), l.a};
    };
    const auto reading = [](const mixed_locks& l) {
        return std::vector<lock_request>{shared(l.d), permits(l.c), shared(l.b)};
    };
    co_await (work(writing(s.locks), true) && work(writing(theirs), true) &&
              work(reading(s.locks), false) && work(reading(theirs), false));
    CHECK(served == 4 * rounds);
    co_await s.until_empty();
}

CO_TEST("a connection cut anywhere costs nothing but time") {
    test.time_limit(120s);
    mixed_scene s(executor, short_session(4s));
    co_await s.zk.connect();
    const auto all = s.locks.all();
    cut_sweep sweep(test, s.proxy, cut_sweep::in_turns);
    while (sweep.next()) {
        INFO(sweep.where());
        const auto a = ask_all(all);
        co_await granted_all(a);
        const auto end = give_back_set(held_set(a));
        co_await finished(end);
        CHECK_MESSAGE(!end->error, end->error.message());
        co_await s.until_empty();
        co_await s.until_connected();
    }
    CHECK(s.proxy.cuts() >= test.full_or_brief(8, 1));
    CHECK(s.zk.epoch() == 1);
}

TEST_CASE("two requests for one lock are refused, and so are permits that cannot exist") {
    asio::io_context io;
    const client zk(io.get_executor(), "localhost");
    const auto complaint = [](const lock_requests& all) -> std::string {
        try {
            static_cast<void>(lock_all(all, asio::use_awaitable));
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return error.what();
        }
        return {};
    };
    const mutex plain(zk, "/x");
    const shared_mutex rw(zk, "/x"), same(zk, "/x");
    const semaphore pool(zk, "/x", 3), other_pool(zk, "/x", 2);
    const mutex queue_of_pool(zk, "/x/locks");
    CHECK(complaint({}).find("locks") != std::string::npos);
    CHECK(complaint({shared(rw), exclusive(same)}).find("'/x' is listed twice") !=
          std::string::npos);
    CHECK_FALSE(complaint({shared(rw), shared(rw)}).empty());
    CHECK_FALSE(complaint({permits(pool), plain, permits(other_pool)}).empty());
    CHECK_FALSE(complaint({plain, plain}).empty());
    CHECK(complaint({plain, shared(rw), permits(pool), queue_of_pool}).empty());
    CHECK_THROWS_AS(static_cast<void>(permits(pool, 0)), system_error);
    CHECK_THROWS_AS(static_cast<void>(permits(pool, 4)), system_error);
}
