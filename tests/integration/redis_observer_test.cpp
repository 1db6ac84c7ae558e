// What a program sees of its client's locks on Redis.

#include "support/recording_observer.hpp"
#include "support/redis_harness.hpp"

#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/recursive_mutex.hpp>

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;
using words = std::vector<std::string>;

namespace {

redis::client_options seen_by(std::shared_ptr<observer> by,
                              std::chrono::milliseconds ttl = std::chrono::seconds(10)) {
    auto options = new_servers(ttl);
    options.observer = std::move(by);
    return options;
}

} // namespace

CO_TEST("a call and its hold on Redis are told once each, and counted for each server") {
    const auto heard = std::make_shared<recording_observer>();
    heard->requests = true;
    redis_scene s(executor, 3, seen_by(heard));
    guard g = co_await s.lock.lock();
    const auto busy = start<guard>([&](auto token) { s.lock.try_lock(std::move(token)); });
    co_await finished(busy);
    co_await g.unlock();
    const auto here = "mutex " + s.name;
    CHECK(heard->events("waiting") == words{"waiting " + here + " 1", "waiting " + here + " 1"});
    CHECK(heard->events("granted") == words{"granted " + here});
    CHECK(heard->events("not granted") == words{"not granted " + here + " busy"});
    CHECK(heard->events("ended") ==
          words{"ended " + here + ": " + error_code(errc::released).message()});
    co_await eventually([&] { return heard->events("server usable").size() == 3; });
    CHECK(heard->events("request acquire").size() >= 2);
    CHECK(heard->events("request release").size() >= 2);
    const auto all = s.client.statistics();
    REQUIRE(all.locks.size() == 1);
    CHECK(all.locks[0].granted() == 1);
    CHECK(all.locks[0].waited_until(wait_outcome::busy).count() == 1);
    REQUIRE(all.servers.size() == 3);
    std::uint64_t writes = 0;
    for (const auto& one : all.servers) {
        CHECK(one.usable);
        CHECK(one.reads.count() == 0);
        writes += one.writes.count();
    }
    CHECK(writes >= 4); // two answers make a majority, and the third server may be late
    CHECK(s.client.health().ready);
    CHECK(s.client.health().reason == "3 of 3 servers can be used, and a lock needs 2");
    co_await s.client.close();
    CHECK(s.client.health().reason == "closed");
    CHECK(s.client.health().alive);
}

CO_TEST("the locks of a family on Redis, and of a group, are counted together") {
    redis_scene s(executor);
    const redis::lock_family family(s.client, "family:");
    const redis::recursive_mutex again(s.client, "again", {.group = "jobs"});
    const owner me;
    for (int n = 0; n < 20; ++n) {
        guard g = co_await family.lock("key" + std::to_string(n));
        co_await g.unlock();
    }
    guard outer = co_await again.lock(me);
    guard inner = co_await again.lock(me);
    const auto all = s.client.statistics();
    REQUIRE(all.locks.size() == 3); // with that of the scene
    CHECK(all.locks[1].group == "family:");
    CHECK(all.locks[1].granted() == 20);
    CHECK(all.locks[2].group == "jobs");
    CHECK(all.locks[2].kind == lock_kind::recursive_mutex);
    CHECK(all.locks[2].holds == 2);
}

CO_TEST("a server that stops is told, and the holds are warned before they are lost") {
    std::vector<redis_server> own(1);
    const auto heard = std::make_shared<recording_observer>();
    redis_scene s(executor, 1, seen_by(heard, 2s), &own);
    guard g = co_await s.lock.lock();
    co_await eventually([&] { return !heard->events("renewed " + s.name).empty(); });
    CHECK(heard->events("late").empty());
    const auto lost = end_of(g);
    own[0].kill();
    co_await finished(lost);
    CHECK(lost->error == errc::lease_lapsed);
    CHECK(heard->events("late " + s.name).size() == 1);
    CHECK(heard->events("server not usable").size() == 1);
    CHECK_FALSE(s.client.health().ready);
    CHECK(s.client.health().alive);
    const auto all = s.client.statistics();
    CHECK(all.late_leases == 1);
    CHECK(all.locks[0].lost.count() == 1);
    CHECK_FALSE(all.servers[0].usable);
}
