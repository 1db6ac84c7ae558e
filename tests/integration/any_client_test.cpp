// Code that does not know which system has its locks.

#include "support/redis_harness.hpp"

#include <paddock/any_client.hpp>
#include <paddock/redis/lock_family.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// Both systems. The servers of Redis must have been used before, or they are waited for.
std::vector<std::string> urls(const redis_scene& s) {
    return {"zk://" + std::string(shared_server().address()), url_of(s.ports)};
}

/// The server's marker says that it has been in use for a while, as other clients know it.
asio::awaitable<void> ready_for_default_options(redis_scene& s) {
    auto held = co_await s.lock.lock();
    co_await held.unlock();
}

std::string text_of_refusal(std::string_view url) {
    asio::io_context io;
    try {
        any_client refused(io, url);
    } catch (const system_error& error) {
        CHECK(error.code() == errc::bad_argument);
        return error.what();
    }
    return {};
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

CO_TEST("a URL names the system, and its locks work alike") {
    redis_scene s(executor);
    co_await ready_for_default_options(s);
    const auto name = fresh_root() + "/lock";
    for (const auto& url : urls(s)) {
        any_client system(executor, url);
        co_await system.connect();
        co_await system.connect_for(1s);
        const auto lock = system.mutex(name);
        auto one = co_await lock.lock();
        CHECK(one.valid());
        const auto none = co_await lock.try_lock();
        CHECK_FALSE(none);
        co_await one.unlock();

        const auto locks = system.lock_family(name + "-family");
        auto a = co_await locks.lock("a/1");
        auto b = co_await locks.try_lock("b");
        CHECK(a.valid());
        CHECK(b.valid());
        const auto late = co_await locks.try_lock_for("b", 20ms);
        CHECK_FALSE(late);
        const auto work = []() -> asio::awaitable<int> { co_return 7; };
        const int result = co_await locks.with("c", work);
        CHECK(result == 7);
        const auto bad = start<guard>([&](auto token) { locks.lock("", std::move(token)); });
        co_await finished(bad);
        CHECK(bad->error == errc::bad_argument);
        const auto long_key = start<guard>(
            [&](auto token) { locks.try_lock(std::string(4097, 'k'), std::move(token)); });
        co_await finished(long_key);
        CHECK(long_key->error == errc::bad_argument);
        co_await system.close();
        CHECK_FALSE(a.valid());
        const auto after = start<guard>([&](auto token) { lock.lock(std::move(token)); });
        co_await finished(after);
        CHECK(after->error == errc::closed);
    }
}

CO_TEST("a family's lock is the mutex with the name that it tells") {
    redis_scene s(executor);
    const redis::lock_family locks(s.client, s.name + ":");
    CHECK(locks.name_of("EU/4711") == s.name + ":EU%2F4711");
    const redis::mutex same(s.client, locks.name_of("EU/4711"));
    auto held = co_await locks.lock("EU/4711");
    CHECK(held.path() == s.name + ":EU%2F4711");
    const auto none = co_await same.try_lock();
    CHECK_FALSE(none);
    const std::string long_key(4096, 'x');
    auto other = co_await locks.lock(long_key);
    CHECK(other.path().size() <= s.name.size() + 1 + 200);
    CHECK_THROWS_AS(static_cast<void>(locks.name_of("")), system_error);
}

CO_TEST("families of different names have different locks") {
    redis_scene s(executor);
    co_await ready_for_default_options(s);
    const auto name = fresh_root() + "/order";
    for (const auto& url : urls(s)) {
        any_client system(executor, url);
        co_await system.connect();
        const auto one = system.lock_family(name + "s");
        const auto other = system.lock_family(name);
        const auto first = co_await one.lock("1");
        const auto second = co_await other.try_lock("s1");
        CHECK(second);
    }
    const redis::lock_family same(s.client, name + "s/");
    any_client system(executor, url_of(s.ports));
    co_await system.connect();
    const auto held = co_await system.lock_family(name + "s").lock("1");
    CHECK(held.path() == same.name_of("1"));
}

CO_TEST("a library registers a system of its own") {
    redis_scene s(executor);
    struct one_client final : lock_system {
        explicit one_client(redis::client& of) : client(of) {}
        asio::any_io_executor get_executor() const noexcept override {
            return client.get_executor();
        }
        any_mutex mutex(std::string_view name) const override { return redis::mutex(client, name); }
        any_lock_family lock_family(std::string_view name) const override {
            return redis::lock_family(client, name);
        }
        void connect(std::chrono::nanoseconds limit, handler done) override {
            client.connect_for(limit, std::move(done));
        }
        void close(handler done) override { client.close(std::move(done)); }
        redis::client& client;
    };
    std::string seen;
    register_scheme("test+one", [&](asio::any_io_executor, std::string_view url,
                                    const any_client_options& options) {
        seen = url;
        CHECK(options.timeout == 3s);
        return std::make_shared<one_client>(s.client);
    });
    const any_client_options options{.timeout = 3s};
    any_client system(executor, "test+one://x?y=1", options);
    CHECK(seen == "test+one://x?y=1");
    const auto lock = system.mutex(s.name);
    auto held = co_await lock.lock();
    CHECK(held.valid());
    register_scheme("test+one", [](auto&&...) { return nullptr; });
    CHECK(has(text_of_refusal("test+one://"), "url is not accepted"));
    any_client moved = std::move(system);
    CHECK_THROWS_AS(system.mutex("a"), system_error);
    co_await moved.close();
}

CO_TEST("the options of both systems are those that any_client got") {
    redis_scene s(executor);
    for (const auto& url : urls(s)) {
        any_client_options options{.timeout = 4s};
        std::vector<std::string> log;
        options.log = [&](std::string_view what) { log.emplace_back(what); };
        any_client system(executor, url, options);
        const auto lock = system.mutex(fresh_root() + "/lock");
        auto held = co_await lock.lock();
        const auto left = held.valid_until() - boot_clock::now();
        CHECK(left <= 4s);
        co_await held.unlock();
        co_await system.close();
    }
    std::vector<std::string> log;
    any_client_options options{.timeout = 4s};
    options.log = [&](std::string_view what) { log.emplace_back(what); };
    for (const std::string url : {"zk://127.0.0.1:1", "redis://127.0.0.1:1"}) {
        log.clear();
        any_client system(executor, url, options);
        const auto late = start<>([&](auto token) { system.connect_for(1s, std::move(token)); });
        co_await finished(late);
        CHECK_FALSE(log.empty());
        co_await system.close();
    }
    for (const std::string url : {"zk://127.0.0.1:1", "redis://127.0.0.1:1"})
        for (const auto timeout : {-1s, std::chrono::seconds(25h)}) {
            options.timeout = timeout;
            CHECK_THROWS_AS(any_client(executor, url, options), system_error);
        }
}

TEST_CASE("a URL may have spaces around it, and another name of ZooKeeper's scheme") {
    for (const auto* const url : {"zookeeper://127.0.0.1:1", " ZK://127.0.0.1:1, 127.0.0.1:2/\n",
                                  "zookeeper://127.0.0.1:1,/app", " redis://127.0.0.1:1\n"}) {
        CAPTURE(url);
        CHECK(text_of_refusal(url) == "");
    }
}

TEST_CASE("a URL that is not acceptable is refused, without the password in it") {
    CHECK(has(text_of_refusal("127.0.0.1:2181"), "url does not begin with a scheme"));
    CHECK(has(text_of_refusal("://host"), "url does not begin with a scheme"));
    CHECK(has(text_of_refusal("etcd://u:secret@host"), "'etcd', which is not known"));
    CHECK_FALSE(has(text_of_refusal("etcd://u:secret@host"), "secret"));
    CHECK_FALSE(has(text_of_refusal("zk://u:secret@host"), "secret"));
    CHECK_FALSE(has(text_of_refusal("zk://u:sec/ret@host:x"), "ret@"));
    CHECK_FALSE(has(text_of_refusal("redis://u:secret@a,b"), "secret"));
    CHECK(has(text_of_refusal("zk://"), "servers"));
    CHECK(has(text_of_refusal("redis://"), "url"));
    CHECK(has(text_of_refusal("Redis://host?ttl=1s"), "url has a '?'")); // the scheme is known
    const open_system none = [](auto&&...) { return nullptr; };
    CHECK_THROWS_AS(register_scheme("9p", none), system_error);
    CHECK_THROWS_AS(register_scheme("Zk", none), system_error);
    CHECK_THROWS_AS(register_scheme("x", {}), system_error);
}
