// Redis servers that must not be used for locks, clients that do not agree, and keys of others.

#include "support/played_redis.hpp"
#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

CO_TEST("a server that may evict a lock, or is part of a cluster, is refused") {
    const std::vector<std::vector<std::string>> kinds{
        {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"},
        {"--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"},
        {"--cluster-enabled", "yes"}};
    for (const auto& round : test.each(kinds)) {
        auto own = own_servers(1, std::get<0>(round));
        const log_lines log;
        auto options = short_locks();
        options.log = log.writer();
        redis::client client(executor, "redis://127.0.0.1:" + std::to_string(own[0].port()),
                             options);
        const auto connected = start([&](auto token) { client.connect(std::move(token)); });
        co_await finished(connected);
        CHECK(connected->error == errc::unsuitable_server);
        redis::mutex lock(client, "lock");
        for (const auto& one : {ask(lock), ask_now(lock)}) {
            co_await finished(one);
            CHECK(one->error == errc::unsuitable_server);
        }
        CHECK_MESSAGE((log.has("evict a lock") || log.has("part of a Redis cluster")), log.text());
    }
}

CO_TEST("a server that has evicted keys of connected clients grants nothing for the longest time") {
    if (torn_down(test)) co_return;
    const std::vector<std::string> policies{"allkeys-random",
                                            "volatile-ttl"}; // with the marker, or not
    for (const auto& round : test.each(policies)) {
        redis_trouble t(executor);
        const auto call = t.call();
        co_await t.other->connect();
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto before = std::chrono::steady_clock::now();
        (*call)({"CONFIG", "SET", "maxmemory-policy", std::get<0>(round)});
        (*call)({"CONFIG", "SET", "maxmemory", "1"}); // evicts what it may at once
        (*call)({"CONFIG", "SET", "maxmemory", "0"});
        CHECK((*call)({"INFO", "stats"}).text.find("evicted_keys:0\r") == std::string::npos);
        const auto now = ask_now(*t.theirs);
        co_await finished(now);
        CHECK_FALSE(now->error);
        CHECK_FALSE(held(now));
        co_await unlocked(a);
        const auto b = ask(*t.theirs);
        co_await granted(b);
        CHECK(b->ended - before >= t.options.max_ttl - 1ms); // a server rounds the time
        CHECK(held(b).fencing_token() > held(a).fencing_token());
        co_await unlocked(b);
    }
}

CO_TEST("an eviction policy does not matter while memory is not limited") {
    auto own = own_servers(1, {"--maxmemory-policy", "allkeys-lru"});
    redis_scene s(executor, 1, new_servers(), &own);
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await unlocked(a);
}

CO_TEST("one server under several addresses is no quorum") {
    auto own = own_servers(1, {"--bind", "127.0.0.1 127.0.0.2"});
    const log_lines log;
    auto options = new_servers();
    options.log = log.writer();
    const auto port = ':' + std::to_string(own[0].port());
    redis::client client(
        executor, "redis://127.0.0.1" + port + ",localhost" + port + ",127.0.0.2" + port, options);
    const auto connected = start([&](auto token) { client.connect(std::move(token)); });
    co_await finished(connected);
    CHECK(connected->error == errc::unsuitable_server);
    const auto a = ask(redis::mutex(client, "lock"));
    co_await finished(a);
    CHECK(a->error == errc::unsuitable_server);
    CHECK_MESSAGE(log.has("lists it twice"), log.text());
    redis_caller call(own[0].port());
    CHECK(call({"EXISTS", "lock"}).number == 0);
}

CO_TEST("a server that moves to another address of the list is used there") {
    if (torn_down(test)) co_return;
    played_redis a(io), b(io), c(io);
    const auto play = [](played_redis& one, std::string id) {
        one.on_command = [&one, id](auto& link, const auto& command) {
            if (command[0] != "INFO") return link.say(one.healthy(link, command));
            const auto info = "redis_version:7.0.15\r\nrole:master\r\nrun_id:" + id;
            link.say("$" + std::to_string(info.size()) + "\r\n" + info + "\r\n");
        };
    };
    const auto vanish = [](played_redis& one) {
        one.on_accept = [](auto& link) { link.close(); };
        for (const auto& link : one.links)
            link->close();
    };
    play(a, "first");
    play(b, "second");
    play(c, "third");
    vanish(c);
    redis::client_options options;
    options.ttl = 500ms;
    options.log = [](std::string_view) {};
    redis::client client(executor, url_of({a.port(), b.port(), c.port()}), options);
    co_await client.connect();
    vanish(a);
    play(b, "first");
    const auto before = b.links.size();
    for (const auto& link : b.links)
        link->close();
    co_await eventually([&] { return b.links.size() > before; });
    c.on_accept = {};
    co_await client.connect(); // to b and c
}

CO_TEST("clients that do not agree on max_ttl or on the servers are refused, and set nothing") {
    redis_trouble t(executor);
    auto options = t.options;
    options.max_ttl += 1s;
    redis::client other(executor, url_of(t.s->ports), options);
    const auto connected = start([&](auto token) { other.connect(std::move(token)); });
    co_await finished(connected);
    CHECK(connected->error == errc::options_mismatch);
    redis::mutex theirs(other, t.s->name);
    for (const auto& a : {ask(theirs), ask_now(theirs)}) {
        co_await finished(a);
        CHECK(a->error == errc::options_mismatch);
    }
    CHECK_MESSAGE(t.log.has("cannot be used: it is used by clients with other options"),
                  t.log.text());
    CHECK_MESSAGE(t.log.has("max_ttl " + std::to_string(t.options.max_ttl.count()) + " ms"),
                  t.log.text());
    const auto port = ":" + std::to_string(t.own[0].port()) + "/1";
    auto more = own_servers(2);
    const auto second = ",127.0.0.1:" + std::to_string(more[0].port());
    const auto third = ",127.0.0.1:" + std::to_string(more[1].port());
    redis::client three(executor, "redis://127.0.0.1" + port + second + third, t.options);
    co_await three.connect();
    const auto b = ask(redis::mutex(three, t.s->name));
    co_await eventually([&] { return t.log.has("servers 1"); });
    CHECK_FALSE(b->done());
    b->cancel();
    co_await finished(b);
    CHECK(t.s->value().empty());
    CHECK((*t.call())({"HGET", "paddock:server", "servers"}).text == "1");
    const auto c = ask(t.s->lock);
    co_await granted(c);
    co_await unlocked(c);
}

CO_TEST("a client whose options are those of no other client any more connects") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor);
    auto options = t.options;
    options.max_ttl += 1s;
    redis::client other(executor, url_of(t.s->ports), options);
    const auto refused = start([&](auto token) { other.connect(std::move(token)); });
    co_await finished(refused);
    CHECK(refused->error == errc::options_mismatch);
    (*t.call())({"DEL", "paddock:server"});
    redis::mutex theirs(other, t.s->name);
    auto a = ask(theirs);
    co_await eventually([&] {
        if (a->done() && a->error == errc::options_mismatch) a = ask(theirs);
        return a->done() && !a->error;
    });
    co_await other.connect();
    co_await unlocked(a);
}

CO_TEST("clients that disagree while they are connected learn it at the next lock") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor);
    auto options = t.options;
    options.max_ttl += 1s;
    (*t.call())({"DEL", "paddock:server"});
    redis::client other(executor, url_of(t.s->ports), options);
    co_await other.connect();
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto b = ask(redis::mutex(other, t.s->name));
    co_await finished(b);
    CHECK(b->error == errc::options_mismatch);
    co_await unlocked(a);
}

CO_TEST("a key of another type is a lock that another has") {
    if (torn_down(test)) co_return;
    redis_scene s(executor, 1);
    co_await s.client.connect();
    auto& call = *s.call[0];
    const std::vector<std::vector<std::string>> others{{"RPUSH", s.name, "x"},
                                                       {"HSET", s.name, "owner", "1"}};
    for (const auto& make : others) {
        call(make);
        const auto a = ask(s.lock);
        const auto b = ask_for(s.lock, 50ms);
        co_await finished(b);
        CHECK_FALSE(b->error);
        CHECK_FALSE(held(b));
        CHECK_FALSE(a->done());
        CHECK(call({"EXISTS", s.name}).number == 1);
        CHECK(call({"PTTL", s.name}).number == -1);
        s.foreigner_gives_it_back();
        co_await granted(a);
        co_await unlocked(a);
    }
}

CO_TEST("the log says once that a waiter waits for a key without an end, and for which") {
    const log_lines log;
    auto options = new_servers();
    options.log = log.writer();
    redis_scene s(executor, 1, options);
    co_await s.client.connect();
    (*s.call[0])({"SET", s.name, "foreign", "PX", "60000"});
    const auto a = ask_for(s.lock, 50ms);
    co_await finished(a);
    (*s.call[0])({"PERSIST", s.name});
    const auto b = ask_now(s.lock); // it does not wait
    co_await finished(b);
    CHECK(log.text() == "");
    const auto line = "the key " + s.name + " without a time to live";
    const auto c = ask(s.lock);
    co_await eventually([&] { return log.has(line); });
    c->cancel();
    const auto d = ask_for(s.lock, 50ms);
    co_await finished(d);
    CHECK_FALSE(d->error);
    CHECK_MESSAGE(log.count(line) == 1, log.text());
    s.foreigner_gives_it_back();
}

CO_TEST("the log has no control byte of a name") {
    const log_lines log;
    auto options = new_servers();
    options.log = log.writer();
    redis_scene s(executor, 1, options);
    const auto name = s.name + "\x1b[2J" + '\0', shown = s.name + R"(\x1b[2J\x00)";
    const redis::mutex lock(s.client, name);
    (*s.call[0])({"SET", name, "foreign"});
    const auto a = ask(lock);
    co_await eventually([&] { return log.has("the key " + shown + " without a time to live"); });
    a->cancel();
    co_await finished(a);
    (*s.call[0])({"DEL", name});
    (*s.call[0])({"SET", "paddock:token:" + name, "no number"});
    const auto b = ask(lock);
    co_await finished(b);
    CHECK(b->error == errc::unsuitable_server);
    CHECK_MESSAGE(log.has("the lock " + shown + " cannot be had"), log.text());
    const auto text = log.text();
    CHECK(std::none_of(text.begin(), text.end(), [](char c) { return c == '\x1b' || c == '\0'; }));
    (*s.call[0])({"DEL", "paddock:token:" + name});
}

CO_TEST("a hold whose key becomes another type is lost, and the key is left alone") {
    redis_scene s(executor, 1, new_servers(1s));
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto end = end_of(held(a));
    (*s.call[0])({"DEL", s.name});
    (*s.call[0])({"RPUSH", s.name, "x"});
    co_await finished(end);
    CHECK(end->error == errc::node_deleted);
    const auto last = give_back(held(a));
    co_await finished(last);
    CHECK((*s.call[0])({"LLEN", s.name}).number == 1);
    s.foreigner_gives_it_back();
}

CO_TEST("a counter of fencing tokens that is none is an error, and no lock is taken") {
    const log_lines log;
    auto options = new_servers();
    options.log = log.writer();
    redis_scene s(executor, 1, options);
    const auto counter = "paddock:token:" + s.name;
    for (const std::string text : {"garbage", "-1", "1e300", "nan", "inf"}) {
        (*s.call[0])({"SET", counter, text});
        const auto a = ask(s.lock);
        co_await finished(a);
        CHECK(a->error == errc::unsuitable_server);
        CHECK_MESSAGE(log.has("the counter of fencing tokens is not a number"), log.text());
        CHECK_MESSAGE(log.has("has written to " + counter), log.text());
        CHECK(s.value().empty());
    }
    (*s.call[0])({"DEL", counter});
    (*s.call[0])({"RPUSH", counter, "x"});
    const auto other_type = ask(s.lock);
    co_await finished(other_type);
    CHECK(other_type->error == errc::unsuitable_server);
    CHECK(s.value().empty());
    (*s.call[0])({"DEL", counter});
    const auto b = ask(s.lock);
    co_await granted(b);
    co_await unlocked(b);
}

CO_TEST("a lock's name may have any bytes") {
    if (torn_down(test)) co_return;
    redis_scene s(executor, 3);
    std::string all;
    for (int c = 0; c < 256; ++c)
        all += static_cast<char>(c);
    const std::vector<std::string> names{
        all,    all + all, "a{b}c", "{}x", "a}b{", "two words\r\n", std::string("\0", 1),
        "%s%n", "*",       "\xff"};
    for (const auto& name : names) {
        redis::mutex lock(s.client, name);
        const auto a = ask(lock);
        co_await granted(a);
        CHECK(held(a).path() == name);
        redis::client other(executor, url_of(s.ports), new_servers(60s));
        const auto b = ask(redis::mutex(other, name));
        co_await eventually([&] {
            return (*s.call[0])({"PUBSUB", "NUMSUB", "paddock:free:" + name}).items.at(1).number >
                   0;
        });
        co_await unlocked(a);
        co_await granted(b);
        CHECK(b->ended - b->begun < scaled(15s)); // woken, a third of the time to live is 20 s
        co_await unlocked(b);
        co_await eventually([&] { return (*s.call[0])({"EXISTS", name}).number == 0; });
    }
}
