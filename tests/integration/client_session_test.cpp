// Sessions that expire, and servers that stop, start and stand still.

#include "client_support.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <array>
#include <optional>

using namespace paddock;
using namespace paddock::test;

namespace {

using states = std::vector<client_state>;

/// Records every state until the client is closed.
asio::awaitable<void> record(client& zk, states& seen) {
    auto state = zk.state();
    seen.push_back(state);
    while (state != client_state::closed) {
        state = co_await zk.next_state(state);
        seen.push_back(state);
    }
}

} // namespace

CO_TEST("next_state reports every change over two sessions") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    states seen;
    asio::co_spawn(executor, record(zk, seen), asio::detached);
    co_await zk.connect();
    const auto first = zk.session_id();
    proxy.cut_all(cut::fin);
    co_await eventually([&] { return seen.size() == 4; }); // suspended, and connected again
    CHECK(zk.session_id() == first);
    CHECK(zk.epoch() == 1);
    kill_session(shared_server().address(), proxy.last_credentials());
    co_await eventually([&] { return zk.epoch() >= 2; });
    CHECK(zk.state() == client_state::connected);
    CHECK(zk.session_id() != first);
    CHECK(zk.session_id() != 0);
    co_await zk.close();
    co_await eventually([&] { return seen.back() == client_state::closed; });
    CHECK(seen == states{client_state::connecting, client_state::connected, client_state::suspended,
                         client_state::connected, client_state::suspended, client_state::expired,
                         client_state::connecting, client_state::connected, client_state::closed});
}

CO_TEST("an expired session's nodes go; calls under way go on in the next session") {
    fault_proxy proxy(shared_server().port());
    foreigner direct(shared_server().address());
    client zk(executor, proxy.address());
    const auto root = fresh_root();
    direct.create(root, "1");
    create_options ephemeral{.mode = create_mode::ephemeral};
    co_await zk.create(root + "/e", "", ephemeral);
    const auto first = zk.session_id();

    proxy.hold(direction::down);
    tally writes;
    tally others;
    zk.set(root, "2", any_version, writes.expect());
    zk.get(root, others.expect());
    co_await eventually([&] { return proxy.waiting(direction::down) >= 2; });
    proxy.refuse(true);
    proxy.cut_all(cut::rst);
    proxy.release(direction::down);
    co_await eventually([&] { return writes.all_once(); });
    CHECK(writes.all_say(errc::outcome_unknown));
    zk.create(root + "/e", "", ephemeral, others.expect());
    zk.set(root, "3", 1, others.expect());
    kill_session(shared_server().address(), proxy.last_credentials());
    co_await eventually([&] { return !direct.exists(root + "/e"); });
    CHECK(others.completions() == 0);
    CHECK(zk.session_id() == first); // the client does not know yet

    proxy.refuse(false);
    co_await eventually([&] { return others.all_once(); });
    CHECK(others.all_say(error_code()));
    CHECK(zk.epoch() == 2);
    CHECK(zk.session_id() != first);
    CHECK(direct.get(root).data == "3");
    CHECK(direct.stat(root + "/e")->ephemeral_owner == zk.session_id());
}

CO_TEST("a client that was cut off for too long begins a new session") {
    fault_proxy proxy(shared_server().port());
    foreigner direct(shared_server().address());
    client zk(executor, proxy.address(), with_timeout(1s));
    const auto path = fresh_root();
    create_options ephemeral{.mode = create_mode::ephemeral};
    co_await zk.create(path, "", ephemeral);
    proxy.black_hole(true);
    auto state = co_await zk.next_state(client_state::connected);
    CHECK(state == client_state::suspended);
    co_await eventually([&] { return !direct.exists(path); });
    CHECK(zk.epoch() == 1);
    proxy.black_hole(false);
    co_await zk.connect();
    co_await eventually([&] { return zk.epoch() >= 2; });
    co_await zk.create(path, "", ephemeral);
    CHECK(direct.stat(path)->ephemeral_owner == zk.session_id());
}

CO_TEST("each of ten sessions has its own epoch") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    co_await zk.connect();
    std::int64_t last = 0;
    const std::uint64_t many = test.full_or_brief(10, 3);
    for (std::uint64_t epoch = 1; epoch <= many; ++epoch) {
        co_await eventually(
            [&] { return zk.epoch() == epoch && zk.state() == client_state::connected; });
        CHECK(zk.session_id() != last);
        last = zk.session_id();
        co_await eventually([&] { return proxy.last_credentials().session_id == last; });
        kill_session(shared_server().address(), proxy.last_credentials());
        co_await zk.exists("/"); // in this session, or the next
    }
    co_await eventually([&] { return zk.epoch() == many + 1; });
}

CO_TEST("a client that is closed while its session expires is closed") {
    fault_proxy proxy(shared_server().port());
    const std::size_t rounds = test.full_or_brief(10, 4);
    for (std::size_t round = 0; test.begin_round(round, rounds); ++round) {
        client zk(executor, proxy.address());
        co_await zk.connect();
        tally all;
        start_every_operation(zk, fresh_root(), all);
        kill_session(shared_server().address(), proxy.last_credentials());
        co_await let_others_run(static_cast<int>(round) * 3);
        co_await zk.close();
        co_await eventually([&] { return all.all_once(); });
        CHECK(zk.state() == client_state::closed);
    }
}

CO_TEST("the session and its nodes survive a restart of the server") {
    static zk_server server;
    server.start();
    const auto path = fresh_root();
    client zk(executor, server.address(), with_timeout(20s));
    create_options ephemeral{.mode = create_mode::ephemeral};
    co_await zk.create(path + "-e", "", ephemeral);
    co_await zk.create(path, "1", create_options());
    const auto session = zk.session_id();
    for (const auto& round : test.each(std::array{false, true})) {
        const bool orderly = std::get<bool>(round);
        tally reads;
        if (orderly)
            server.stop();
        else
            server.kill();
        co_await zk.next_state(client_state::connected);
        zk.get(path, reads.expect());
        const std::string data = orderly ? "3" : "2";
        zk.set(path, data, any_version, reads.expect());
        co_await let_others_run();
        CHECK(reads.completions() == 0);
        server.start();
        co_await eventually([&] { return reads.all_once(); });
        CHECK(reads.all_say(error_code()));
        const auto read = co_await zk.get(path);
        CHECK(read.data == data);
        const auto stat = co_await zk.exists(path + "-e");
        CHECK(stat.ephemeral_owner == session);
        CHECK(zk.session_id() == session);
    }
}

CO_TEST("a client waits for a server that stands still for a moment") {
    static zk_server server;
    server.start();
    const auto path = fresh_root();
    client zk(executor, server.address(), with_timeout(20s));
    co_await zk.create(path, "1", create_options());
    server.pause();
    tally all;
    zk.get(path, all.expect());
    zk.set(path, "2", any_version, all.expect());
    asio::steady_timer timer(executor, 300ms);
    const auto first =
        co_await (zk.next_state(client_state::connected) || timer.async_wait(asio::use_awaitable));
    CHECK(first.index() == 1);
    CHECK(all.completions() == 0);
    server.resume();
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(error_code()));
    CHECK(zk.state() == client_state::connected);
}

CO_TEST("a client gives up a server that stands still for long, and finds it again") {
    static zk_server server;
    server.start();
    const auto path = fresh_root();
    client zk(executor, server.address(), with_timeout(1500ms));
    co_await zk.create(path, "1", create_options());
    server.pause();
    tally reads;
    tally writes;
    zk.get(path, reads.expect());
    zk.set(path, "2", 0, writes.expect());
    const auto state = co_await zk.next_state(client_state::connected);
    CHECK(state == client_state::suspended);
    co_await eventually([&] { return writes.all_once(); });
    CHECK(writes.error(0) == errc::outcome_unknown);
    CHECK(reads.completions() == 0);
    server.resume();
    co_await eventually([&] { return reads.all_once(); });
    CHECK(reads.all_say(error_code()));
    const auto read = co_await zk.get(path);
    CHECK(read.stat.version <= 1);
}
