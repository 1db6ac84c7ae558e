// The short forms of calls: connect_for, and the defaults of create, set and remove.

#include "client_support.hpp"

using namespace paddock;
using namespace paddock::test;

CO_TEST("connect_for ends after its limit; the client goes on connecting") {
    fault_proxy proxy(shared_server().port());
    proxy.refuse(true);
    client zk(executor, proxy.address());
    for (const auto limit : {20ms, 0ms, -1ms}) {
        const auto [late] = co_await zk.connect_for(limit, no_throw);
        CHECK(late == errc::not_connected);
    }
    const auto past = std::chrono::system_clock::now() - 1h;
    const auto [too_late] = co_await zk.connect_until(past, no_throw);
    CHECK(too_late == errc::not_connected);
    CHECK(zk.state() == client_state::connecting);
    proxy.refuse(false);
    co_await zk.connect_for(1h);
    CHECK(zk.state() == client_state::connected);
    const auto [already] = co_await zk.connect_for(0s, no_throw);
    CHECK_FALSE(already);
    co_await zk.close();
    const auto [closed] = co_await zk.connect_for(1h, no_throw);
    CHECK(closed == errc::closed);
}

CO_TEST("create, set and remove have defaults") {
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    co_await zk.create(path);
    co_await zk.create(path + "/empty");
    co_await zk.create(path + "/full", "data");
    co_await zk.set(path + "/empty", "more");
    const auto first = co_await zk.get(path + "/empty");
    const auto second = co_await zk.get(path + "/full");
    CHECK(first.data == "more");
    CHECK(first.stat.ephemeral_owner == 0);
    CHECK(second.data == "data");
    co_await zk.remove(path + "/empty");
    const auto [why, stat] = co_await zk.exists(path + "/empty", no_throw);
    CHECK(why == zk_errc::no_node);
}
