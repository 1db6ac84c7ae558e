// Two holders of one lock, the first of which is paused between its read and its write: the last
// article is sold once. With SQLite, and with ZooKeeper itself.

#include "support/guarded_harness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <sqlite3.h>
#include <stdexcept>
#include <string>

using namespace paddock;
using namespace paddock::test;
using outcome = guarded_outcome;

namespace {

/// How a store checks tokens.
enum class fence {
    compare, ///< it refuses a smaller token than the last writer's, and no other
    claim    ///< a holder claims it before it reads; only the last claim may write
};

/// A number of articles in a database, and the greatest token that it has seen.
class shop {
public:
    explicit shop(fence how) : how_(how) {
        need(sqlite3_open(":memory:", &db_));
        run("CREATE TABLE stock (articles INTEGER, zxid INTEGER, sub INTEGER)", {});
        run("INSERT INTO stock VALUES (1, 0, 0)", {});
    }
    ~shop() { sqlite3_close(db_); }
    shop(const shop&) = delete;
    shop& operator=(const shop&) = delete;

    bool claim(fencing_token t) {
        if (how_ == fence::compare) return true;
        return run("UPDATE stock SET zxid = ?1, sub = ?2 WHERE (zxid, sub) <= (?1, ?2)", t) == 1;
    }
    int articles() {
        sqlite3_stmt* query = nullptr;
        need(sqlite3_prepare_v2(db_, "SELECT articles FROM stock", -1, &query, nullptr));
        const bool found = sqlite3_step(query) == SQLITE_ROW;
        const int count = sqlite3_column_int(query, 0);
        need(sqlite3_finalize(query));
        REQUIRE(found);
        return count;
    }
    bool write(int articles, fencing_token t) {
        const std::string set = "UPDATE stock SET zxid = ?1, sub = ?2, articles = ?3 WHERE ";
        const auto when =
            how_ == fence::claim ? "(zxid, sub) = (?1, ?2)" : "(zxid, sub) <= (?1, ?2)";
        return run((set + when).c_str(), t, articles) == 1;
    }

private:
    void need(int code) {
        if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
    }
    int run(const char* sql, fencing_token t, int articles = 0) {
        sqlite3_stmt* change = nullptr;
        need(sqlite3_prepare_v2(db_, sql, -1, &change, nullptr));
        sqlite3_bind_int64(change, 1, t.zxid);
        sqlite3_bind_int64(change, 2, static_cast<sqlite3_int64>(t.sub));
        sqlite3_bind_int(change, 3, articles);
        sqlite3_step(change);
        need(sqlite3_finalize(change));
        return sqlite3_changes(db_);
    }

    fence how_;
    sqlite3* db_ = nullptr;
};

/// A holder that sells the last article, step by step.
struct seller {
    bool may_operate = true, may_commit = true; ///< a pause, until it is true
    bool operating = false, committing = false;

    /// Sells from a database.
    guarded_steps<int> from(shop& store) {
        auto steps = from_anywhere();
        steps.claim = [&store](fencing_token t) -> asio::awaitable<bool> {
            co_return store.claim(t);
        };
        steps.record = [&store]() -> asio::awaitable<int> { co_return store.articles(); };
        steps.commit = [this, &store](int& left, fencing_token t) -> asio::awaitable<void> {
            committing = true;
            co_await eventually([this] { return may_commit; });
            if (!store.write(left, t)) throw system_error(errc::lock_lost);
        };
        return steps;
    }
    guarded_steps<int> from_anywhere() {
        guarded_steps<int> steps;
        steps.operate = [this](int& left) -> asio::awaitable<void> {
            operating = true;
            co_await eventually([this] { return may_operate; });
            if (left == 0) throw std::runtime_error("sold out");
            --left;
        };
        steps.restore = [](int&) -> asio::awaitable<void> { co_return; };
        return steps;
    }
};

} // namespace

CO_TEST("of two holders that read before either writes, one sells, if both claim first") {
    for (const auto& round : test.each(std::array{fence::claim, fence::compare})) {
        const auto how = std::get<fence>(round);
        shop store(how);
        scene s(executor);
        client next(executor, shared_server().address());
        mutex same(next, s.path);
        seller first{.may_commit = false}, second{.may_operate = false};

        const guard a = co_await s.lock.lock();
        const auto one = begin(executor, a, first.from(store));
        co_await eventually([&] { return first.committing; }); // and stands still
        s.direct.remove(std::string(a.path()));
        const guard b = co_await same.lock();
        const auto two = begin(executor, b, second.from(store));
        co_await eventually([&] { return second.operating; }); // it has read
        first.may_commit = true;
        co_await ended(one);
        second.may_operate = true;
        co_await ended(two);

        expect(two->end(), outcome::committed, {});
        CHECK(store.articles() == 0);
        if (how == fence::claim)
            expect(one->end(), outcome::restored, errc::lock_lost);
        else // there was one article
            expect(one->end(), outcome::committed, {});
    }
}

CO_TEST("a claim that comes late is refused, and nothing is read") {
    shop store(fence::claim);
    scene s(executor);
    client next(executor, shared_server().address());
    mutex same(next, s.path);
    seller first, second;
    const guard a = co_await s.lock.lock();
    auto steps = first.from(store);
    bool claiming = false, may_claim = false;
    steps.claim = [&](fencing_token t) -> asio::awaitable<bool> {
        claiming = true;
        // Like a request that is under way when its sender is cancelled.
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await eventually([&] { return may_claim; });
        co_return store.claim(t);
    };
    const auto one = begin(executor, a, std::move(steps));
    co_await eventually([&] { return claiming; });
    s.direct.remove(std::string(a.path()));
    const guard b = co_await same.lock();
    const auto two = begin(executor, b, second.from(store));
    co_await ended(two);
    expect(two->end(), outcome::committed, {});
    may_claim = true;
    co_await ended(one);
    expect(one->end(), outcome::nothing_done, errc::lock_lost);
    CHECK_FALSE(first.operating);
    CHECK(store.articles() == 0);
    // Its own token is not larger: a holder may work twice.
    const auto again = co_await guarded(b, second.from(store));
    expect(again, outcome::restored, {});
    CHECK(text_in(again.reason) == "sold out");
}

namespace {

/// Sells from a node, which is changed only if it is as it was read.
guarded_steps<int> from_node(seller& customer, client& zk, const std::string& node,
                             std::function<void()> at_commit = {}) {
    auto steps = customer.from_anywhere();
    const auto version = std::make_shared<std::int32_t>();
    steps.record = [&zk, node, version]() -> asio::awaitable<int> {
        const auto now = co_await zk.get(node);
        *version = now.stat.version;
        co_return std::stoi(now.data);
    };
    steps.commit = [node, version, at_commit](int& left) {
        if (at_commit) at_commit();
        return std::vector<operation>{op::set{node, std::to_string(left), *version}};
    };
    return steps;
}

} // namespace

CO_TEST("of two holders that read a node before either writes it, one sells") {
    scene s(executor);
    client next(executor, shared_server().address());
    mutex same(next, s.path);
    const auto node = s.path + "-articles";
    s.direct.create(node, "1");
    seller first, second{.may_operate = false};

    const guard a = co_await s.lock.lock();
    // What it sends is stopped on its way: the holder is paused after its last look.
    auto steps =
        from_node(first, s.zk, node, [&] { s.proxy.hold_from(direction::up, opcode::multi); });
    const auto one = begin(executor, a, std::move(steps));
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    s.direct.remove(std::string(a.path()));
    const guard b = co_await same.lock();
    const auto two = begin(executor, b, from_node(second, next, node));
    co_await eventually([&] { return second.operating; }); // it has read
    s.proxy.release(direction::up);
    co_await ended(one);
    expect(one->end(), outcome::restored, errc::lock_lost);
    second.may_operate = true;
    co_await ended(two);
    expect(two->end(), outcome::committed, {});
    CHECK(s.direct.get(node).data == "0");
    s.direct.remove(node);
}

CO_TEST("a transaction refuses a value that was read too early, or changed without the lock") {
    scene s(executor);
    const auto node = s.path + "-articles";
    s.direct.create(node, "1");
    seller customer{.may_operate = false};
    const guard g = co_await s.lock.lock();
    const auto way = begin(executor, g, from_node(customer, s.zk, node));
    co_await eventually([&] { return customer.operating; });
    s.direct.set(node, "0");
    customer.may_operate = true;
    co_await ended(way);
    expect(way->end(), outcome::restored, zk_errc::bad_version);
    CHECK(g.valid());
    CHECK(s.direct.get(node).data == "0");
    s.direct.remove(node);
}
