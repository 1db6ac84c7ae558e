// Locks that are asked for in one turn of the event loop: their nodes are created, and deleted, in
// one transaction.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// Locks of one client at paths of their own, whose directories it knows to exist.
struct many_locks {
    many_locks(asio::any_io_executor executor, int count, client_options options = {})
        : zk(executor, proxy.address(), std::move(options)) {
        for (int n = 0; n < count; ++n) {
            paths.push_back(root + '/' + std::to_string(n));
            locks.emplace_back(zk, paths.back());
        }
    }

    std::vector<lock_call> ask_all() {
        std::vector<lock_call> all;
        for (auto& one : locks)
            all.push_back(ask(one));
        return all;
    }
    static asio::awaitable<void> unlock_all(std::vector<lock_call> all) {
        std::vector<under_way<>> ends;
        for (const auto& one : all)
            if (held(one)) ends.push_back(give_back(held(one)));
        co_await finished(ends);
    }
    /// After this the proxy has seen nothing.
    asio::awaitable<void> know_directories() {
        const auto all = ask_all();
        co_await finished(all);
        co_await unlock_all(all);
        proxy.forget_frames();
    }
    /// How many requests the client has sent, of each kind but for watched reads of held nodes.
    std::map<std::int32_t, std::size_t> requests() const {
        std::map<std::int32_t, std::size_t> all;
        for (const auto& f : proxy.snapshot().frames)
            if (f.way == direction::up && f.counts() && f.opcode != opcode::get) ++all[f.opcode];
        return all;
    }
    /// Each lock has one node, whose creation its token names.
    void check_nodes(const std::vector<lock_call>& all) {
        for (std::size_t n = 0; n < all.size(); ++n) {
            if (all[n]->error) continue;
            CHECK(direct.children(paths[n]).size() == 1);
            const auto node = direct.stat(std::string(held(all[n]).path()));
            REQUIRE(node);
            CHECK(node->czxid == held(all[n]).fencing_token().zxid);
        }
    }

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string root = fresh_root();
    client zk;
    std::vector<std::string> paths;
    std::deque<mutex> locks;
};

} // namespace

CO_TEST("64 locks that are asked for at once are one transaction, and so are their releases") {
    const auto count = test.full_or_brief(64U, 2U);
    many_locks s(executor, static_cast<int>(count));
    co_await s.know_directories();
    const auto all = s.ask_all();
    co_await finished(all);
    using counts = std::map<std::int32_t, std::size_t>;
    CHECK(s.requests() == counts{{opcode::multi, 1}, {opcode::children2, count}});
    s.check_nodes(all);
    std::set<std::int64_t> transactions;
    for (const auto& one : all)
        transactions.insert(held(one).fencing_token().zxid);
    CHECK(transactions.size() == 1);

    s.proxy.forget_frames();
    co_await many_locks::unlock_all(all);
    CHECK(s.requests() == counts{{opcode::multi, 1}});
    for (const auto& path : s.paths)
        CHECK(s.direct.children(path).empty());

    const auto again = s.ask_all();
    co_await finished(again);
    for (std::size_t n = 0; n < count; ++n)
        CHECK(held(again[n]).fencing_token() > held(all[n]).fencing_token());
    co_await many_locks::unlock_all(again);
}

CO_TEST("64 calls for one lock are one transaction, and their tokens grow") {
    const auto count = test.full_or_brief(64U, 2U);
    many_locks s(executor, 1);
    co_await s.know_directories();
    std::vector<lock_call> all;
    for (unsigned n = 0; n < count; ++n)
        all.push_back(ask(s.locks.front()));
    fencing_token last;
    std::set<std::int64_t> transactions;
    for (const auto& one : all) {
        co_await finished(one);
        CHECK(held(one).fencing_token() > last);
        last = held(one).fencing_token();
        transactions.insert(last.zxid);
        co_await finished(give_back(held(one)));
    }
    CHECK(transactions.size() == 1);
    CHECK(s.direct.children(s.paths.front()).empty());
}

CO_TEST("a lock that cannot have its node does not keep others from theirs") {
    many_locks s(executor, 5);
    co_await s.know_directories();
    s.direct.remove(s.paths[1]);
    s.direct.set_acl(s.paths[2], {{.permissions = 31 & ~4}}); // nobody may create
    for (int round = 0; round < 2; ++round) {
        const auto all = s.ask_all();
        co_await finished(all);
        for (std::size_t n = 0; n < all.size(); ++n)
            CHECK(all[n]->error == (n == 2 ? error_code(zk_errc::no_auth) : error_code()));
        s.check_nodes(all);
        co_await many_locks::unlock_all(all);
    }
    CHECK(s.requests().at(opcode::multi) >= 3); // a refused one, and those of the second round
}

CO_TEST("a batch that is refused does not change the order of one lock's calls") {
    many_locks s(executor, 2);
    co_await s.know_directories();
    std::size_t of_gone = 0;
    SUBCASE("the lock's directory is gone") {}
    SUBCASE("the directory of another lock is gone") { of_gone = 1; }
    s.direct.remove(s.paths[of_gone]);
    const auto count = test.full_or_brief(200U, 3U);
    std::vector<unsigned> order;
    std::vector<lock_call> others;
    for (unsigned n = 0; n < count; ++n) {
        s.locks[0].lock([&order, n](error_code failed, const guard&) {
            CHECK_FALSE(failed);
            order.push_back(n);
        });
        if (n == count / 4) others.push_back(ask(s.locks[1]));
    }
    co_await eventually([&] { return order.size() == count; });
    CHECK(std::is_sorted(order.begin(), order.end()));
    co_await finished(others);
    co_await many_locks::unlock_all(others);
}

CO_TEST("a call whose directory is gone is before a later one that was in a refused batch") {
    many_locks s(executor, 2);
    co_await s.know_directories();
    for (const auto& path : s.paths)
        s.direct.remove(path);
    s.proxy.delay(direction::down, 40ms);
    std::vector<int> order;
    const auto ask_in_order = [&](int n) {
        s.locks[0].lock([&order, n](error_code, const guard&) { order.push_back(n); });
    };
    ask_in_order(1);
    co_await eventually([&] { return s.requests()[opcode::create2] == 1; });
    asio::steady_timer before_its_answer(executor, 20ms);
    co_await before_its_answer.async_wait(asio::use_awaitable);
    const auto other = ask(s.locks[1]);
    ask_in_order(2);
    co_await eventually([&] { return order.size() == 2; });
    CHECK(order == std::vector{1, 2});
    co_await eventually([&] { return other->done(); });
}

CO_TEST("locks of a transaction whose answer is lost keep their nodes, and get no second ones") {
    many_locks s(executor, test.full_or_brief(16, 2), short_session(4s));
    co_await s.know_directories();
    s.proxy.hold(direction::down);
    const auto all = s.ask_all();
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await finished(all);
    s.check_nodes(all);
    co_await many_locks::unlock_all(all);
    for (const auto& path : s.paths)
        CHECK(s.direct.children(path).empty());
    CHECK(s.zk.epoch() == 1);
}
