// A client's root that does not exist: refused by default, or created.

#include "support/lock_harness.hpp"

#include <paddock/any_client.hpp>

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);
constexpr std::int32_t may_read = 1;

/// A client below a root that does not exist.
struct lost_scene {
    explicit lost_scene(asio::any_io_executor executor, client_options options = {},
                        std::string below = "/app")
        : root(fresh_root() + below)
        , zk(executor, proxy.address(), with_root(std::move(options))) {}

    client_options with_root(client_options options) {
        options.root = root;
        options.log = [this](const log_record& line) {
            if (line.code == log_code::no_root) log.emplace_back(line.text);
        };
        return options;
    }
    std::size_t sent(std::int32_t operation) const { return proxy.count(direction::up, operation); }

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string root;
    std::vector<std::string> log;
    client zk;
};

client_options creating() {
    client_options options;
    options.create_root = true;
    return options;
}

/// One call of each kind of lock.
std::vector<lock_call> ask_all(client& zk) {
    const mutex m(zk, "/a/mutex");
    const mutex timed(zk, "/a/b/timed");
    const mutex top(zk, "/mutex");
    const shared_mutex rw(zk, "/a/shared");
    const semaphore s(zk, "/a/permits", 2);
    const semaphore counted(zk, "/a/counted", 2, {.counter = "/counter"});
    const election e(zk, "/a/election");
    const simple_mutex deep(zk, "/a/simple");
    const simple_mutex simple(zk, "/simple");
    const lock_family family(zk, "/a/family");
    const auto call = [](auto operation) { return start<guard>(std::move(operation)); };
    return {call([&](auto token) { m.lock(std::move(token)); }),
            call([&](auto token) { timed.try_lock_for(5s, std::move(token)); }),
            call([&](auto token) { top.lock(std::move(token)); }),
            call([&](auto token) { rw.lock_shared(std::move(token)); }),
            call([&](auto token) { s.acquire(std::move(token)); }),
            call([&](auto token) { counted.acquire(std::move(token)); }),
            call([&](auto token) { e.campaign(std::move(token)); }),
            call([&](auto token) { deep.lock(std::move(token)); }),
            call([&](auto token) { simple.lock(std::move(token)); }),
            call([&](auto token) { family.lock("key", std::move(token)); })};
}

} // namespace

CO_TEST("below a root that does not exist nothing is granted, nor created; the log has its path") {
    lost_scene s(executor);
    for (const auto& one : ask_all(s.zk)) {
        co_await finished(one);
        CHECK_MESSAGE(one->error == errc::no_root, one->error.message());
    }
    const auto [refused] = co_await s.zk.connect(no_throw);
    CHECK(refused == errc::no_root);
    const mutex m(s.zk, "/a/mutex");
    const auto [at_once, none] = co_await m.try_lock(no_throw);
    CHECK(at_once == errc::no_root);
    CHECK_FALSE(s.direct.exists(s.root));
    REQUIRE(s.log.size() == 1);
    CHECK(s.log[0].starts_with("the root " + s.root + " does not exist"));
    CHECK(s.log[0].find("create_root") != std::string::npos);
}

CO_TEST("a root that is created later serves all") {
    lost_scene s(executor);
    const auto [refused] = co_await s.zk.connect_for(5s, no_throw);
    CHECK(refused == errc::no_root);
    s.direct.make_path(s.root);
    co_await s.zk.connect();
    for (const auto& one : ask_all(s.zk))
        co_await granted(one);
}

CO_TEST("create_root creates the whole root, with persistent nodes") {
    for (const auto& round : test.each(std::array{true, false})) {
        const bool by_connect = std::get<0>(round);
        lost_scene s(executor, creating(), "/deep/app");
        if (by_connect) {
            co_await s.zk.connect();
            CHECK(s.direct.exists(s.root));
        }
        for (const auto& one : ask_all(s.zk))
            co_await granted(one);
        for (auto path = s.root; !path.empty(); path.resize(path.rfind('/')))
            CHECK(s.direct.stat(path)->ephemeral_owner == 0); // a container has a number
        CHECK(s.log.empty());
    }
}

CO_TEST("a root that cannot be created is an error, and in the log") {
    lost_scene s(executor, creating(), "/mine/app");
    const auto above = s.root.substr(0, s.root.rfind('/'));
    s.direct.make_path(above);
    s.direct.set_acl(above, {{may_read}});
    const auto [refused] = co_await s.zk.connect(no_throw);
    CHECK(refused == zk_errc::no_auth);
    REQUIRE(s.log.size() == 1);
    CHECK(s.log[0].find("cannot be created: not authorized") != std::string::npos);
}

CO_TEST("a root costs one look in each session, and a lock no more than without one") {
    lost_scene s(executor, creating());
    s.direct.make_path(s.root + "/lock");
    co_await s.zk.connect();
    co_await s.zk.connect();
    CHECK(s.sent(opcode::exists) == 1);
    const mutex m(s.zk, "/lock");
    for (int i = 0; i < 2; ++i) {
        const guard g = co_await m.lock();
        CHECK(s.sent(opcode::exists) == 1);
    }
    s.proxy.cut_all(cut::fin);
    co_await s.zk.next_state(client_state::connected);
    co_await s.zk.connect();
    CHECK(s.sent(opcode::exists) == 1);
    kill_session(shared_server().address(), s.proxy.last_credentials());
    co_await eventually([&] { return s.zk.epoch() >= 2; });
    co_await s.zk.connect();
    CHECK(s.sent(opcode::exists) == 2);
}

CO_TEST("connect() waits for the answer about the root, across a lost connection") {
    lost_scene s(executor);
    s.direct.make_path(s.root);
    s.proxy.hold_from(direction::up, opcode::exists);
    const auto call = start<>([&](auto token) { s.zk.connect(std::move(token)); });
    const auto brief = start<>([&](auto token) { s.zk.connect_for(20ms, std::move(token)); });
    const auto ended = start<>([&](auto token) { s.zk.connect(std::move(token)); });
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    co_await finished(brief);
    CHECK(brief->error == errc::not_connected);
    ended->cancel();
    co_await finished(ended);
    CHECK(ended->error == asio::error::operation_aborted);
    CHECK_FALSE(call->done());
    s.proxy.cut_all(cut::fin);
    s.proxy.release(direction::up);
    co_await finished(call);
    CHECK_FALSE(call->error);
}

CO_TEST("a root that is deleted while the client runs is refused, or created again") {
    for (const auto& round : test.each(std::array{false, true})) {
        lost_scene s(executor, std::get<0>(round) ? creating() : client_options());
        s.direct.make_path(s.root);
        co_await s.zk.connect();
        s.direct.remove(s.root);
        const mutex m(s.zk, "/a/lock");
        const auto [error, hold] = co_await m.lock(no_throw);
        if (std::get<0>(round)) {
            CHECK_FALSE(error);
            continue;
        }
        CHECK(error == errc::no_root);
        CHECK(s.log.size() == 1);
        const auto [refused] = co_await s.zk.connect(no_throw);
        CHECK(refused == errc::no_root);
    }
}

CO_TEST("a root without rights exists all the same") {
    lost_scene s(executor);
    s.direct.make_path(s.root + "/locks");
    s.direct.set_acl(s.root, {{0}});
    co_await s.zk.connect();
    const mutex m(s.zk, "/locks/a");
    const guard g = co_await m.lock();
    CHECK(g.valid());
}

CO_TEST("the path of an any_client's URL is refused, or created") {
    const auto root = fresh_root();
    const auto url = "zk://" + shared_server().address() + root;
    any_client_options options;
    options.log = [](const log_record&) {};
    any_client refused(executor, url, options);
    const auto [error] = co_await refused.connect(no_throw);
    CHECK(error == errc::no_root);
    options.create_root = true;
    any_client made(executor, url, options);
    co_await made.connect();
    const guard g = co_await made.mutex("/lock").lock();
    CHECK(g.valid());
}
