// Revoking and kicking the contenders of semaphores and simple mutexes.

#include "revoke_support.hpp"
#include "simple_support.hpp"
#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace paddock;
using namespace paddock::test;

namespace {

semaphore_options pooled(bool revocable = false) {
    semaphore_options how;
    how.label = a_label;
    how.revocable = revocable;
    return how;
}
simple_mutex_options simple_terms(bool revocable = false) {
    simple_mutex_options how;
    how.label = a_label;
    how.revocable = revocable;
    return how;
}

} // namespace

CO_TEST("a semaphore lists a contender for each permit node, and those that wait") {
    semaphore_scene s(executor, 2, pooled());
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    const auto b = ask(s.pool), c = ask(s.pool);
    co_await s.until(3, 2); // b has its turn, and its permit node, one too many
    const auto all = co_await s.pool.contenders();
    REQUIRE(all.size() == 5);
    CHECK((all[2].holder && !all[3].holder));
    for (const auto& one : all) {
        CHECK(one.label == a_label);
        CHECK(one.path.starts_with(s.path + (one.holder ? "/leases/" : "/locks/")));
    }
    semaphore none(s.zk, s.path + "-none", 1);
    const auto nobody = co_await none.contenders();
    CHECK(nobody.empty());
}

CO_TEST("a holder of permits is asked through any of them, and its metadata comes back") {
    for (const bool agreed : {false, true}) {
        semaphore_scene s(executor, 2, pooled(agreed));
        const auto a = ask(s.pool, 2);
        co_await granted(a);
        const auto asked = request_to(held(a));
        const auto over = end_of(held(a));
        auto all = co_await s.pool.contenders();
        co_await s.pool.revoke(all.at(1));
        co_await finished(asked);
        CHECK_FALSE(asked->error);
        co_await eventually([&] { return s.direct.get(all[1].path).data != "__REVOKE__"; });
        const auto now = co_await s.pool.contenders();
        CHECK(now.at(1).label == a_label);
        CHECK(now.at(1).since == all[1].since);
        CHECK(now.at(1).revoke_requested != std::chrono::system_clock::time_point());
        CHECK(now.at(0).revoke_requested == std::chrono::system_clock::time_point());
        CHECK(held(a).valid() == !agreed);
        CHECK(s.leases().size() == 2);
        if (agreed) {
            co_await finished(over);
            CHECK(over->error == errc::revoked);
        }
        held(a) = {};
        co_await s.until(0, 0);
    }
}

CO_TEST("a contender that waits for permits gets the request with them, or queues again") {
    semaphore_scene s(executor, 1, pooled(true));
    const auto a = ask(s.pool), b = ask(s.pool), c = ask(s.pool);
    co_await granted(a);
    co_await s.until(2, 2); // b has its turn
    auto all = co_await s.pool.contenders();
    REQUIRE(all.size() == 4);
    co_await s.pool.kick(all[3]);
    co_await eventually([&] {
        const auto now = s.locks();
        return now.size() == 2 && sequence_of(now[1]) > all[3].sequence;
    });
    co_await s.pool.revoke(all[2]);
    co_await eventually([&] { return s.direct.get(all[2].path).data != "__REVOKE__"; });
    held(a) = {};
    co_await finished(b);
    const auto over = end_of(held(b));
    co_await finished(over);
    CHECK(over->error == errc::revoked);
    held(b) = {};
    co_await granted(c);
}

CO_TEST("a kicked permit ends the hold of all, and others of it can be kicked as well") {
    semaphore_scene s(executor, 2, pooled());
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    const auto over = end_of(held(a));
    const auto all = co_await s.pool.contenders();
    co_await s.pool.kick(all.at(0));
    co_await finished(over);
    CHECK(over->error == errc::node_deleted);
    CHECK(s.leases().size() == 1);
    co_await s.pool.kick(all.at(1));
    CHECK(s.leases().empty());
    const auto b = ask(s.pool, 2);
    co_await granted(b); // though the lost guard still exists
}

CO_TEST("a semaphore refuses contenders of other locks, and reports what the servers refuse") {
    semaphore_scene s(executor, 2, pooled());
    const auto a = ask(s.pool);
    co_await granted(a);
    co_await refuses_strangers(s.pool, at(s.path + "/other/lease-0000000000"),
                               at(s.path + "/leases/lease-0000000009"));
    co_await refuses_strangers(s.pool, at(s.path + "/locks/lease-0000000000"),
                               at(s.path + "/locks/lock-0000000009"));
    const auto mine = (co_await s.pool.contenders()).at(0);
    s.direct.set_acl(mine.path, {{1, "world", "anyone"}});
    const auto refused = start([&](auto token) { s.pool.revoke(mine, std::move(token)); });
    co_await finished(refused);
    CHECK(refused->error == zk_errc::no_auth);
    co_await ends_early(s.pool, s.zk, s.proxy, mine);
}

CO_TEST("the holder of a simple_mutex is asked, and its metadata comes back") {
    for (const bool agreed : {false, true}) {
        simple_scene s(executor, {}, simple_terms(agreed));
        const auto a = ask(s.lock);
        co_await granted(a);
        const auto over = end_of(held(a));
        const auto before = co_await s.lock.holder();
        REQUIRE(before);
        co_await s.lock.revoke(*before);
        co_await held(a).revoke_requested();
        co_await eventually([&] { return s.direct.get(s.path).data != "__REVOKE__"; });
        const auto after = co_await s.lock.holder();
        REQUIRE(after);
        CHECK(after->label == a_label);
        CHECK(after->since == before->since);
        CHECK(after->token == before->token);
        CHECK(after->revoke_requested != std::chrono::system_clock::time_point());
        CHECK(after->data.find("\"id\":") != std::string::npos);
        CHECK(held(a).valid() == !agreed);
        if (agreed) {
            co_await finished(over);
            CHECK(over->error == errc::revoked);
        }
        held(a) = {};
        co_await s.until_nodes(0);
    }
}

CO_TEST("a kicked simple_mutex loses node and marker together, and the next contender gets it") {
    simple_scene s(executor, {}, simple_terms());
    client other(executor, shared_server().address());
    simple_mutex theirs(other, s.path, simple_terms());
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto b = ask(theirs);
    const auto over = end_of(held(a));
    const auto holder = co_await theirs.holder();
    REQUIRE(holder);
    co_await theirs.kick(*holder);
    co_await finished(over);
    CHECK(over->error == errc::node_deleted);
    co_await granted(b);
    CHECK(s.nodes().size() == 2);
    held(a) = {};
    const auto late = start([&](auto token) { theirs.kick(*holder, std::move(token)); });
    co_await finished(late);
    CHECK(late->error == zk_errc::no_node); // the next hold is not meant
    const auto late_too = start([&](auto token) { theirs.revoke(*holder, std::move(token)); });
    co_await finished(late_too);
    CHECK(late_too->error == zk_errc::no_node);
    CHECK(held(b).valid());
}

CO_TEST("a simple_mutex that stands still, and was asked, is kicked with its marker") {
    simple_scene s(executor, {}, simple_terms());
    client other(executor, shared_server().address());
    simple_mutex theirs(other, s.path, simple_terms());
    const auto a = ask(s.lock);
    co_await granted(a);
    s.proxy.black_hole(true);
    const auto holder = co_await theirs.holder();
    REQUIRE(holder);
    co_await theirs.revoke(*holder);
    const auto asked = co_await theirs.holder();
    REQUIRE(asked);
    CHECK(asked->data == "__REVOKE__");
    CHECK(asked->revoke_requested != std::chrono::system_clock::time_point());
    co_await theirs.kick(*asked);
    CHECK(s.nodes().empty());
    const auto over = end_of(held(a));
    s.proxy.black_hole(false);
    co_await finished(over);
}

CO_TEST("a foreign node at the path of a simple_mutex, without a marker, is kicked as well") {
    simple_scene s(executor);
    s.foreigner_takes_it();
    const auto holder = co_await s.lock.holder();
    REQUIRE(holder);
    co_await s.lock.revoke(*holder);
    CHECK(s.direct.get(s.path).data == "__REVOKE__");
    const auto asked = co_await s.lock.holder();
    CHECK(asked->revoke_requested != std::chrono::system_clock::time_point());
    co_await s.lock.kick(*asked);
    CHECK(s.nodes().empty());
}

CO_TEST("a simple_mutex refuses other contenders, and reports what the servers refuse") {
    simple_scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto holder = co_await s.lock.holder();
    REQUIRE(holder);
    auto gone = *holder;
    --gone.token.zxid;
    co_await refuses_strangers(s.lock, at(s.path + "x"), gone);
    s.direct.set_acl(s.directory, {{4 | 8, "world", "anyone"}}); // nobody may list it
    const auto refused = start([&](auto token) { s.lock.kick(*holder, std::move(token)); });
    co_await finished(refused);
    CHECK(refused->error == zk_errc::no_auth);
    CHECK(held(a).valid());
    co_await ends_early(s.lock, s.zk, s.proxy, *holder);
}
