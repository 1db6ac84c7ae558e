// How a client connects, reports its state, closes, and is destroyed.

#include "client_support.hpp"
#include "support/counts.hpp"
#include "support/ports.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>

#include <optional>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a client connects when it is first needed") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    co_await let_others_run();
    CHECK(zk.state() == client_state::connecting);
    CHECK(zk.epoch() == 0);
    CHECK(zk.session_id() == 0);
    CHECK(zk.session_timeout() == 0ms);
    CHECK(proxy.accepted() == 0);

    co_await zk.exists("/");
    CHECK(zk.state() == client_state::connected);
    CHECK(zk.epoch() == 1);
    CHECK(proxy.accepted() == 1);
    CHECK(proxy.count(direction::up, opcode::exists) == 1);
}

CO_TEST("connect opens a session; the client has its id and the granted timeout") {
    for (const auto& [asked, granted] :
         {std::pair(100ms, 400ms), {3500ms, 3500ms}, {1h, 60'000ms}}) {
        client zk(executor, shared_server().address(), with_timeout(asked));
        co_await zk.connect();
        CHECK(zk.state() == client_state::connected);
        CHECK(zk.session_timeout() == granted);
        CHECK(zk.session_id() != 0);
        CHECK(zk.epoch() == 1);
    }
}

CO_TEST("a client that is connected connects at once, and its nodes are its session's") {
    client zk(executor, shared_server().address());
    co_await zk.connect();
    create_options how{.mode = create_mode::ephemeral};
    const auto made = co_await zk.create(fresh_root(), "", how);
    CHECK(made.stat.ephemeral_owner == zk.session_id());
    co_await zk.connect();
    CHECK(zk.epoch() == 1);
}

CO_TEST("a connect without a server ends by cancellation; the client goes on connecting") {
    fault_proxy proxy(shared_server().port());
    proxy.refuse(true);
    client zk(executor, proxy.address());
    for (int i = 0; i < 5; ++i) {
        asio::steady_timer timer(executor, 20ms);
        const auto first = co_await (zk.connect() || timer.async_wait(asio::use_awaitable));
        CHECK(first.index() == 1);
    }
    CHECK(zk.state() == client_state::connecting);
    proxy.refuse(false);
    co_await zk.connect();
    CHECK(zk.state() == client_state::connected);
    CHECK(zk.epoch() == 1);
}

CO_TEST("servers may be given by name, and trouble with them is logged") {
    const reserved_port unused;
    const auto dead = "localhost:" + std::to_string(unused.number());
    const auto alive = "localhost:" + std::to_string(shared_server().port());
    client both(executor, dead + ',' + alive);
    co_await both.exists("/");

    std::string log;
    client_options options;
    options.log = [&](std::string_view line) { log += line; };
    client none(executor, dead, options);
    tally all;
    none.exists("/", all.expect());
    co_await eventually([&] { return log.find("no server of ") != std::string::npos; });
    CHECK(log.find(std::to_string(unused.number())) != std::string::npos);
    CHECK(all.completions() == 0);
    CHECK(none.state() == client_state::connecting);
}

CO_TEST("a cancelled connect completes at once") {
    const reserved_port unused;
    client zk(executor, "127.0.0.1:" + std::to_string(unused.number()));
    asio::cancellation_signal stop;
    tally all;
    zk.connect(asio::bind_cancellation_slot(stop.slot(), all.expect()));
    co_await let_others_run();
    CHECK(all.completions() == 0);
    stop.emit(asio::cancellation_type::total);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == asio::error::operation_aborted);
}

CO_TEST("next_state reports every state from the first connection to the end") {
    client zk(executor, shared_server().address());
    auto state = co_await zk.next_state(client_state::connecting); // connects, too
    CHECK(state == client_state::connected);
    state = co_await zk.next_state(client_state::connecting); // at once: the state differs
    CHECK(state == client_state::connected);
    tally all;
    std::optional<client_state> told;
    zk.next_state(client_state::connected, [&](error_code error, client_state now) {
        CHECK_FALSE(error);
        told = now;
    });
    co_await let_others_run();
    CHECK_FALSE(told);
    co_await zk.close();
    co_await eventually([&] { return told.has_value(); });
    CHECK(told == client_state::closed);
}

CO_TEST("after the last state next_state fails") {
    client zk(executor, shared_server().address());
    co_await zk.close();
    const auto [error, state] = co_await zk.next_state(client_state::closed, no_throw);
    CHECK(error == errc::closed);
    CHECK(state == client_state::closed);
    const auto [no_error, from_before] = co_await zk.next_state(client_state::connecting, no_throw);
    CHECK_FALSE(no_error);
    CHECK(from_before == client_state::closed);
}

CO_TEST("next_state can be cancelled") {
    client zk(executor, shared_server().address());
    co_await zk.connect();
    asio::steady_timer timer(executor, 10ms);
    const auto first =
        co_await (zk.next_state(client_state::connected) || timer.async_wait(asio::use_awaitable));
    CHECK(first.index() == 1);
}

#if !defined(PADDOCK_TEST_SANITIZED) // which keep memory that was freed
CO_TEST("a cancelled wait leaves nothing behind, however long the client is idle") {
    fault_proxy proxy(shared_server().port());
    proxy.refuse(true);
    client zk(executor, proxy.address());
    const auto wait_and_give_up = [&](int times) -> asio::awaitable<void> {
        for (int i = 0; i < times; ++i) {
            asio::cancellation_signal stop;
            tally all;
            zk.connect(asio::bind_cancellation_slot(stop.slot(), all.expect()));
            co_await let_others_run(1);
            stop.emit(asio::cancellation_type::total);
            while (!all.all_once())
                co_await let_others_run(1);
            CHECK(all.error(0) == asio::error::operation_aborted);
        }
    };
    co_await wait_and_give_up(2000);
    const auto before = rss_bytes();
    co_await wait_and_give_up(30'000);
    CHECK(rss_bytes() < before + 4'000'000);
}
#endif

CO_TEST("close ends the session, and reports nothing after it") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address(), with_timeout(60s));
    const auto path = fresh_root();
    create_options how{.mode = create_mode::ephemeral};
    co_await zk.create(path, "", how);
    CHECK(direct.exists(path));
    co_await zk.close();
    CHECK(zk.state() == client_state::closed);
    CHECK(zk.session_id() == 0);
    CHECK(zk.session_timeout() == 0ms);
    CHECK(zk.epoch() == 1);
    CHECK_FALSE(direct.exists(path));
    co_await zk.close(); // again
    CHECK(zk.state() == client_state::closed);
}

CO_TEST("close waits a limited time for a server that does not answer, and can be cancelled") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), with_timeout(30s));
    co_await zk.connect();
    proxy.black_hole(true);
    asio::cancellation_signal stop;
    tally cancelled, waits;
    zk.close(asio::bind_cancellation_slot(stop.slot(), cancelled.expect()));
    zk.close(waits.expect());
    co_await let_others_run();
    CHECK(zk.state() == client_state::closed);
    CHECK(cancelled.completions() == 0);
    stop.emit(asio::cancellation_type::total);
    co_await eventually([&] { return cancelled.all_once(); });
    CHECK(cancelled.error(0) == asio::error::operation_aborted);
    CHECK(waits.completions() == 0);
    co_await eventually([&] { return waits.all_once(); }, 5s);
    CHECK(waits.all_say(error_code()));
}

CO_TEST("close completes every call that is under way, each exactly once") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    const auto root = fresh_root();
    co_await zk.create(root, "", create_options());
    paddock::watch armed(zk);
    paddock::watch unarmed(zk);
    paddock::watch idle(zk);
    co_await zk.get(root, armed);
    proxy.hold(direction::up);

    tally all;
    tally states;
    start_every_operation(zk, root, all);
    zk.get(root, unarmed, all.expect());
    armed.event(all.expect());
    unarmed.event(all.expect());
    idle.event(all.expect());
    zk.next_state(client_state::connected, states.expect());
    co_await eventually([&] { return proxy.waiting(direction::up) >= 11; });
    CHECK(all.completions() == 0);

    zk.close(states.expect());
    zk.close(states.expect());
    co_await eventually([&] { return all.all_once() && states.all_once(); });
    CHECK(all.started() == 14);
    CHECK(all.all_say(errc::closed));
    CHECK(states.all_say(error_code()));
    proxy.release(direction::up);
    co_await eventually([&] { return proxy.open() == 0; });
    co_await let_others_run();
    CHECK(all.all_once());
    CHECK(states.all_once());
}

CO_TEST("close completes every call that waits for the first connection, each exactly once") {
    fault_proxy proxy(shared_server().port());
    proxy.refuse(true);
    client zk(executor, proxy.address());
    paddock::watch changed(zk);
    tally all;
    start_every_operation(zk, "/a", all);
    zk.exists("/a", changed, all.expect());
    changed.event(all.expect());
    zk.connect(all.expect());
    co_await let_others_run();
    CHECK(all.completions() == 0);
    co_await zk.close();
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::closed));
    co_await let_others_run();
    CHECK(all.all_once());
}

CO_TEST("a destroyed client completes pending calls, and ends its session") {
    foreigner direct(shared_server().address());
    fault_proxy proxy(shared_server().port());
    std::optional<client> zk(std::in_place, executor, proxy.address(), with_timeout(60s));
    const auto root = fresh_root();
    create_options how{.mode = create_mode::ephemeral};
    co_await zk->create(root, "", how);
    proxy.hold(direction::down);
    tally all;
    start_every_operation(*zk, root, all);
    zk.reset();
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::closed));
    co_await eventually([&] { return !direct.exists(root); }, 5s);
}

CO_TEST("calls whose client is destroyed right after their start complete, too") {
    tally all;
    {
        client zk(executor, shared_server().address());
        start_every_operation(zk, "/a", all);
        zk.connect(all.expect());
    }
    CHECK(all.completions() == 0);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::closed));
}

CO_TEST("a closed client completes every call with closed, and sends nothing") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    co_await zk.connect();
    co_await zk.close();
    co_await eventually([&] { return proxy.open() == 0; });
    proxy.forget_frames();
    paddock::watch changed(zk);
    tally all;
    start_every_operation(zk, "/a", all);
    zk.connect(all.expect());
    zk.get("/a", changed, all.expect());
    changed.event(all.expect());
    CHECK(all.completions() == 0); // never from within the call
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::closed));
    CHECK(proxy.count(direction::up) == 0);
    CHECK(proxy.accepted() == 1);
}

CO_TEST("close does not wait for a server that does not answer") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), with_timeout(30s));
    co_await zk.connect();
    proxy.black_hole(true);
    tally all;
    start_every_operation(zk, "/a", all);
    const auto begin = std::chrono::steady_clock::now();
    co_await zk.close();
    CHECK(std::chrono::steady_clock::now() - begin < scaled(3s));
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::closed));
}

CO_TEST("a moved client goes on, and one that is assigned to is closed") {
    foreigner direct(shared_server().address());
    client first(executor, shared_server().address());
    const auto path = fresh_root();
    create_options how{.mode = create_mode::ephemeral};
    co_await first.create(path, "", how);
    client second(std::move(first));
    CHECK(second.epoch() == 1);
    co_await second.get(path);
    second = client(executor, shared_server().address());
    CHECK(second.epoch() == 0);
    co_await second.connect();
    co_await eventually([&] { return !direct.exists(path); }, 5s);
}

TEST_CASE("a client that was never used leaves nothing behind") {
    const auto fds = open_fds();
    {
        asio::io_context io;
        const client zk(io.get_executor(), shared_server().address());
        io.run();
    }
    CHECK(open_fds() == fds);
}

TEST_CASE("clients, watches and calls in coroutine frames die with their io_context") {
    const auto fds = open_fds();
    for (int round = 0; round < 3; ++round) {
        tally all;
        bool armed = false;
        {
            asio::io_context io;
            const auto wait_for_ever = [&]() -> asio::awaitable<void> {
                client zk(io.get_executor(), shared_server().address());
                paddock::watch changed(zk);
                co_await zk.get("/", changed);
                zk.next_state(client_state::connected, all.expect());
                start_every_operation(zk, fresh_root(), all);
                armed = true;
                co_await changed.event();
            };
            asio::co_spawn(io, wait_for_ever, asio::detached);
            while (!armed)
                io.run_one();
        }
        CHECK(all.completions() == 0);
    }
    CHECK(open_fds() == fds);
}

TEST_CASE("a client, a watch and their calls may outlive their io_context") {
    std::optional<asio::io_context> io(std::in_place);
    client zk(io->get_executor(), shared_server().address());
    paddock::watch changed(zk);
    tally all;
    zk.get("/", changed, all.expect());
    while (all.completions() == 0)
        io->run_one();
    CHECK_FALSE(changed.happened());
    changed.event(all.expect());
    io.reset();
    CHECK(all.completions() == 1);
    CHECK(zk.state() == client_state::closed);
}
