// The pump over the real C client, a real server, and a proxy that breaks connections.

#include "support/counts.hpp"
#include "support/foreigner.hpp"
#include "support/proxy.hpp"
#include "support/pump_harness.hpp"
#include "support/zk_server.hpp"

#include <thread>

using namespace paddock;
using namespace paddock::test;
using native::code::closing;
using native::code::connection_loss;
using native::code::ok;

TEST_CASE("every call of the table works") {
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    CHECK(h.pump->session_id() != 0);
    CHECK(h.pump->session_timeout() == 10s);
    const std::string root = fresh_root();

    const auto made = h.wait(h.create(root, create_mode::persistent, "data"));
    CHECK(made.rc == ok);
    CHECK(made.value == root);
    REQUIRE(made.stat);
    CHECK(made.stat->czxid != 0);

    const auto read = h.wait(h.get(root));
    CHECK(read.value == "data");
    REQUIRE(read.stat);
    CHECK(read.stat->czxid == made.stat->czxid);
    CHECK(h.wait(h.exists(root)).stat == read.stat);

    const auto numbered = h.wait(h.create(root + "/n-", create_mode::ephemeral_sequential));
    CHECK(numbered.value == root + "/n-0000000000");
    CHECK(numbered.stat->ephemeral_owner == h.pump->session_id());
    CHECK(h.wait(h.create(root + "/c", create_mode::container)).rc == ok);

    const auto listed = h.wait(h.submit([&](auto& table, auto reply_to) {
        return table.children(root, false, std::move(reply_to));
    }));
    CHECK(listed.names.size() == 2);
    CHECK(listed.stat->num_children == 2);

    const auto set = h.wait(h.submit(
        [&](auto& table, auto reply_to) { return table.set(root, {}, 0, std::move(reply_to)); }));
    CHECK(set.stat->version == 1);
    CHECK(h.wait(h.get(root)).value.empty());
    const auto synced = h.wait(h.submit(
        [&](auto& table, auto reply_to) { return table.sync(root, std::move(reply_to)); }));
    CHECK(synced.rc == ok);

    const acl restricted{{permission::read, "world", "anyone"}};
    CHECK(h.wait(h.submit([&](auto& table, auto reply_to) {
               return table.set_acl(root + "/c", restricted, any_version, std::move(reply_to));
           })).rc == ok);
    CHECK(h.wait(h.submit([&](auto& table, auto reply_to) {
               return table.get_acl(root + "/c", std::move(reply_to));
           })).entries == restricted);
    CHECK(h.wait(h.submit([&](auto& table, auto reply_to) {
               return table.remove(root + "/c", any_version, std::move(reply_to));
           })).rc == ok);
    CHECK(h.wait(h.get(root + "/c")).rc == static_cast<int>(zk_errc::no_node));
    CHECK(h.wait(h.get(std::string("/a\0b", 4))).rc == native::code::bad_arguments);
}

TEST_CASE(
    "a multi is executed whole or not at all, and one that would crash the C client is refused") {
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    const std::string root = fresh_root();
    const auto multi = [&](std::vector<operation> steps) {
        return h.wait(h.submit(
            [&](auto& table, auto reply_to) { return table.multi(steps, std::move(reply_to)); }));
    };

    const auto done = multi({op::create{root, "a"},
                             op::create{root + "/s-", "", create_mode::ephemeral_sequential},
                             op::set{root, "b", 0}, op::check{root, 1}});
    CHECK(done.rc == ok);
    REQUIRE(done.results.size() == 4);
    CHECK(done.results[1].path == root + "/s-0000000000");
    CHECK(done.results[2].stat.version == 1);
    CHECK(done.results[2].stat.czxid != 0);

    const auto undone = multi({op::remove{root + "/s-0000000000"}, op::check{root, 7}});
    CHECK(undone.rc == static_cast<int>(zk_errc::bad_version));
    CHECK(undone.results.empty());
    CHECK(h.wait(h.exists(root + "/s-0000000000")).rc == ok);

    CHECK(multi({}).rc == ok);
    using native::code::bad_arguments;
    CHECK(multi({op::create{root + "/c", "", create_mode::container}}).rc == bad_arguments);
    CHECK(multi({op::create{root + "/t", "", create_mode::persistent_with_ttl}}).rc ==
          bad_arguments);
    for (const std::string bad : {"", "relative", "/a//b", "/a/", "/a/./b", "/a/..", "/a\1b"}) {
        CHECK(multi({op::check{root}, op::create{bad, ""}, op::remove{bad}}).rc == bad_arguments);
        CHECK(multi({op::set{bad, ""}}).rc == bad_arguments);
    }
}

TEST_CASE("a watch reports one event, and a removed watch none") {
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    foreigner other(shared_server().address());
    const std::string root = fresh_root();
    other.create(root, "");
    other.create(root + "/quiet", "");

    CHECK(h.wait(h.get(root, true)).rc == ok);
    CHECK(h.wait(h.exists(root + "/new", true)).rc == static_cast<int>(zk_errc::no_node));
    CHECK(h.wait(h.get(root + "/quiet", true)).rc == ok);
    const auto removed = h.wait(h.submit([&](auto& table, auto reply_to) {
        return table.remove_watches(root + "/quiet", std::move(reply_to));
    }));
    CHECK(removed.rc == ok);

    other.set(root + "/quiet", "1");
    other.set(root, "1");
    other.set(root, "2");
    other.create(root + "/new", "");
    CHECK(h.until([&] { return h.user.watches.size() == 2; }));
    run_for(*h.io, 50ms);
    REQUIRE(h.user.watches.size() == 2);
    CHECK(h.user.watches[0] == std::pair(native::watch_type::changed, root));
    CHECK(h.user.watches[1] == std::pair(native::watch_type::created, root + "/new"));
}

TEST_CASE("a restarted server gets the session back, its watches and credentials included") {
    zk_server server;
    pump_harness h(
        native::pump_options{{literal_server(server.port())}, 10s, {{"digest", "someone:secret"}}});
    REQUIRE(h.connect());
    const auto session = h.pump->session_id();
    const auto first = h.pump->connected_since();
    const std::string root = fresh_root();
    CHECK(h.wait(h.submit([&](auto& table, auto reply_to) {
               return table.create(root, "x", {.acl = creator_acl()}, std::move(reply_to));
           })).rc == ok);
    CHECK(h.wait(h.get(root, true)).rc == ok);

    server.kill();
    CHECK(h.until([&] { return !h.user.up; }));
    CHECK(h.get(root)->rc == native::code::invalid_state);
    server.start();
    REQUIRE(h.connect());
    CHECK(h.user.connected == 2);
    CHECK(h.pump->session_id() == session);
    CHECK(h.pump->connected_since() > first);
    CHECK(h.wait(h.get(root)).value == "x");
    CHECK(h.user.watches.empty());
    CHECK(h.wait(h.submit([&](auto& table, auto reply_to) {
               return table.remove(root, any_version, std::move(reply_to));
           })).rc == ok);
    CHECK(h.user.watches.size() == 1);
    CHECK_FALSE(h.user.over);
}

TEST_CASE("credentials that the server refuses end the session") {
    pump_harness h(native::pump_options{
        {literal_server(shared_server().port())}, 10s, {{"nonsense", "someone:secret"}}});
    CHECK(h.until([&] { return h.user.over.has_value(); }));
    CHECK(h.user.over == make_error_code(errc::auth_failed));
    CHECK(h.user.connected == h.user.disconnected);
}

TEST_CASE("a session that was ended elsewhere is over with the next connection") {
    fault_proxy proxy(shared_server().port());
    pump_harness h(proxy.port());
    REQUIRE(h.connect());
    kill_session(shared_server().address(), proxy.last_credentials());
    CHECK(h.until([&] { return h.user.over.has_value(); }));
    CHECK(h.user.over == make_error_code(errc::session_expired));
    CHECK(h.user.disconnected == 1);
    CHECK_FALSE(h.pump->ready());
    run_for(*h.io, 100ms);
}

TEST_CASE("after 40 reconnections as many descriptors are open as before") {
    fault_proxy proxy(shared_server().port());
    pump_harness h(proxy.port(), 1s);
    REQUIRE(h.connect());
    CHECK(h.wait(h.exists("/", true)).rc == ok);
    std::size_t fds = 0;
    for (int i = 0; i < 40; ++i) {
        if (i == 1) fds = open_fds();
        proxy.cut_all(i % 2 == 0 ? cut::fin : cut::rst);
        const auto want = h.user.connected + 1;
        REQUIRE(h.until([&] { return h.user.connected == want && proxy.open() == 1; }));
    }
    CHECK(h.until([&] { return open_fds() == fds; }));
    CHECK(h.user.disconnected == 40);
    CHECK_FALSE(h.user.over);
}

TEST_CASE("no thread is created for servers that are given as addresses") {
    shared_server();
    const auto before = threads();
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    CHECK(h.wait(h.exists("/")).rc == ok);
    CHECK(threads() == before + h.fronts.size());
}

TEST_CASE("two pumps on two threads do not disturb each other") {
    const auto port = shared_server().port();
    const auto work = [port] {
        pump_harness h(port);
        REQUIRE(h.connect());
        for (int round = 0; round < 20; ++round) {
            std::vector<submitted> all;
            for (int i = 0; i < 50; ++i)
                all.push_back(h.exists("/"));
            for (const auto& each : all)
                if (h.wait(each).rc != ok) FAIL_CHECK("rc " << each->rc);
        }
    };
    std::thread other(work);
    work();
    other.join();
}
