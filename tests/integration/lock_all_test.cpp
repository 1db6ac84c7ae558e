// lock_all: several locks in one order, all or nothing.

#include "support/lock_harness.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <random>

using namespace paddock;
using namespace paddock::test;
using namespace boost::asio::experimental::awaitable_operators;

namespace {

using asking_all = under_way<guard_set>;

guard_set& held_set(const asking_all& a) { return std::get<guard_set>(a->result); }

asking_all ask_all(const std::vector<mutex>& all) {
    return start<guard_set>([&](auto token) { lock_all(all, std::move(token)); });
}
asking_all ask_all_for(const std::vector<mutex>& all, std::chrono::nanoseconds limit) {
    return start<guard_set>([&](auto token) { try_lock_all_for(all, limit, std::move(token)); });
}
under_way<> give_back_set(guard_set& g) {
    return start([&](auto token) { g.unlock(std::move(token)); });
}
under_way<> end_of_set(guard_set& g) {
    return start([&](auto token) { g.lost(std::move(token)); });
}
asio::awaitable<void> granted_all(asking_all a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    CHECK(held_set(a).valid());
}

/// Three locks at /…/lock/{a,b,c} of one client behind a proxy.
struct three : scene {
    explicit three(asio::any_io_executor executor, client_options options = {},
                   mutex_options terms = {})
        : scene(executor, std::move(options)) {
        for (const char* name : {"/a", "/b", "/c"}) {
            direct.make_path(path + name);
            all.emplace_back(zk, path + name, terms);
        }
    }
    std::string at(int n) const { return path + '/' + "abc"[n]; }
    std::size_t nodes(int n) { return line_at(direct, at(n)).size(); }
    asio::awaitable<void> until_nodes(std::size_t a, std::size_t b, std::size_t c) {
        co_await eventually([&] { return nodes(0) == a && nodes(1) == b && nodes(2) == c; });
    }
    void expire() { kill_session(shared_server().address(), proxy.last_credentials()); }

    std::vector<mutex> all;
};

} // namespace

CO_TEST("all locks are taken in the order of their paths, and stand in that of the arguments") {
    three s(executor);
    const std::vector<mutex> mixed{s.all[2], s.all[0], s.all[1]};
    auto set = co_await lock_all(mixed);
    REQUIRE(set.size() == 3);
    CHECK(set.valid());
    CHECK(set[0].path().starts_with(s.at(2)));
    CHECK(set[1].path().starts_with(s.at(0)));
    CHECK(set[2].path().starts_with(s.at(1)));
    CHECK(set[1].fencing_token() < set[2].fencing_token());
    CHECK(set[2].fencing_token() < set[0].fencing_token());
    co_await set[0].verify();
    const auto data = s.path + "-data";
    std::vector<operation> steps{op::create{data, "x"}};
    co_await set[2].transaction(steps);
    CHECK(s.direct.exists(data));

    co_await set.unlock();
    CHECK_FALSE(set);
    CHECK_FALSE(set.valid());
    CHECK(s.nodes(0) + s.nodes(1) + s.nodes(2) == 0);
    // The last taken goes first.
    std::vector<std::string> removed;
    for (const auto& f : s.proxy.snapshot().frames)
        if (f.way == direction::up && f.opcode == opcode::remove)
            removed.push_back(f.path.substr(0, s.at(0).size()));
    CHECK(removed == std::vector<std::string>{s.at(2), s.at(1), s.at(0)});
}

CO_TEST("a set that goes releases all, also by assignment") {
    three s(executor);
    {
        auto set = co_await lock_all(s.all);
        guard_set moved = std::move(set);
        CHECK(moved.valid());
        moved = guard_set();
        co_await s.until_nodes(0, 0, 0);
        moved = co_await lock_all(s.all);
        CHECK(moved.valid());
    }
    co_await s.until_nodes(0, 0, 0);
}

CO_TEST("the next lock is not asked for before the one in front of it is held") {
    three s(executor);
    const auto other = queue_up(s.direct, s.at(1));
    const auto a = ask_all(s.all);
    co_await s.until_nodes(1, 2, 0);
    CHECK_FALSE(a->done());
    s.direct.remove(other);
    co_await granted_all(a);
    co_await s.until_nodes(1, 1, 1);
}

CO_TEST("the limit is for all together, and nothing stays of what came too late") {
    three s(executor);
    const auto first = queue_up(s.direct, s.at(0));
    const auto last = queue_up(s.direct, s.at(2));
    const auto begin = std::chrono::steady_clock::now();
    const auto a = ask_all_for(s.all, 200ms);
    co_await s.until_nodes(2, 0, 1);
    s.direct.remove(first);
    co_await s.until_nodes(1, 1, 2);
    co_await finished(a);
    CHECK_FALSE(a->error);
    CHECK_FALSE(held_set(a));
    CHECK(std::chrono::steady_clock::now() - begin >= 200ms);
    CHECK(std::chrono::steady_clock::now() - begin < scaled(2s));
    co_await s.until_nodes(0, 0, 1);
    s.direct.remove(last);
    const auto now = ask_all_for(s.all, 0ns);
    co_await granted_all(now);
    const auto taken = ask_all_for(s.all, 0ns);
    co_await finished(taken);
    CHECK_FALSE(taken->error);
    CHECK_FALSE(held_set(taken));
    CHECK(held_set(now).valid());
    co_await held_set(now).unlock();
    const auto until = std::chrono::steady_clock::now() + 5s;
    auto set = co_await try_lock_all_until(s.all, until);
    CHECK(set.valid());
}

CO_TEST("a caller who leaves at any point leaves nothing") {
    test.time_limit(60s);
    three s(executor);
    co_await s.zk.connect();
    for (const auto way : {direction::up, direction::down})
        for (const auto op : {opcode::create2, opcode::children2})
            for (int lock = 0; lock < 3; ++lock) {
                INFO("lock " << lock << ", request " << op);
                s.proxy.hold_if(way, [&](const frame& f) {
                    return f.opcode == op && f.path.starts_with(s.at(lock));
                });
                const auto a = ask_all(s.all);
                co_await eventually([&] { return s.proxy.waiting(way) > 0; });
                a->cancel(lock == 1 ? asio::cancellation_type::terminal
                                    : asio::cancellation_type::total);
                co_await finished(a);
                CHECK(a->error == asio::error::operation_aborted);
                s.proxy.release(way);
                const auto next = ask_all(s.all);
                co_await granted_all(next);
                co_await held_set(next).unlock();
                co_await s.until_nodes(0, 0, 0);
                CHECK(a->times == 1);
            }
}

CO_TEST("a caller who leaves while waiting for one of them gives the others back") {
    three s(executor);
    for (int lock = 0; lock < 3; ++lock) {
        const auto other = queue_up(s.direct, s.at(lock));
        const auto a = ask_all(s.all);
        co_await eventually([&] { return s.nodes(lock) == 2; });
        a->cancel();
        co_await finished(a);
        co_await eventually([&] { return s.nodes(0) + s.nodes(1) + s.nodes(2) == 1; });
        s.direct.remove(other);
    }
    const auto other = queue_up(s.direct, s.at(2));
    asio::steady_timer timer(executor, 50ms);
    {
        auto first = co_await (lock_all(s.all) || timer.async_wait(asio::use_awaitable));
        CHECK(first.index() == 1);
    }
    co_await s.until_nodes(0, 0, 1);
}

CO_TEST("when a lock that was taken is lost meanwhile, it begins again") {
    three s(executor);
    for (const bool by_expiry : {true, false}) {
        const auto other = queue_up(s.direct, s.at(2));
        const auto a = ask_all(s.all);
        co_await s.until_nodes(1, 1, 2);
        const auto first = line_at(s.direct, s.at(0)).at(0);
        if (by_expiry)
            s.expire();
        else
            s.direct.remove(s.at(0) + '/' + first);
        co_await eventually([&] {
            const auto now = line_at(s.direct, s.at(0));
            return now.size() == 1 && now[0] != first;
        });
        co_await s.until_nodes(1, 1, 2);
        CHECK_FALSE(a->done());
        s.direct.remove(other);
        co_await granted_all(a);
        co_await held_set(a)[0].verify();
        co_await held_set(a).unlock();
        co_await s.until_nodes(0, 0, 0);
    }
}

CO_TEST("with on_expiry::fail an expired session ends it") {
    mutex_options terms;
    terms.on_expiry = on_expiry::fail;
    three s(executor, {}, terms);
    const auto other = queue_up(s.direct, s.at(1));
    const auto a = ask_all(s.all);
    co_await s.until_nodes(1, 2, 0);
    s.expire();
    co_await finished(a);
    CHECK(a->error == errc::session_expired);
    co_await s.until_nodes(0, 1, 0);
}

CO_TEST("the set is lost with the first of its locks, and the others are held on") {
    three s(executor);
    auto set = co_await lock_all(s.all);
    const auto told = end_of_set(set);
    const auto stopped = end_of_set(set);
    stopped->cancel();
    co_await finished(stopped);
    CHECK(stopped->error == asio::error::operation_aborted);
    s.direct.remove(std::string(set[1].path()));
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    CHECK_FALSE(set.valid());
    CHECK(set[0].valid());
    co_await set[2].verify();
    const auto late = end_of_set(set);
    co_await finished(late);
    CHECK(late->error == errc::node_deleted);
    const auto end = give_back_set(set);
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    co_await s.until_nodes(0, 0, 0);
}

CO_TEST("a set that is given back tells so") {
    three s(executor);
    auto set = co_await lock_all(s.all);
    const auto told = end_of_set(set);
    const auto end = give_back_set(set);
    co_await finished(end);
    CHECK_FALSE(end->error);
    co_await finished(told);
    CHECK(told->error == errc::released);
}

CO_TEST("locks of several clients are taken together, and one client's end ends it") {
    three s(executor);
    client_options rooted;
    rooted.root = s.path;
    auto other = std::make_unique<client>(executor, shared_server().address(), rooted);
    s.direct.make_path(s.path + "/bb");
    std::vector<mutex> both{s.all[2], mutex(*other, "/bb"), s.all[0]};
    {
        auto set = co_await lock_all(both);
        CHECK(set.valid());
        CHECK(set[1].path().starts_with("/bb/"));
        // By the full path: between a and c.
        CHECK(set[2].fencing_token() < set[1].fencing_token());
        CHECK(set[1].fencing_token() < set[0].fencing_token());
        const auto told = end_of_set(set);
        kill_session(shared_server().address(), s.proxy.last_credentials());
        co_await finished(told);
        CHECK(told->error == errc::session_expired);
    }
    co_await s.until_nodes(0, 0, 0);
    const auto blocker = queue_up(s.direct, s.at(2));
    const auto a = ask_all(both);
    co_await s.until_nodes(1, 0, 2);
    other.reset();
    co_await finished(a);
    CHECK(a->error == errc::closed);
    co_await s.until_nodes(0, 0, 1);
}

CO_TEST("a connection cut anywhere costs nothing but time") {
    test.time_limit(120s);
    three s(executor);
    co_await s.zk.connect();
    std::size_t cuts = 0;
    for (const auto way : {direction::up, direction::down})
        for (const std::ptrdiff_t bytes : {0, 9, -1})
            for (std::size_t n = 0; n < 40; ++n) {
                INFO("frame " << n << ", direction " << static_cast<int>(way) << ", after " << bytes
                              << " bytes");
                s.proxy.cut_at(way, n, bytes, n % 2 == 0 ? cut::fin : cut::rst);
                const auto a = ask_all(s.all);
                co_await granted_all(a);
                const auto end = give_back_set(held_set(a));
                co_await finished(end);
                CHECK_MESSAGE(!end->error, end->error.message());
                co_await s.until_nodes(0, 0, 0);
                if (s.proxy.cuts() == cuts) break;
                cuts = s.proxy.cuts();
                co_await s.until_connected();
            }
    s.proxy.forget_plans();
    CHECK(cuts >= 6 * 6);
    CHECK(s.zk.epoch() == 1);
}

CO_TEST("whoever takes the same locks in any order of arguments is served, and alone") {
    test.time_limit(60s);
    three s(executor);
    client second(executor, shared_server().address());
    std::vector<mutex> seconds;
    for (int n = 0; n < 3; ++n)
        seconds.emplace_back(second, s.at(n));
    std::mt19937 random(7);
    int inside = 0, served = 0;
    const auto work = [&](std::vector<mutex> mine) -> asio::awaitable<void> {
        for (int i = 0; i < 20; ++i) {
            std::shuffle(mine.begin(), mine.end(), random);
            auto set = co_await lock_all(mine);
            CHECK(++inside == 1);
            co_await asio::post(executor, asio::use_awaitable);
            CHECK(set.valid());
            --inside;
            ++served;
            co_await set.unlock();
        }
    };
    co_await (work(s.all) && work(seconds) && work(s.all) && work(seconds));
    CHECK(served == 80);
    co_await s.until_nodes(0, 0, 0);
}

TEST_CASE("no locks, or the same one twice, is refused by the call itself") {
    asio::io_context io;
    const client zk(io.get_executor(), "localhost");
    client_options rooted;
    rooted.root = "/x";
    const client deeper(io.get_executor(), "localhost", rooted);
    const client elsewhere(io.get_executor(), "otherhost");
    const auto complaint = [](const std::vector<mutex>& all) -> std::string {
        try {
            static_cast<void>(lock_all(all, asio::use_awaitable));
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return error.what();
        }
        return {};
    };
    CHECK(complaint({}).find("mutexes") != std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(try_lock_all_for({}, 1s)), system_error);
    const mutex a(zk, "/x/y"), same(zk, "/x/y"), through_root(deeper, "/y");
    mutex_options named;
    named.name = "other";
    const mutex other_name(zk, "/x/y", named), other_path(zk, "/x"), far(elsewhere, "/x/y");
    CHECK(complaint({a, other_path, same}).find("'/x/y' is among them twice") != std::string::npos);
    CHECK_FALSE(complaint({a, a}).empty());
    CHECK_FALSE(complaint({a, through_root}).empty());
    CHECK(complaint({a, other_name, other_path, far}).empty());
    guard_set empty;
    CHECK_FALSE(empty);
    CHECK_FALSE(empty.valid());
    CHECK_THROWS_AS(static_cast<void>(empty.unlock()), system_error);
    CHECK_THROWS_AS(static_cast<void>(empty.lost()), system_error);
}
