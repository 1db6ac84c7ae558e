// The fault-injecting proxy really does to a connection what its header says.

#include "support/counts.hpp"
#include "support/foreigner.hpp"
#include "support/proxy.hpp"
#include "support/time_scale.hpp"
#include "support/zk_server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

foreigner_options quick(std::chrono::milliseconds deadline) {
    foreigner_options options;
    options.deadline = deadline;
    return options;
}

/// A proxy in front of the shared server, a foreigner behind it, and one that goes straight.
struct through_proxy {
    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    foreigner behind{proxy.address()};
    std::string path = fresh_root();
};

} // namespace

TEST_CASE_FIXTURE(through_proxy, "the proxy passes every packet on and records it") {
    behind.create(path, "data");
    behind.ping();
    CHECK_FALSE(behind.wait_gone(path, 20ms));
    direct.remove(path);
    CHECK(proxy.wait_for([](const auto& now) { return now.count(direction::down) == 3; }));

    const auto seen = proxy.snapshot();
    CHECK(seen.accepted == 1);
    CHECK(seen.open == 1);
    CHECK(seen.cuts == 0);
    CHECK(seen.count(direction::up) == 2); // without handshake and ping
    CHECK(seen.count(direction::up, opcode::create) == 1);
    CHECK(seen.count(direction::up, opcode::ping) == 1);
    CHECK(seen.count(direction::down, opcode::exists) == 1);
    CHECK(seen.count(direction::down, opcode::notification) == 1);
    REQUIRE(seen.frames.size() == 9);
    CHECK(seen.frames[0].opcode == opcode::create_session);
    CHECK(seen.frames[1].way == direction::down);
    const auto& request = seen.frames[2];
    CHECK(request.path == path);
    CHECK(request.xid == 1);
    CHECK(request.connection == 1);
    CHECK(request.forwarded == request.size);
    const auto& reply = seen.frames[3];
    CHECK(reply.opcode == opcode::create);
    CHECK(reply.path == path);
    CHECK(reply.zxid > 0);
    CHECK(reply.error == 0);
    CHECK(reply.when >= request.when);
    CHECK(seen.frames.back().xid == special_xid::notification);
    CHECK(seen.frames.back().path == path);

    CHECK(proxy.last_credentials().session_id == behind.session_id());
    CHECK(proxy.last_credentials().password == behind.session().password);
    CHECK(proxy.last_credentials().timeout == 60s);
    proxy.forget_frames();
    CHECK(proxy.count(direction::up) == 0);
    behind.close();
    CHECK(proxy.wait_for([](const auto& now) { return now.open == 0; }));
}

TEST_CASE_FIXTURE(through_proxy,
                  "a session can be killed with the credentials that the proxy recorded") {
    kill_session(shared_server().address(), proxy.last_credentials());
    CHECK(code_of([&] { behind.exists("/"); }) == zk_code::connection_loss);
}

TEST_CASE_FIXTURE(through_proxy, "a request that is cut in the middle is not executed") {
    for (const auto how : {cut::fin, cut::rst}) {
        for (const std::ptrdiff_t bytes : {0, 1, 4, 11}) {
            CAPTURE(bytes);
            foreigner one(proxy.address());
            proxy.cut_at(direction::up, 1, bytes, how);
            CHECK_FALSE(one.exists(path));
            const auto code = code_of([&] { one.create(path); });
            CHECK(code == zk_code::connection_loss);
            const auto all = proxy.snapshot().frames;
            CHECK(all.back().opcode == opcode::create);
            CHECK(all.back().forwarded == static_cast<std::size_t>(bytes));
        }
    }
    CHECK(proxy.cuts() == 8);
    direct.sync("/");
    CHECK_FALSE(direct.exists(path));
    CHECK_FALSE(behind.exists(path)); // its connection was not touched
}

TEST_CASE_FIXTURE(through_proxy, "a reply that is cut leaves the client in doubt") {
    SUBCASE("in the middle") { proxy.cut_at(direction::down, 0, 7); }
    SUBCASE("before it begins") { proxy.cut_at(direction::down, 0, 0, cut::rst); }
    SUBCASE("because the connection ends right behind the request") {
        proxy.cut_at(direction::up, 0, -1);
    }
    CHECK(code_of([&] { behind.create(path); }) == zk_code::connection_loss);
    CHECK(proxy.cuts() == 1);
    // Nothing orders the requests of two connections: the server may read this one first.
    const auto end = std::chrono::steady_clock::now() + scaled(10s);
    while (!direct.exists(path) && std::chrono::steady_clock::now() < end) {
    }
    CHECK(direct.exists(path));
}

TEST_CASE_FIXTURE(through_proxy, "cutting all connections does not stop new ones") {
    for (const auto how : {cut::fin, cut::rst}) {
        foreigner one(proxy.address());
        proxy.cut_all(how);
        CHECK(code_of([&] { one.exists("/"); }) == zk_code::connection_loss);
        CHECK(proxy.open() == 0);
    }
    foreigner(proxy.address()).exists("/");
}

TEST_CASE_FIXTURE(through_proxy, "a black hole holds all bytes, and releases them later") {
    foreigner impatient(proxy.address(), quick(1s));
    proxy.black_hole(true);
    CHECK(code_of([&] { impatient.create(path); }) == zk_code::operation_timeout);
    CHECK(code_of([&] { foreigner(proxy.address(), quick(100ms)); }) == zk_code::operation_timeout);
    CHECK(proxy.accepted() == 3);
    CHECK(proxy.waiting(direction::up) == 2); // the request, and the newcomer's handshake
    CHECK_FALSE(direct.exists(path));
    proxy.black_hole(false);
    CHECK(impatient.get(path).data.empty());
}

TEST_CASE_FIXTURE(through_proxy, "refused connections come back on the same port") {
    proxy.refuse(true);
    CHECK(code_of([&] { foreigner(proxy.address()); }) == zk_code::connection_loss);
    behind.exists("/"); // existing connections live on
    proxy.refuse(false);
    foreigner(proxy.address()).exists("/");
}

TEST_CASE_FIXTURE(through_proxy, "held packets go out in one burst") {
    SUBCASE("held from the first request on") { proxy.hold(direction::up); }
    SUBCASE("held from the first request that matches") {
        proxy.hold_from(direction::up, opcode::create);
        CHECK_FALSE(behind.exists(path));
    }
    auto created = std::async(std::launch::async, [&] { behind.create(path); });
    CHECK(proxy.wait_for([](const auto& now) { return now.count(direction::up, opcode::create); }));
    CHECK_FALSE(direct.exists(path));
    CHECK(proxy.waiting(direction::up) == 1);
    CHECK(proxy.snapshot().frames.back().forwarded == 0);
    proxy.release(direction::up);
    created.get();
    CHECK(direct.exists(path));
}

TEST_CASE_FIXTURE(through_proxy, "holding by a frame touches only that frame's connection") {
    proxy.hold_from(direction::down, opcode::create, path);
    auto created = std::async(std::launch::async, [&] { behind.create(path); });
    CHECK(proxy.wait_for([](const auto& now) { return now.count(direction::down) == 1; }));
    CHECK(direct.exists(path));
    foreigner(proxy.address()).get(path);
    CHECK(created.wait_for(0s) == std::future_status::timeout);
    proxy.release(direction::down);
    created.get();
}

TEST_CASE_FIXTURE(through_proxy,
                  "a request can reach the server after its client has disconnected") {
    proxy.hold(direction::up);
    CHECK(code_of([&] {
              auto cutter = std::async(std::launch::async, [&] {
                  proxy.wait_for([](const auto& now) { return now.count(direction::up) == 1; });
                  proxy.cut_all(cut::fin, side::client);
              });
              behind.create(path);
          }) == zk_code::connection_loss);
    CHECK_FALSE(direct.exists(path));
    proxy.release(direction::up);
    CHECK(proxy.wait_for([](const auto& now) { return now.open == 0; }));
    direct.sync("/");
    CHECK(direct.exists(path));
}

TEST_CASE_FIXTURE(through_proxy, "delayed frames arrive late and in order") {
    proxy.delay(direction::down, 60ms);
    const auto begin = std::chrono::steady_clock::now();
    behind.create(path);
    CHECK(std::chrono::steady_clock::now() - begin >= 60ms);
    proxy.delay(direction::down, 0ms);
    CHECK(behind.exists(path));
}

TEST_CASE("a proxy in front of nothing ends its connections") {
    zk_server server;
    server.stop();
    fault_proxy proxy(server.port());
    CHECK(code_of([&] { foreigner(proxy.address()); }) == zk_code::connection_loss);
    CHECK(proxy.wait_for([](const auto& now) { return now.open == 0; }));
}

TEST_CASE("a proxy takes its thread and its descriptors with it") {
    shared_server();
    const auto fds = open_fds();
    const auto running = threads();
    {
        fault_proxy proxy(shared_server().port());
        foreigner one(proxy.address());
        CHECK(threads() > running);
        one.abandon();
    }
    CHECK(open_fds() == fds);
}
