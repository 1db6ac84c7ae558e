// The scripts of the lock on Redis, on a real server.

#include "redis_scripts_support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

using namespace paddock::test;
using namespace paddock::test::on_scripts;

TEST_CASE_FIXTURE(lock_harness, "a lock is granted, is taken for others, and is free again") {
    const auto first = acquire("pdk1:10000:1");
    CHECK(first.what == kind::granted);
    CHECK(first.token == first.clock.count());
    const auto second = acquire("pdk1:10000:2");
    CHECK(second.what == kind::taken);
    CHECK(second.holder == "pdk1:10000:1");
    CHECK(second.left > 0ms);
    CHECK(second.left <= 10s);
    CHECK(release("pdk1:10000:2").what == kind::gone);
    CHECK(release("pdk1:10000:1").what == kind::released);
    CHECK(release("pdk1:10000:1").what == kind::gone);
    const auto third = acquire("pdk1:10000:2");
    CHECK(third.what == kind::granted);
    CHECK(third.token > first.token);
}

TEST_CASE_FIXTURE(lock_harness,
                  "a release is heard in the lock's channel, that of a loser is not") {
    redis_caller listener(server.port());
    CHECK(listener({"SUBSCRIBE", keys.channel}).items.size() == 3);
    CHECK(call.run(script::release, release_words(keys, "v", true)).what == kind::gone);
    acquire("v");
    CHECK(call.run(script::release, release_words(keys, "v", false)).what == kind::released);
    acquire("w");
    const auto told = release("w");
    CHECK(told.what == kind::released);
    CHECK(told.text == "");
    CHECK(told.listeners == 1);
    // The reply to PING stands behind all messages before it.
    const auto first = listener({"PING"});
    REQUIRE(first.items.size() == 3);
    CHECK(first.items[0].text == "message");
    CHECK(first.items[1].text == keys.channel);
}

TEST_CASE_FIXTURE(lock_harness, "tokens grow through the loss of all data") {
    std::int64_t last = 0;
    for (int n = 0; n < 300; ++n) {
        const auto value = std::to_string(n);
        const auto said = acquire(value);
        REQUIRE(said.what == kind::granted);
        CHECK(said.token > last);
        last = said.token;
        if (n % 7 == 0)
            call({"FLUSHALL"});
        else
            release(value);
    }
    call({"SET", keys.counter, std::to_string(last + 1'000'000'000)});
    call({"DEL", keys.name});
    CHECK(acquire("v").token == last + 1'000'000'001);
    CHECK(call({"PTTL", keys.counter}).number > 86'000'000);
}

TEST_CASE_FIXTURE(lock_harness, "a fresh server grants nothing until every older lock is over") {
    const deployment careful{300ms, 1, false};
    const auto said = acquire("v", careful);
    CHECK(said.what == kind::young);
    CHECK(said.left == 300ms);
    CHECK(call({"EXISTS", keys.name}).number == 0);
    CHECK(acquire_of_age("v", careful).what == kind::granted);
    call({"FLUSHALL"});
    CHECK(acquire("v", careful).what == kind::young);
    CHECK(acquire_of_age("v", careful).what == kind::granted);
}

TEST_CASE("a server that was restarted is young again, with or without its data") {
    lock_harness one({"--appendonly", "yes", "--appendfsync", "always"});
    const deployment careful{300ms, 1, false};
    REQUIRE(one.acquire_of_age("v", careful).what == kind::granted);
    one.server.kill();
    one.server.start();
    redis_caller again(one.server.port());
    const auto words = [&](const std::string& value) {
        return acquire_words(one.keys, value, 10s, careful);
    };
    CHECK(again({"GET", one.keys.name}).text == "v");
    CHECK(again.run(script::acquire, words("w")).what == kind::young);
    // Its own key counts for a hold that has had it all the time; `left` tells that it is young.
    const auto renewed = again.run(script::renew, renew_words(one.keys, "v", 10s, careful, 1));
    CHECK(renewed.what == kind::renewed);
    CHECK(renewed.left > 0ms);
}

TEST_CASE("a client that trusts new servers does not trust one that was restarted") {
    lock_harness one({"--appendonly", "yes", "--appendfsync", "always"});
    REQUIRE(one.acquire("v").what == kind::granted);
    one.server.kill();
    one.server.start();
    redis_caller again(one.server.port());
    const auto words = acquire_words(one.keys, "w", 10s, trusting);
    CHECK(again.run(script::acquire, words).what == kind::young);
    again({"DEL", "paddock:server"});
    CHECK(again.run(script::acquire, words).what == kind::taken);
}

TEST_CASE_FIXTURE(lock_harness, "a replica grants nothing, and is young once it is a master") {
    redis_server other;
    redis_caller at_other(other.port());
    const deployment careful{300ms, 1, false};
    REQUIRE(acquire_of_age("v", careful).what == kind::granted);
    call({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
    CHECK(acquire("w", careful).what == kind::replica);
    CHECK(renew("v", 1, careful).what == kind::replica);
    call({"REPLICAOF", "NO", "ONE"});
    CHECK(acquire("w", careful).what == kind::young);
}

TEST_CASE_FIXTURE(lock_harness, "a replica that comes does not make its master young, unless a "
                                "lock can outlive what the master knows of its past") {
    redis_server other;
    redis_caller at_other(other.port());
    deployment all{1h, 1, true};
    bool young = false;
    SUBCASE("an hour") {}
    SUBCASE("more") {
        all.max_ttl += 1ms;
        young = true;
    }
    REQUIRE(acquire("v", all).what == kind::granted);
    const auto marked = call({"HGET", "paddock:server", "id"}).text;
    REQUIRE(marked.size() == 40);
    at_other({"REPLICAOF", "127.0.0.1", std::to_string(server.port())});
    const auto end = std::chrono::steady_clock::now() + scaled(20s);
    while (call({"INFO", "replication"}).text.find(marked) != std::string::npos) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(1ms);
    }
    CHECK(acquire("w", all).what == (young ? kind::young : kind::taken));
    CHECK(call({"HGET", "paddock:server", "id"}).text != marked);
}

TEST_CASE_FIXTURE(lock_harness, "a server that has evicted keys is young for the locks that were "
                                "perhaps among them") {
    const deployment careful{600ms, 1, false};
    const lock_keys other("other");
    /// All that has a time to live: a marker and this lock's counter have none.
    const auto evict = [&] {
        call({"PERSIST", keys.counter});
        call({"SET", "a key", "that can be evicted", "PX", "60000"});
        call({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
        call({"CONFIG", "SET", "maxmemory", "1"});
        call({"CONFIG", "SET", "maxmemory", "0"});
        REQUIRE(call({"EXISTS", "a key", keys.name, other.name}).number == 0);
    };
    REQUIRE(acquire_of_age("v", careful).what == kind::granted);
    bool young = true;
    SUBCASE("a key that was not released is") { evict(); }
    SUBCASE("a key that was released cannot be") {
        CHECK(release("v").what == kind::released);
        evict();
        young = false;
    }
    SUBCASE("a key that was set again after a release is") {
        CHECK(release("v").what == kind::released);
        CHECK(renew("v", 1, careful).what == kind::set);
        evict();
    }
    SUBCASE("the key of another lock is, and the marker is made anew without any loss") {
        CHECK(release("v").what == kind::released);
        CHECK(call.run(script::acquire, acquire_words(other, "v", 500ms, careful)).what ==
              kind::granted);
        evict();
        call({"HSET", "paddock:server", "id", "before the first replica came"});
    }
    CHECK(acquire("w", careful).what == (young ? kind::young : kind::granted));
    const auto said = call.run(script::acquire, acquire_words(other, "w", 500ms, careful));
    CHECK(said.what == kind::young);
}

TEST_CASE_FIXTURE(lock_harness, "a release leaves the counter as it is, and none where none was") {
    const auto first = acquire("v");
    release("v");
    const auto second = acquire("w");
    CHECK(second.token > first.token);
    CHECK(call({"PTTL", keys.counter}).number > 60'000);
    call({"DEL", keys.counter});
    CHECK(release("w").what == kind::released);
    CHECK(call({"EXISTS", keys.counter}).number == 0);
}

TEST_CASE_FIXTURE(lock_harness, "a database is young after it was swapped with another") {
    deployment careful{300ms, 1, false};
    REQUIRE(acquire_of_age("v", careful).what == kind::granted);
    call({"SELECT", "1"});
    careful.database = 1;
    REQUIRE(acquire_of_age("v", careful).what == kind::granted);
    call({"SWAPDB", "0", "1"});
    CHECK(acquire("w", careful).what == kind::young);
    CHECK(acquire_of_age("w", careful).what == kind::taken); // it came along
    careful.database = 0;
    call({"SELECT", "0"});
    CHECK(acquire("w", careful).what == kind::young);
}

TEST_CASE_FIXTURE(lock_harness, "all clients of a server must agree on the longest time to live") {
    REQUIRE(acquire("v").what == kind::granted);
    auto other = trusting;
    other.max_ttl = 61s;
    CHECK(acquire("w", other).what == kind::mismatch);
    CHECK(acquire("w", other).text == "max_ttl 60000 ms, servers 1");
    CHECK(renew("v", 1, other).what == kind::mismatch);
    other = trusting;
    other.servers = 3;
    CHECK(acquire("w", other).what == kind::mismatch);
}

TEST_CASE_FIXTURE(lock_harness, "a renewal prolongs an own key and raises the counter") {
    REQUIRE(acquire("v").what == kind::granted);
    call({"PEXPIRE", keys.name, "500"});
    CHECK(renew("v", 1).what == kind::renewed);
    CHECK(left() > 9'000);
    CHECK(call({"GET", keys.counter}).text != "1");
    CHECK(renew("v", 5'000'000'000'000'000).what == kind::renewed);
    CHECK(call({"GET", keys.counter}).text == "5000000000000000");
    CHECK(renew("w", 6'000'000'000'000'000).what == kind::taken);
    CHECK(call({"GET", keys.counter}).text == "5000000000000000");
    call({"DEL", keys.name});
    const auto said = renew("v", 1);
    CHECK(said.what == kind::set);
    CHECK(said.left == 0ms);
    CHECK(call({"GET", keys.name}).text == "v");
    CHECK(left() > 9'000);
}

TEST_CASE_FIXTURE(lock_harness,
                  "a key of this library without an end gets one, others are left alone") {
    acquire("v");
    call({"SET", keys.name, "pdk1:5000:x"});
    CHECK(acquire("v").left == 5000ms);
    CHECK(left() > 4'000);
    call({"SET", keys.name, "pdk1:5000:x", "PX", "90029000"}); // a clock was set back by a day
    CHECK(acquire("v").left == 5000ms);
    CHECK(left() <= 5'000);
    for (const auto* foreign : {"token-of-redis-py", "pdk1:70000:x", "pdk1::x", "pdk2:5000:x"}) {
        call({"SET", keys.name, foreign});
        CHECK(acquire("v").left < 0ms);
        CHECK(acquire("v").holder == foreign);
        CHECK(left() == -1);
    }
    call({"SET", keys.name, std::string(200, 'x')});
    CHECK(acquire("v").holder == std::string(128, 'x'));
}

TEST_CASE_FIXTURE(lock_harness, "a key of another type is a lock that another library holds") {
    acquire("v");
    call({"DEL", keys.name});
    call({"HSET", keys.name, "redisson", "1"});
    CHECK(acquire("v").what == kind::taken);
    CHECK(acquire("v").holder == "");
    CHECK(renew("v").what == kind::taken);
    CHECK(release("v").what == kind::gone);
    CHECK(call({"EXISTS", keys.name}).number == 1);
}

TEST_CASE_FIXTURE(lock_harness, "when a command in a script fails, no key is left") {
    const auto nothing_set = [&] { return call({"EXISTS", keys.name}).number == 0; };
    acquire("v");
    release("v");
    SUBCASE("the counter is no number") {
        for (const auto* text : {"abc", "nan", "inf", "-1", "1e300", ""}) {
            call({"SET", keys.counter, text});
            CHECK(acquire("v").what == kind::spoilt);
            CHECK(acquire("v").text.find("is not a number: " + keys.counter) != std::string::npos);
            CHECK(renew("v").what == kind::spoilt);
            CHECK(nothing_set());
        }
    }
    SUBCASE("the counter has another type") {
        call({"DEL", keys.counter});
        call({"HSET", keys.counter, "a", "b"});
        CHECK(acquire("v").what == kind::spoilt);
        CHECK(nothing_set());
    }
    SUBCASE("the memory is full") {
        call({"CONFIG", "SET", "maxmemory", "1"});
        CHECK(acquire("v").what == kind::refused);
        CHECK(acquire("v").text.find("OOM") == 0);
        CHECK(nothing_set());
    }
    SUBCASE("too few replicas") {
        call({"CONFIG", "SET", "min-replicas-to-write", "1"});
        CHECK(acquire("v").what == kind::refused);
        CHECK(acquire("v").text.find("NOREPLICAS") == 0);
        CHECK(nothing_set());
    }
}

TEST_CASE_FIXTURE(lock_harness,
                  "a user needs the rights to the keys, and to the channel to be heard") {
    acquire("v");
    release("v");
    const auto as = [&](std::initializer_list<std::string_view> rules) {
        std::vector<std::string> words{"ACL", "SETUSER", "bob", "reset", "on", ">secret"};
        words.insert(words.end(), rules.begin(), rules.end());
        CHECK(redis_caller(server.port())(words).text == "OK");
        CHECK(call({"AUTH", "bob", "secret"}).text == "OK");
    };
    redis_caller root(server.port());
    as({"~a{b}c", "~paddock:server", "+@all"});
    CHECK(acquire("v").what == kind::denied);
    CHECK(root({"EXISTS", keys.name}).number == 0);
    as({"~a{b}c", "~paddock:*", "+@all", "-set"});
    CHECK(acquire("v").what == kind::denied);
    CHECK(root({"EXISTS", keys.name}).number == 0);
    as({"~a{b}c", "~paddock:*", "+eval", "+info", "+time", "+hmget", "+hset", "+get", "+set",
        "+del", "+pttl", "+pexpire"});
    CHECK(acquire("v").what == kind::granted);
    CHECK(renew("v").what == kind::renewed);
    CHECK(release("v").what == kind::released);
    as({"~a{b}c", "~paddock:*", "+@all", "resetchannels"});
    CHECK(acquire("v").what == kind::granted);
    const auto untold = release("v");
    CHECK(untold.what == kind::released);
    CHECK_FALSE(untold.text.empty());
    CHECK(root({"EXISTS", keys.name}).number == 0);
}

TEST_CASE_FIXTURE(lock_harness, "a script that the server does not know") {
    const auto said = call({"EVALSHA", std::string(40, '0'), "0"});
    CHECK(read_answer(said).what == kind::unknown_script);
    CHECK(read_answer(call({"SCRIPT", "LOAD", text_of(script::release)})).what == kind::refused);
    CHECK(read_answer(reply{}).text == "an unexpected reply");
}
