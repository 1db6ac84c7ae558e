// The test support itself, against a real server: without a real fault, or a real server, other
// tests would prove nothing.

#include "support/admin.hpp"
#include "support/co_test.hpp"
#include "support/counts.hpp"
#include "support/foreigner.hpp"
#include "support/proxy.hpp"
#include "support/zk_server.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

using namespace paddock::test;

namespace {

foreigner_options quick(std::chrono::milliseconds deadline) {
    foreigner_options options;
    options.deadline = deadline;
    return options;
}

} // namespace

TEST_CASE("a foreigner creates, reads, changes and removes nodes") {
    foreigner one(shared_server().address());
    const auto root = fresh_root();
    one.make_path(root + "/a/b");
    one.make_path(root + "/a/b");
    CHECK(one.create(root + "/x", "hello") == root + "/x");
    CHECK(one.get(root + "/x").data == "hello");
    CHECK(one.set(root + "/x", "good bye").version == 1);
    const auto read = one.get(root + "/x");
    CHECK(read.data == "good bye");
    CHECK(read.stat.mzxid > read.stat.czxid);
    CHECK(read.stat.ephemeral_owner == 0);
    CHECK(one.children(root) == std::vector<std::string>{"a", "x"});
    CHECK(code_of([&] { one.create(root + "/x"); }) == zk_code::node_exists);
    CHECK(code_of([&] { one.remove(root); }) == zk_code::not_empty);
    CHECK(code_of([&] { one.set(root + "/x", "", 7); }) == zk_code::bad_version);
    one.remove_all(root);
    CHECK_FALSE(one.exists(root));
    CHECK(code_of([&] { one.get(root); }) == zk_code::no_node);
}

TEST_CASE("a foreigner creates all kinds of nodes") {
    foreigner one(shared_server().address());
    const auto root = fresh_root();
    one.create(root, "", node_mode::container);
    CHECK(one.create(root + "/s-", "", node_mode::persistent_sequential) == root + "/s-0000000000");
    const auto path = one.create(root + "/e-", "", node_mode::ephemeral_sequential);
    CHECK(path == root + "/e-0000000001");
    CHECK(one.get(path).stat.ephemeral_owner == one.session_id());
    one.create(root + "/ttl", "", node_mode::persistent_ttl, {acl_entry{}}, 1h);
    CHECK(one.children(root).size() == 3);
}

TEST_CASE("access control lists and digest authentication reach the server") {
    foreigner owner(shared_server().address());
    const auto path = fresh_root();
    owner.add_auth("someone:secret");
    owner.create(path, "", node_mode::persistent, {{31, "auth", ""}});
    foreigner other(shared_server().address());
    CHECK(code_of([&] { other.get(path); }) == zk_code::no_auth);
    other.add_auth("someone:secret");
    other.get(path);
    other.set_acl(path, {acl_entry{}});
    foreigner(shared_server().address()).get(path);
}

TEST_CASE("ephemeral nodes live exactly as long as their session") {
    auto& server = shared_server();
    foreigner watcher(server.address());
    const auto path = fresh_root();
    foreigner owner(server.address());

    SUBCASE("which a closing foreigner ends") {
        owner.create(path, "", node_mode::ephemeral);
        owner.close();
        CHECK(watcher.wait_gone(path));
    }
    SUBCASE("which survives a lost connection") {
        owner.create(path, "", node_mode::ephemeral);
        owner.abandon();
        CHECK_FALSE(watcher.wait_gone(path, 100ms));
        foreigner_options options;
        options.session = owner.session();
        foreigner again(server.address(), options);
        CHECK(again.session_id() == owner.session_id());
        again.remove(path);
        CHECK(watcher.wait_gone(path));
    }
    SUBCASE("which expires at its timeout") {
        foreigner_options options;
        options.session_timeout = 1s;
        foreigner brief(server.address(), options);
        brief.create(path, "", node_mode::ephemeral);
        brief.abandon();
        CHECK(watcher.wait_gone(path));
    }
    SUBCASE("which can be killed") {
        owner.create(path, "", node_mode::ephemeral);
        kill_session(server.address(), owner.session());
        CHECK(watcher.wait_gone(path));
        CHECK(code_of([&] { owner.exists(path); }) == zk_code::connection_loss);
        foreigner_options options;
        options.session = owner.session();
        CHECK(code_of([&] { foreigner(server.address(), options); }) == zk_code::session_expired);
        kill_session(server.address(), owner.session()); // fine when it is over
    }
}

TEST_CASE("the server's HTTP interface counts watches") {
    auto& server = shared_server();
    foreigner owner(server.address());
    const auto root = fresh_root();
    owner.make_path(root + "/a");
    owner.make_path(root + "0");
    foreigner one(server.address());
    foreigner two(server.address());
    CHECK(count_watches_under(server.admin_port(), root) == 0);
    const auto before = watch_summary(server.admin_port());
    CHECK_FALSE(one.wait_gone(root + "/a", 50ms)); // leaves its watch behind
    CHECK_FALSE(two.wait_gone(root + "/a", 50ms));
    CHECK_FALSE(two.wait_gone(root, 50ms));
    CHECK_FALSE(two.wait_gone(root + "0", 50ms));
    CHECK(count_watches_under(server.admin_port(), root) == 3);
    CHECK(count_watches_under(server.admin_port(), root + "/a") == 2);
    CHECK(watches_by_path(server.admin_port())[root + "/a"].size() == 2);
    const auto after = watch_summary(server.admin_port());
    CHECK(after.watches == before.watches + 4);
    CHECK(after.paths == before.paths + 3);
    CHECK(after.connections == before.connections + 2);
}

TEST_CASE("a server keeps its port and its data when it is stopped or killed") {
    zk_server server;
    const auto port = server.port();
    {
        foreigner one(server.address());
        one.create("/kept", "here");
        SUBCASE("stopped") { server.stop(); }
        SUBCASE("killed") { server.kill(); }
        CHECK_FALSE(server.running());
        CHECK(code_of([&] { foreigner(server.address()); }) == zk_code::connection_loss);
        one.abandon();
    }
    server.start();
    CHECK(server.running());
    CHECK(server.port() == port);
    CHECK(foreigner(server.address()).get("/kept").data == "here");
}

TEST_CASE("a paused server accepts connections and answers nothing until it is resumed") {
    zk_server server;
    foreigner one(server.address(), quick(1s));
    server.pause();
    CHECK(code_of([&] { one.exists("/"); }) == zk_code::operation_timeout);
    server.resume();
    foreigner(server.address()).get("/");
}

TEST_CASE("a server that cannot start reports the reason") {
    zk_server_options options;
    options.config = {"tickTime=nonsense"};
    std::string text;
    try {
        zk_server server(options);
    } catch (const std::runtime_error& error) {
        text = error.what();
    }
    CHECK_MESSAGE(text.find("nonsense") != std::string::npos, text);
}

TEST_CASE("a child process inherits no file descriptors, and leaves none behind") {
    shared_server();
    const auto before = open_fds();
    {
        zk_server server;
        CHECK(server.ask("ruok") == "imok");
    }
    CHECK(open_fds() == before);
}

TEST_CASE("a torn down test goes through each step once, and first through ones far apart") {
    for (std::size_t count = 0; count < 300; ++count) {
        auto steps = teardown_steps(count);
        const auto first = steps.begin();
        for (auto step = first; count > 50 && step != first + 4; ++step) {
            for (auto other = first; other != step; ++other) {
                const auto apart = std::max(*step, *other) - std::min(*step, *other);
                CHECK_MESSAGE(apart * 10 >= count, *step << " and " << *other << " of " << count);
            }
        }
        std::sort(steps.begin(), steps.end());
        std::vector<std::size_t> all(count);
        std::iota(all.begin(), all.end(), 1);
        CHECK(steps == all);
    }
}

CO_TEST("a coroutine test may wait for a change that a foreigner sees") {
    foreigner owner(shared_server().address());
    const auto path = fresh_root();
    owner.create(path);
    asio::steady_timer timer(executor, 20ms);
    timer.async_wait([&](auto) { owner.remove(path); });
    co_await eventually([&] { return !owner.exists(path); });
}
