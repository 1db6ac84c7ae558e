// Ending a session: at any moment, without waiting.

#include "support/counts.hpp"
#include "support/foreigner.hpp"
#include "support/proxy.hpp"
#include "support/pump_harness.hpp"
#include "support/stall_meter.hpp"
#include "support/zk_server.hpp"

#include <boost/asio/execution_context.hpp>

#include <algorithm>

using namespace paddock;
using namespace paddock::test;
using native::code::closing;
using native::code::ok;

namespace {

template <class Call>
std::chrono::steady_clock::duration time_of(Call call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - begin;
}

/// A call that does not wait takes no longer than this, plus the delay of a busy machine.
template <class Call>
void check_brief(Call call, std::chrono::milliseconds limit) {
    const stall_meter stalls;
    const auto took = time_of(call);
    CHECK(took < scaled(limit) + stalls.allowance());
}

} // namespace

TEST_CASE("close ends the session at once, and its ephemeral nodes with it") {
    foreigner other(shared_server().address());
    const stall_meter stalls;
    auto shortest = std::chrono::steady_clock::duration::max(); // the server has its part in it
    for (int round = 0; round < 5; ++round) {
        pump_harness h(shared_server().port());
        REQUIRE(h.connect());
        const std::string path = fresh_root();
        CHECK(h.wait(h.create(path, create_mode::ephemeral)).rc == ok);
        shortest = std::min(shortest, time_of([&] { h.pump->close(); }));
        CHECK(other.wait_gone(path, 5s)); // and not when the session times out
        h.pump->close();
        CHECK(h.user.disconnected == 0);
        CHECK(h.exists("/")->rc == native::code::invalid_state);
    }
    CHECK(shortest < scaled(20ms) + stalls.allowance());
}

TEST_CASE("a session ends when the server has closed it, with all requests executed") {
    foreigner other(shared_server().address());
    for (int round = 0; round < 10; ++round) {
        pump_harness h(shared_server().port());
        REQUIRE(h.connect());
        const std::string root = fresh_root();
        CHECK(h.wait(h.create(root)).rc == ok);
        std::vector<submitted> all;
        for (int i = 0; i < 200; ++i)
            all.push_back(h.create(root + "/e" + std::to_string(i), create_mode::ephemeral));
        all.push_back(h.create(root + "/kept", create_mode::persistent));
        bool over = false;
        h.pump->end_session([&] { over = true; });
        for (const auto& each : all)
            CHECK(each->times == 1);
        CHECK(h.until([&] { return over; }));
        CHECK(other.children(root) == std::vector<std::string>{"kept"});
        CHECK(h.user.disconnected == 0);
    }
}

TEST_CASE("close answers every request that is still open, exactly once") {
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    std::vector<submitted> all;
    for (int i = 0; i < 100; ++i)
        all.push_back(h.exists("/"));
    const acl any = open_acl();
    all.push_back(h.submit([&](auto& table, auto reply_to) {
        const std::vector<operation> steps{op::check{"/"}};
        return table.multi(steps, std::move(reply_to));
    }));
    h.pump->close();
    for (const auto& each : all) {
        CHECK(each->rc == closing);
        CHECK(each->times == 1);
    }
    run_for(*h.io, 50ms);
    for (const auto& each : all)
        CHECK(each->times == 1);
}

TEST_CASE("close inside a completion waits for the end of the turn") {
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    std::vector<submitted> later;
    bool inside = false;
    h.pump->submit([&](native::calls& table) {
        return table.exists("/", false, native::on_reply([&](const native::reply&) {
                                inside = true;
                                h.pump->close();
                                h.pump->close();
                                CHECK_FALSE(h.pump->ready());
                                for (const auto& each : later)
                                    CHECK_FALSE(each->answered());
                                CHECK(h.exists("/")->rc == native::code::invalid_state);
                                h.pump.reset(); // the turn keeps it alive
                            }));
    });
    for (int i = 0; i < 10; ++i)
        later.push_back(h.exists("/"));
    CHECK(h.until([&] { return inside; }));
    for (const auto& each : later)
        CHECK(h.wait(each).rc == closing);
    CHECK(h.user.disconnected == 0);
}

TEST_CASE("after close inside on_connected or on_disconnected no handler is called") {
    fault_proxy proxy(shared_server().port());
    {
        pump_harness h(proxy.port());
        h.user.when_connected = [&] { h.pump->close(); };
        CHECK(h.connect());
        proxy.cut_all(cut::rst);
        run_for(*h.io, 50ms);
        CHECK(h.user.disconnected == 0);
        CHECK(proxy.wait_for([](const auto& now) { return now.open == 0; }));
    }
    {
        pump_harness h(proxy.port());
        CHECK(h.connect());
        h.user.when_disconnected = [&] { h.pump->close(); };
        const auto open = h.exists("/");
        proxy.cut_all(cut::rst);
        CHECK(h.until([&] { return h.user.disconnected == 1; }));
        CHECK(h.wait(open).times == 1);
        const auto accepted = proxy.accepted();
        run_for(*h.io, 300ms);
        CHECK(proxy.accepted() == accepted);
    }
}

TEST_CASE("close waits only a moment for a silent server, connected or not") {
    fault_proxy proxy(shared_server().port());
    pump_harness h(proxy.port());
    REQUIRE(h.connect());
    proxy.black_hole(true);
    pump_harness connecting(proxy.port());
    REQUIRE(connecting.until([&] { return proxy.accepted() >= 2; }));
    run_for(*connecting.io, 50ms);
    check_brief([&] { connecting.pump->close(); }, 20ms);
    check_brief([&] { h.pump->close(); }, 100ms);
}

TEST_CASE("close does not wait for requests that cannot be sent") {
    zk_server server;
    pump_harness h(server.port());
    REQUIRE(h.connect());
    server.pause();
    const std::string megabyte(900'000, 'x');
    const std::string path = fresh_root();
    std::vector<submitted> all;
    for (int i = 0; i < 40; ++i)
        all.push_back(h.create(path, create_mode::persistent, megabyte));
    run_for(*h.io, 100ms);
    CHECK(h.user.up);
    check_brief([&] { h.pump->close(); }, 100ms);
    for (const auto& each : all)
        CHECK(each->rc == closing);
}

TEST_CASE("close before the first turn, and no close at all, leave nothing behind") {
    const auto fds = open_fds();
    {
        pump_harness h(shared_server().port());
        h.pump->close();
        run_for(*h.io, 20ms);
        CHECK(h.user.connected == 0);
    }
    {
        pump_harness h(shared_server().port());
        REQUIRE(h.connect());
        const auto open = h.exists("/");
        h.pump.reset();
        CHECK(open->rc == closing);
        run_for(*h.io, 20ms);
        CHECK(h.user.disconnected == 0);
    }
    { // no work is left that could keep the event loop from ending
        pump_harness h(shared_server().port());
        REQUIRE(h.connect());
        h.pump->close();
        h.io->restart();
        h.io->run_for(scaled(2s));
        CHECK(h.io->stopped());
    }
    CHECK(open_fds() == fds);
}

namespace {

/// Like a client's: a service that releases everything when the context ends.
struct closing_service final : asio::execution_context::service {
    using key_type = closing_service;
    static inline asio::execution_context::id id;
    explicit closing_service(asio::execution_context& owner) : service(owner) {}
    void shutdown() override {
        if (when_shut_down) when_shut_down();
    }
    std::function<void()> when_shut_down;
};

void destroy_context_around(pump_harness& h) {
    asio::make_service<closing_service>(*h.io);
    asio::use_service<closing_service>(*h.io).when_shut_down = [&h] {
        h.pump->close();
        h.pump.reset();
        h.env.reset();
    };
}

} // namespace

TEST_CASE("an io_context may be destroyed around a pump that connects, works, or resolves") {
    SUBCASE("works") {
        pump_harness h(shared_server().port());
        destroy_context_around(h);
        REQUIRE(h.connect());
        auto kept = h.env->make_timer();
        kept->arm(h.env->now() + 1h, [] { FAIL("late"); });
        auto woken = h.env->make_wakeup([] { FAIL("woken"); });
        woken->notify();
        h.env->post([] { FAIL("posted"); });
        const auto open = h.exists("/");
        kept.reset();
        woken.reset();
        h.io.reset();
        CHECK(open->rc == closing);
    }
    SUBCASE("connects") {
        fault_proxy proxy(shared_server().port());
        proxy.black_hole(true);
        pump_harness h(proxy.port());
        destroy_context_around(h);
        REQUIRE(h.until([&] { return proxy.accepted() == 1; }));
        h.io.reset();
    }
    SUBCASE("resolves") {
        pump_harness h(native::pump_options{{{"no-such-host.invalid", 2181, false}}, 10s, {}});
        destroy_context_around(h);
        run_for(*h.io, 5ms);
        h.io.reset();
    }
    SUBCASE("waits to resolve again") {
        pump_harness h(native::pump_options{{{"no-such-host.invalid", 2181, false}}, 10s, {}});
        destroy_context_around(h);
        REQUIRE(h.until([&] { return !h.user.troubles.empty(); }, 30s));
        h.io.reset();
    }
    SUBCASE("has never run") {
        pump_harness h(shared_server().port());
        destroy_context_around(h);
        h.io.reset();
    }
}
