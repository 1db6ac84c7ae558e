// The holder of a lock on Redis: who it is, and how a client ends its hold.

#include "support/redis_harness.hpp"

#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/recursive_mutex.hpp>

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

using namespace paddock;
using namespace paddock::test;

namespace {

using found = std::optional<redis::held_key>;

constexpr std::array<std::size_t, 2> sizes{1, 3}; ///< the numbers of servers

const std::string a_label = "the \"nightly\"\njob\t€: x";

redis::mutex_options labelled() {
    redis::mutex_options how;
    how.label = a_label;
    return how;
}

under_way<found> look(const redis::mutex& m) {
    return start<found>([&](auto token) { m.holder(std::move(token)); });
}
under_way<bool> kick(const redis::mutex& m, const redis::held_key& target) {
    return start<bool>([&](auto token) { m.kick(target, std::move(token)); });
}

/// A server that is not connected yet counts as silent.
asio::awaitable<void> until_all_connected(redis_scene& s) {
    guard held = co_await s.lock.lock();
    co_await eventually([&] { return s.keys() == s.call.size(); });
    co_await held.unlock();
    co_await eventually([&] { return s.keys() == 0; });
}

} // namespace

CO_TEST("a lock that is held shows its remaining time, and its label") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round));
        const redis::mutex lock(s.client, s.name, labelled());
        CHECK_FALSE(co_await lock.holder());
        const auto begun = std::chrono::system_clock::now();
        auto held = co_await lock.lock();
        co_await eventually([&] { return s.keys() == s.call.size(); });
        const auto holder = co_await lock.holder();
        REQUIRE(holder);
        CHECK(holder->value == s.value());
        CHECK(holder->left > 0ms);
        CHECK(holder->left <= 10s);
        CHECK(holder->servers == static_cast<int>(s.call.size()));
        CHECK_FALSE(holder->kicked);
        CHECK(holder->label == a_label);
        CHECK(holder->pid == ::getpid());
        CHECK_FALSE(holder->host.empty());
        CHECK(holder->since > begun - 1s);
        CHECK(holder->since < begun + 60s);
        co_await held.verify(); // the value is renewed like any other
        co_await held.unlock();
        CHECK_FALSE(co_await lock.holder());
    }
}

CO_TEST("without a label the value has a random part, and no more") {
    redis_scene s(executor);
    const guard held = co_await s.lock.lock();
    CHECK(s.value().size() == std::string("pdk1:10000:").size() + 32);
    const auto holder = co_await s.lock.holder();
    REQUIRE(holder);
    CHECK(holder->host.empty());
    CHECK(holder->label.empty());
    CHECK(holder->pid == 0);
}

CO_TEST("a label that is not acceptable is refused") {
    redis_scene s(executor);
    co_await s.client.connect();
    redis::mutex_options how;
    how.label = std::string(256, 'x');
    CHECK_NOTHROW(redis::mutex(s.client, s.name, how));
    how.label += 'x';
    CHECK_THROWS_AS(redis::mutex(s.client, s.name, how), bad_argument_error);
    how.label = "\xff";
    CHECK_THROWS_AS(redis::lock_family(s.client, s.name, how), bad_argument_error);
}

CO_TEST("the longest label comes back, and its hold can be kicked") {
    redis_scene s(executor, 1, new_servers(1500ms));
    redis::mutex_options how;
    how.label = std::string(256, '\x01'); // which JSON escapes with six characters
    const redis::mutex lock(s.client, s.name, how);
    auto held = co_await lock.lock();
    const auto holder = co_await lock.holder();
    REQUIRE(holder);
    CHECK(holder->label == how.label);
    CHECK(co_await lock.kick(*holder));
    const auto over = end_of(held);
    co_await finished(over);
    CHECK(over->error == errc::node_deleted);
}

CO_TEST("a kicked holder loses its hold, and the next one gets the lock with its release") {
    for (const auto& round : test.each(sizes)) {
        redis_scene s(executor, std::get<0>(round), new_servers(3s));
        redis::client other(executor, url_of(s.ports), new_servers(3s));
        const redis::mutex theirs(other, s.name);
        const auto a = ask(s.lock);
        co_await granted(a);
        co_await eventually([&] { return s.keys() == s.call.size(); });
        const auto b = start<guard>([&](auto token) { theirs.lock(std::move(token)); });
        const auto over = end_of(held(a));
        const auto holder = co_await theirs.holder();
        REQUIRE(holder);
        const auto kicked = kick(theirs, *holder);
        co_await finished(kicked);
        CHECK_FALSE(kicked->error);
        CHECK(std::get<bool>(kicked->result));
        const auto again = co_await theirs.holder();
        REQUIRE(again);
        CHECK(again->kicked);
        CHECK(again->value == holder->value);
        const auto twice = kick(theirs, *again);
        co_await finished(twice);
        CHECK(std::get<bool>(twice->result));
        co_await finished(over);
        CHECK(over->error == errc::node_deleted);
        CHECK_FALSE(b->done()); // the caller's code may still be at work
        held(a) = {};
        co_await granted(b);
        CHECK(held(b).fencing_token() > fencing_token{});
        const auto late = kick(theirs, *holder);
        co_await finished(late);
        CHECK_FALSE(late->error);
        CHECK_FALSE(std::get<bool>(late->result)); // the next hold is not meant
        CHECK(held(b).valid());
    }
}

CO_TEST("the lock of a kicked holder that stands still is free after its time to live") {
    redis_scene s(executor, 1, new_servers(2s));
    const auto stopped = "pdk1:2000:0123"; // nobody renews it
    (*s.call[0])({"SET", s.name, stopped, "PX", "2000"});
    const auto holder = co_await s.lock.holder();
    REQUIRE(holder);
    CHECK(co_await s.lock.kick(*holder));
    CHECK(s.value() == "pdk1:2000:kicked:0123");
    const auto left = (*s.call[0])({"PTTL", s.name}).number;
    CHECK(left > 0);
    CHECK(left <= 2000);
    const auto a = ask(s.lock);
    co_await granted(a);
}

CO_TEST("the key of another library is shown, and deleted at once") {
    redis_scene s(executor, 3);
    co_await until_all_connected(s);
    s.foreigner_takes_it(60s);
    const auto holder = co_await s.lock.holder();
    REQUIRE(holder);
    CHECK(holder->value == "foreign");
    CHECK(holder->left > 50s);
    CHECK(holder->servers == 3);
    const auto a = ask(s.lock);
    CHECK(co_await s.lock.kick(*holder));
    co_await granted(a);
    held(a) = {};
    co_await eventually([&] { return s.keys() == 0; });
    for (auto& one : s.call)
        (*one)({"SET", s.name, "for ever"});
    const auto endless = co_await s.lock.holder();
    REQUIRE(endless);
    CHECK(endless->left == std::chrono::milliseconds::max());
    s.foreigner_gives_it_back();
    for (auto& one : s.call)
        (*one)({"RPUSH", s.name, "a list"});
    const auto list = co_await s.lock.holder();
    REQUIRE(list);
    CHECK(list->value.empty());
    s.foreigner_gives_it_back();
}

CO_TEST("what a minority has is no hold") {
    redis_scene s(executor, 3);
    co_await until_all_connected(s);
    (*s.call[1])({"SET", s.name, "pdk1:10000:rest", "PX", "60000"});
    CHECK_FALSE(co_await s.lock.holder());
    s.foreigner_gives_it_back();
}

CO_TEST("the holders of keys and of recursive locks are shown, and kicked") {
    redis_scene s(executor, 1, new_servers(1500ms));
    const redis::lock_family all(s.client, s.name + ':', labelled());
    const redis::recursive_mutex again(s.client, s.name, labelled());
    const owner me;
    guard one = co_await all.lock("a/b");
    guard two = co_await again.lock(me);
    const auto of_key = co_await all.holder("a/b");
    REQUIRE(of_key);
    CHECK(of_key->label == a_label);
    CHECK_FALSE(co_await all.holder("b"));
    const auto of_owner = co_await again.holder();
    REQUIRE(of_owner);
    CHECK(co_await all.kick("a/b", *of_key));
    CHECK(co_await again.kick(*of_owner));
    const auto over = end_of(one), over_too = end_of(two);
    co_await finished(over);
    co_await finished(over_too);
    CHECK(over->error == errc::node_deleted);
    CHECK(over_too->error == errc::node_deleted);
    const auto no_key = start<found>([&](auto token) { all.holder("", std::move(token)); });
    co_await finished(no_key);
    CHECK(no_key->error == errc::bad_argument);
}

CO_TEST("a look waits for the servers, and ends by cancellation, or with the client") {
    redis::client nowhere(executor, "redis://127.0.0.1:1");
    const redis::mutex lock(nowhere, "x");
    const auto stopped = look(lock);
    const auto closed = look(lock);
    const auto kicked = kick(lock, {});
    stopped->cancel();
    co_await finished(stopped);
    CHECK(stopped->error == asio::error::operation_aborted);
    CHECK_FALSE(closed->done());
    co_await nowhere.close();
    co_await finished(closed);
    co_await finished(kicked);
    CHECK(closed->error == errc::closed);
    CHECK(kicked->error == errc::closed);
    const auto late = look(lock);
    co_await finished(late);
    CHECK(late->error == errc::closed);
}

CO_TEST("a look and a kick cost one request to each server") {
    redis_scene s(executor);
    const guard held = co_await s.lock.lock();
    const auto evals = [&] {
        const auto text = (*s.call[0])({"INFO", "commandstats"}).text;
        const auto at = text.find("cmdstat_eval:calls=");
        return at == text.npos ? 0 : std::stoi(text.substr(at + 19));
    };
    const auto before = evals();
    const auto holder = co_await s.lock.holder();
    REQUIRE(holder);
    co_await s.lock.kick(*holder);
    CHECK(evals() == before + 2);
}

CO_TEST("servers that refuse the credentials are an error, and too few answers are one") {
    std::vector<redis_server> servers(3);
    redis_scene s(executor, 3, new_servers(), &servers);
    const guard held = co_await s.lock.lock();
    co_await eventually([&] { return s.keys() == 3; });
    for (auto& one : s.call)
        (*one)({"ACL", "SETUSER", "default", "-eval"});
    const auto refused = look(s.lock);
    co_await finished(refused);
    CHECK(refused->error == errc::auth_failed);
    for (auto& one : s.call)
        (*one)({"ACL", "SETUSER", "default", "+eval"});
    const auto now = co_await s.lock.holder();
    CHECK(now);
}
