// Several locks, recipes and clients at one path, and access rights that stand in the way.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::int32_t may_read = 1, may_create = 4, may_delete = 8;
std::vector<test::acl_entry> without(std::int32_t rights) { return {{31 & ~rights}}; }

/// Makes the client list the lock's directory, and waits for the answer.
asio::awaitable<void> look_around(mutex& m) {
    const auto a = ask_for(m, 5s);
    co_await granted(a);
    co_await held(a).unlock();
}

asio::awaitable<void> refused(lock_call a) {
    co_await finished(a);
    CHECK_MESSAGE(a->error == zk_errc::no_auth, a->error.message());
    CHECK_FALSE(held(a));
}

} // namespace

CO_TEST("locks of different names at one path do not exclude each other, nor sweep each other") {
    scene s(executor);
    mutex alpha(s.zk, s.path, {.name = "alpha"});
    mutex block(s.zk, s.path, {.name = "block"}); // ends like the default name
    const auto plain = ask(s.lock);
    const auto a = ask(alpha);
    const auto b = ask(block);
    co_await granted(plain);
    co_await granted(a);
    co_await granted(b);
    const auto second = ask(alpha);
    co_await s.until_queue(4);
    CHECK_FALSE(second->done());
    for (int i = 0; i < 3; ++i) {
        mutex another(s.zk, s.path, {.name = "another"});
        co_await look_around(another);
    }
    CHECK(s.queue().size() == 4);
    CHECK(held(plain).valid());
    CHECK(held(a).valid());
    co_await held(a).unlock();
    co_await granted(second);
    CHECK(s.queue().size() == 3);
}

CO_TEST("a listing sweeps the orphans of its own session, and nothing else") {
    scene s(executor);
    co_await look_around(s.lock); // claims the first id
    char id[64];
    const auto session = static_cast<unsigned long long>(s.zk.session_id());
    std::snprintf(id, sizeof id, "/_c_%08llx-%04llx-%04llx-%04x-%012x-lock-", session >> 32,
                  session >> 16 & 0xffff, session & 0xffff, 0, 1);
    const create_options how{.mode = create_mode::ephemeral_sequential};
    const auto orphan = co_await s.zk.create(s.path + id, "", how);
    const auto latch =
        co_await s.zk.create(s.path + "/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-", "", how);
    const auto curator = queue_up(s.direct, s.path, "latch-");
    co_await look_around(s.lock);
    co_await s.until_queue(2);
    CHECK(s.direct.exists(latch.path));
    CHECK(s.direct.exists(curator));
    CHECK_FALSE(s.direct.exists(orphan.path));
}

CO_TEST("a waiter waits for contenders of Curator, kazoo and Go") {
    scene s(executor);
    for (const std::string name : {"/_c_01234567-89ab-4cde-8f01-23456789abcd-lock-",
                                   "/0123456789abcdef0123456789abcdef__lock__",
                                   "/_c_0123456789abcdef0123456789abcdef-lock-", "/lock-"}) {
        INFO(name);
        const auto other = s.direct.create(s.path + name, "", node_mode::ephemeral_sequential);
        const auto now = ask_for(s.lock, 0s);
        co_await finished(now);
        const auto a = ask(s.lock);
        co_await s.until_queue(2);
        co_await s.zk.exists("/");
        CHECK_FALSE(a->done());
        s.direct.remove(other);
        co_await granted(a);
        co_await held(a).unlock();
    }
    // A waiter does not wait for names that only look like a contender's.
    for (const std::string name : {"/stranger-", "/block-", "/_c_01234567-lock-"})
        s.direct.create(s.path + name, "", node_mode::ephemeral_sequential);
    co_await look_around(s.lock);
    CHECK(s.queue().size() == 3);
}

CO_TEST("a lock below the client's root excludes the same lock of a client without a root") {
    scene s(executor);
    const auto root = s.path.substr(0, s.path.rfind('/'));
    client rooted(executor, s.proxy.address() + root);
    mutex m(rooted, "/lock");
    const auto a = ask(m);
    co_await granted(a);
    CHECK(held(a).path().starts_with("/lock/_c_"));
    const auto b = ask(s.lock);
    co_await s.until_queue(2);
    CHECK_FALSE(b->done());
    co_await held(a).unlock();
    co_await granted(b);
    co_await held(b).unlock();
}

CO_TEST("names and paths that ZooKeeper or a recipe would trip over are refused with a reason") {
    client zk(executor, shared_server().address());
    for (const std::string name :
         {"", "a/b", "lock-", "my_c_", "latch-x", "__lock__", "__READ__", "bad\x01"})
        CHECK_THROWS_AS(mutex(zk, "/a", {.name = name}), system_error);
    for (const std::string path : {"", "a", "/", "/a/", "/a//b", "/a/../b", "/zookeeper/x"})
        CHECK_THROWS_AS(mutex(zk, path), system_error);
    CHECK_THROWS_AS(mutex(zk, "/a", {.acl = {}}), system_error);
    CHECK_THROWS_AS(mutex(zk, "/a", {.label = "\xff"}), system_error);
    co_return;
}

CO_TEST("a lock without the right to create its node fails with no_auth") {
    scene s(executor);
    s.direct.set_acl(s.path, without(may_create));
    co_await refused(ask(s.lock));
    co_await refused(ask_now(s.lock));
    co_await refused(ask_for(s.lock, 5s));
    mutex below(s.zk, s.path + "/below/it");
    co_await refused(ask(below));
    CHECK(s.queue().empty());
    s.direct.set_acl(s.path, without(0));
    co_await look_around(s.lock);
}

CO_TEST("a lock without the right to list its directory fails with no_auth, and leaves no node") {
    scene s(executor);
    s.direct.set_acl(s.path, without(may_read));
    co_await refused(ask(s.lock));
    co_await refused(ask_now(s.lock));
    s.direct.set_acl(s.path, without(0));
    co_await s.until_queue(0);
    co_await look_around(s.lock);
}

CO_TEST("a waiter waits even for a node that it may not read") {
    scene s(executor);
    for (const auto& round : test.each(std::array{false, true})) {
        const bool deleted_before_it_is_watched = std::get<bool>(round);
        const auto other =
            s.direct.create(s.path + "/_c_01234567-89ab-4cde-8f01-23456789abcd-lock-", "",
                            node_mode::ephemeral_sequential, without(may_read));
        if (deleted_before_it_is_watched) {
            s.proxy.hold_from(direction::up, opcode::exists);
            const auto a = ask(s.lock);
            co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
            s.direct.remove(other);
            s.proxy.release(direction::up);
            co_await granted(a);
        } else {
            const auto a = ask(s.lock);
            co_await eventually(
                [&] { return s.proxy.count(direction::down, opcode::exists) >= 1; });
            co_await s.zk.exists("/");
            CHECK_FALSE(a->done());
            s.direct.remove(other);
            co_await granted(a);
        }
    }
}

CO_TEST("an own node that may not be read does not stop the lock") {
    scene s(executor, {}, {.acl = {{permission::remove}}});
    const auto other = queue_up(s.direct, s.path);
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await s.until_queue(3);
    s.direct.remove(other);
    co_await granted(a);
    co_await held(a).unlock();
    co_await granted(b);
    co_await held(b).unlock();
}

CO_TEST("a delete that is not allowed is reported at once, and done when the right is back") {
    std::vector<std::string> log;
    client_options options;
    options.log = [&](std::string_view text) { log.emplace_back(text); };
    scene s(executor, options);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto path = std::string(held(a).path());
    s.direct.set_acl(s.path, without(may_delete));
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK(end->error == zk_errc::no_auth);
    REQUIRE_FALSE(log.empty());
    CHECK_MESSAGE(log[0].find(path) != std::string::npos, log[0]);
    co_await s.zk.exists("/");
    CHECK(s.sent(opcode::remove) == 1); // it does not repeat it at once
    CHECK(s.direct.exists(path));
    s.direct.set_acl(s.path, without(0));
    co_await s.until_queue(0);
}
