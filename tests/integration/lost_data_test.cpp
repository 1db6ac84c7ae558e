// Servers that come back without their data, or with older data: they refuse the session for ever.

#include "client_support.hpp"

#include <paddock/mutex.hpp>

#include <algorithm>
#include <deque>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto session_timeout = 2s;

/// Servers that are back are used after at most a session timeout and this long.
constexpr auto promised = 5s;

struct witness {
    explicit witness(asio::any_io_executor executor, const std::string& servers)
        : zk(executor, servers, options()) {}

    client_options options() {
        auto all = with_timeout(session_timeout);
        all.log = [this](std::string_view what) { log.emplace_back(what); };
        return all;
    }
    bool has_logged(const std::string& what) const {
        return std::any_of(log.begin(), log.end(),
                           [&](const std::string& line) { return line.find(what) != line.npos; });
    }

    std::vector<std::string> log;
    client zk;
};

asio::awaitable<void> connected_again(const client& zk, std::uint64_t epoch) {
    co_await eventually(
        [&] { return zk.epoch() >= epoch && zk.state() == client_state::connected; },
        session_timeout + promised);
}

asio::awaitable<void> sleep(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

/// So that the servers' data is older than what the client has seen.
asio::awaitable<void> write_a_little(client& zk) {
    for (int n = 0; n < 20; ++n)
        co_await zk.create(fresh_root());
}

} // namespace

CO_TEST("servers that lost their data are used again, and their locks as well") {
    static zk_server server;
    server.start();
    witness holder(executor, server.address());
    witness waiter(executor, server.address());
    const mutex lock(holder.zk, "/lock");
    const mutex same(waiter.zk, "/lock");
    co_await write_a_little(holder.zk);
    guard held = co_await lock.lock();
    tally waits;
    same.lock(waits.expect());
    co_await write_a_little(waiter.zk);
    server.stop();
    server.lose_data();
    server.start();
    co_await connected_again(holder.zk, 2);
    co_await connected_again(waiter.zk, 2);
    CHECK_FALSE(held.valid());
    const auto why = co_await held.lost();
    CHECK(why == errc::lease_lapsed); // before it was known that the session is lost
    co_await eventually([&] { return waits.all_once(); });
    CHECK(waits.all_say(error_code()));
    guard next = co_await lock.lock(); // the waiter's guard is gone already
    CHECK(next.valid());
    CHECK(next.fencing_token() < held.fencing_token());
    for (const auto* const one : {&holder, &waiter}) {
        CHECK(one->has_logged(server.address() + " refused the session"));
        CHECK(one->has_logged("their data is older"));
        CHECK_FALSE(one->has_logged(" answers: check"));
    }
}

CO_TEST("servers with a restored backup are used again, behind the nodes of the session in it") {
    static zk_server server;
    server.start();
    witness w(executor, server.address());
    const mutex lock(w.zk, "/lock");
    guard held = co_await lock.lock();
    server.stop();
    server.back_up();
    server.start();
    co_await w.zk.exists("/"); // answered on the next connection
    co_await write_a_little(w.zk);
    server.stop();
    server.restore_backup();
    server.start();
    co_await connected_again(w.zk, 2);
    CHECK_FALSE(held.valid());
    guard next = co_await lock.lock();
    CHECK(next.valid());
    CHECK(w.has_logged("their data is older"));
}

CO_TEST("an outage that is longer than the session timeout does not cost the session") {
    // A server that starts keeps a session for its timeout: fifteen clients have to be back by
    // then, which they are not beside forty tests at a time.
    if (test.full_or_brief(false, true)) co_return;
    static zk_server server;
    server.start();
    std::deque<witness> all; // each comes back at another moment of the server's start
    for (int n = 0; n < 15; ++n) {
        all.emplace_back(executor, server.address());
        co_await all.back().zk.connect();
    }
    std::vector<std::int64_t> sessions;
    for (const auto& one : all)
        sessions.push_back(one.zk.session_id());
    server.kill();
    co_await sleep(session_timeout + 3s);
    server.start();
    for (std::size_t n = 0; n < all.size(); ++n) {
        co_await connected_again(all[n].zk, 1);
        CHECK(all[n].zk.session_id() == sessions[n]);
        CHECK_FALSE(all[n].has_logged("data is older than what it has seen"));
    }
}

CO_TEST("one server of three with old data is avoided, while the others are away, too") {
    static zk_server stray;
    stray.start();
    fault_proxy one(shared_server().port());
    fault_proxy other(shared_server().port());
    witness w(executor, one.address());
    co_await w.zk.connect();
    for (int n = 0; n < 5; ++n)
        co_await write_a_little(w.zk);
    w.zk.set_servers(stray.address() + ',' + one.address() + ',' + other.address());
    one.black_hole(true);
    other.black_hole(true);
    co_await eventually([&] { return w.has_logged(stray.address() + " refused the session"); },
                        session_timeout + promised);
    co_await sleep(session_timeout + 3s);
    CHECK(w.zk.epoch() == 1);
    CHECK(w.zk.state() == client_state::suspended);
    one.black_hole(false);
    co_await connected_again(w.zk, 2); // its time had run out on the servers
}

CO_TEST("set_servers moves the client to other servers of its ensemble with its session") {
    fault_proxy old(shared_server().port());
    fault_proxy next(shared_server().port());
    client zk(executor, old.address());
    const mutex lock(zk, fresh_root());
    guard held = co_await lock.lock();
    const auto session = zk.session_id();
    zk.set_servers(old.address() + ',' + next.address());
    co_await zk.exists("/");
    CHECK(old.open() == 1);
    zk.set_servers(next.address());
    co_await eventually([&] { return next.open() == 1 && old.open() == 0; });
    co_await eventually([&] { return zk.state() == client_state::connected; });
    CHECK(zk.session_id() == session);
    CHECK(held.valid());
    co_await held.unlock();
}

CO_TEST("set_servers refuses what is no list, and another root") {
    client zk(executor, shared_server().address() + "/app");
    const auto refused = [&](std::string_view list) {
        try {
            zk.set_servers(list);
        } catch (const system_error& error) {
            const std::string said = error.what();
            return error.code() == errc::bad_argument && said.find("servers") != said.npos;
        }
        return false;
    };
    CHECK(refused(""));
    CHECK(refused("a:b"));
    CHECK(refused(shared_server().address() + "/other"));
    CHECK_FALSE(refused(shared_server().address() + "/app"));
    CHECK_FALSE(refused(shared_server().address()));
    client moved(std::move(zk));
    zk.set_servers("10.0.0.1"); // NOLINT(bugprone-use-after-move): has no effect
    co_await moved.create("/", no_throw);
    co_await moved.close();
    moved.set_servers("10.0.0.1");
}
