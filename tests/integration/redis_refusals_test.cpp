// Redis servers that refuse: credentials, rights, memory, the disk, replicas, a busy script.

#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// What the documentation of redis::mutex lists, and what the URL of these tests needs besides.
const std::vector<std::string> documented{
    "+evalsha", "+eval",  "+script|load", "+subscribe", "+unsubscribe",   "+publish", "+ping",
    "+info",    "+time",  "+get",         "+set",       "+del",           "+pttl",    "+pexpire",
    "+hset",    "+hmget", "+select",      "+append",    "+client|setname"};

std::string url_as(const std::string& credentials, std::uint16_t port) {
    return "redis://" + credentials + "@127.0.0.1:" + std::to_string(port) + "/1";
}

/// A user with exactly these rights, and perhaps less.
void make_user(redis_caller& call, const std::string& name, const std::vector<std::string>& less) {
    std::vector<std::string> words{"ACL", "SETUSER", name, "reset", "on", ">secret"};
    words.insert(words.end(), {"~lock*", "~paddock:token:lock*", "~paddock:server", "resetchannels",
                               "&paddock:free:lock*", "-@all"});
    words.insert(words.end(), documented.begin(), documented.end());
    words.insert(words.end(), less.begin(), less.end());
    const auto said = call(words);
    REQUIRE_MESSAGE(said.text == "OK", said.text);
}

/// What lock() completes with for such a user.
asio::awaitable<error_code> refusal(redis_trouble& t, asio::any_io_executor executor,
                                    const std::string& url) {
    redis::client client(executor, url, t.options);
    const auto call = ask(redis::mutex(client, t.s->name));
    co_await finished(call);
    CHECK_FALSE(t.log.has("secret"));
    co_return call->error;
}

} // namespace

CO_TEST("a user with exactly the documented rights can do everything") {
    redis_trouble t(executor, 1, new_servers(1s));
    const auto call = t.call();
    make_user(*call, "worker", {});
    redis::client client(executor, url_as("worker:secret", t.own[0].port()), t.options);
    redis::mutex lock(client, t.s->name);
    const auto a = ask(lock);
    co_await granted(a);
    const auto before = held(a).valid_until();
    const auto b = ask(*t.theirs);
    co_await eventually([&] { return t.has_listener(); });
    (*call)({"SCRIPT", "FLUSH"});
    co_await held(a).verify();
    CHECK(held(a).valid_until() > before);
    co_await unlocked(a);
    co_await granted(b);
    const auto c = ask(lock);
    co_await eventually([&] { return t.has_listener(); });
    co_await unlocked(b);
    co_await granted(c);
    co_await unlocked(c);
    co_await client.close();
    CHECK((*call)({"ACL", "LOG"}).items.empty());
    CHECK(t.log.text() == "");
}

CO_TEST("a user who lacks a right gets no lock, and the log says which it is") {
    const std::vector<std::string> rights{"-evalsha", "-script", "-info", "-time",
                                          "-get",     "-set",    "-hmget"};
    for (const auto& round : test.each(rights)) {
        redis_trouble t(executor);
        make_user(*t.call(), "worker", {std::get<0>(round)});
        const auto error = co_await refusal(t, executor, url_as("worker:secret", t.own[0].port()));
        CHECK_MESSAGE(error == errc::auth_failed, error.message());
        CHECK_MESSAGE(t.log.has("refuses"), t.log.text());
        const auto number = std::to_string(t.own[0].port());
        CHECK_MESSAGE(t.log.has("the Redis server 127.0.0.1:" + number), t.log.text());
    }
}

CO_TEST("a user without a right to the lock's key gets no lock") {
    redis_trouble t(executor);
    make_user(*t.call(), "worker", {"resetkeys", "~other*", "~paddock:server"});
    const auto error = co_await refusal(t, executor, url_as("worker:secret", t.own[0].port()));
    CHECK(error == errc::auth_failed);
    CHECK(error.message().find("lack a right") != std::string::npos);
    CHECK_MESSAGE(t.log.has("NOPERM"), t.log.text());
}

CO_TEST("a password can be a word of any error") {
    redis_server own({"--requirepass", "script"});
    log_lines log;
    auto options = new_servers(scaled(1s));
    options.log = log.writer();
    redis::client client(executor, url_as(":script", own.port()), options);
    const redis::mutex lock(client, "lock");
    co_await client.connect();
    redis_caller call(own.port());
    call({"AUTH", "script"});
    call({"SCRIPT", "FLUSH"}); // the server says that it has no matching script
    const auto a = ask(lock);
    co_await granted(a);
    co_await unlocked(a);
    CHECK(log.text() == "");
}

CO_TEST("a waiter who may not listen is granted the lock all the same") {
    redis_trouble t(executor);
    make_user(*t.call(), "worker", {"-subscribe"});
    redis::client client(executor, url_as("worker:secret", t.own[0].port()), t.options);
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto b = ask(redis::mutex(client, t.s->name));
    co_await eventually([&] { return t.log.has("refuses a subscription"); });
    co_await unlocked(a);
    co_await granted(b);
    co_await unlocked(b);
}

CO_TEST("the log says once that a user may not tell of a release, which counts") {
    redis_trouble t(executor);
    make_user(*t.call(), "worker", {"resetchannels"});
    redis::client client(executor, url_as("worker:secret", t.own[0].port()), t.options);
    const redis::mutex lock(client, t.s->name);
    for (int n = 0; n < 2; ++n) {
        const auto a = ask(lock);
        co_await granted(a);
        co_await unlocked(a);
    }
    CHECK_MESSAGE(t.log.count("of a release") == 1, t.log.text());
}

CO_TEST("wrong credentials are refused") {
    redis_trouble t(executor);
    const auto port = t.own[0].port();
    const auto call = t.call();
    auto error = co_await refusal(t, executor, url_as("nobody:secret", port));
    CHECK(error == errc::auth_failed);
    CHECK_MESSAGE(t.log.has("WRONGPASS"), t.log.text());
    error = co_await refusal(t, executor, url_as(":secret", port)); // the server has none
    CHECK(error == errc::auth_failed);
    CHECK_MESSAGE(t.log.has("the server has no password"), t.log.text());
    (*call)({"CONFIG", "SET", "requirepass", "open"});
    error = co_await refusal(t, executor, url_as(":secret", port));
    CHECK(error == errc::auth_failed);
    const auto nobody = url_of(t.s->ports);
    error = co_await refusal(t, executor, nobody);
    CHECK(error == errc::auth_failed);
    CHECK_MESSAGE(t.log.has("NOAUTH"), t.log.text());
    error = co_await refusal(t, executor, url_as(":open", port));
    CHECK_FALSE(error);
}

CO_TEST("a server without memory grants nothing for the time being, and releases") {
    redis_trouble t(executor, 1, new_servers(30s));
    const auto call = t.call();
    const auto a = ask(t.s->lock);
    co_await granted(a);
    (*call)({"CONFIG", "SET", "maxmemory", "1"});
    co_await held(a).verify();
    co_await unlocked(a);
    co_await t.other->connect();
    const auto now = ask_now(*t.theirs);
    co_await finished(now);
    CHECK(now->error == errc::not_connected);
    CHECK_MESSAGE(t.log.has("OOM"), t.log.text());
    const auto b = ask(*t.theirs);
    const auto brief = ask_for(*t.theirs, 50ms);
    co_await finished(brief);
    CHECK_FALSE(b->done());
    (*call)({"CONFIG", "SET", "maxmemory", "0"});
    co_await granted(b);
    co_await unlocked(b);
}

CO_TEST("a server that cannot save, or has too few replicas, grants nothing for the time being") {
    const std::vector<std::string> troubles{"MISCONF", "NOREPLICAS"};
    for (const auto& round : test.each(troubles)) {
        const auto& trouble = std::get<0>(round);
        redis_trouble t(executor, 1, new_servers(30s), {"--save", "3600 1000000"});
        const auto call = t.call();
        co_await t.s->client.connect();
        if (trouble == "MISCONF") {
            const auto folder = (*call)({"CONFIG", "GET", "dir"}).items.at(1).text;
            std::filesystem::create_directory(folder + "/dump.rdb"); // where it should go
            (*call)({"BGSAVE"});
            co_await eventually([&] {
                return (*call)({"SET", "other", "1"}).text.starts_with("MISCONF");
            });
        } else {
            (*call)({"CONFIG", "SET", "min-replicas-to-write", "1"});
        }
        const auto now = ask_now(t.s->lock);
        co_await finished(now);
        CHECK(now->error == errc::not_connected);
        CHECK_MESSAGE(t.log.has(trouble), t.log.text());
        const auto a = ask(t.s->lock);
        const auto brief = ask_for(t.s->lock, 50ms);
        co_await finished(brief);
        CHECK(brief->error == errc::not_connected);
        CHECK_FALSE(a->done());
        (*call)({"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"});
        (*call)({"CONFIG", "SET", "min-replicas-to-write", "0"});
        co_await granted(a);
        co_await unlocked(a);
    }
}

CO_TEST("a server that is busy with another's script is waited for") {
    redis_trouble t(executor, 1, new_servers(30s), {"--busy-reply-threshold", "1"});
    const auto a = ask(t.s->lock);
    co_await granted(a);
    asio::ip::tcp::socket other(executor);
    other.connect({asio::ip::address_v4::loopback(), t.own[0].port()});
    asio::write(other, asio::buffer(std::string("EVAL \"while true do end\" 0\r\n")));
    co_await eventually([&] { return (*t.call())({"PING"}).text.starts_with("BUSY"); });
    const auto released = give_back(held(a));
    const auto b = ask(*t.theirs);
    const auto now = ask_for(t.s->lock, scaled(500ms));
    co_await finished(now);
    CHECK(now->error == errc::not_connected);
    CHECK_FALSE(released->done());
    CHECK_FALSE(b->done());
    (*t.call())({"SCRIPT", "KILL"});
    co_await finished(released);
    CHECK_FALSE(released->error);
    co_await granted(b);
    co_await unlocked(b);
}
