// How soon a waiter for a lock on Redis asks again, whatever has become of the lock and of its
// messages.

#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A third of the time to live, which a waiter that hears of releases sleeps, is far too long here.
redis::client_options long_locks() {
    auto options = new_servers(60s);
    options.max_ttl = 60s;
    return options;
}
constexpr auto soon = 4s;

/// The holder releases the lock, and the waiter has it soon.
asio::awaitable<void> pass_on_soon(lock_call holder, lock_call waiter) {
    const auto released = give_back(held(holder));
    co_await eventually([&] { return waiter->done(); }, soon);
    co_await granted(waiter);
    co_await finished(released);
    co_await unlocked(waiter);
}

/// Another program that takes the lock as soon as it has given it back, by SET NX and DEL.
class greedy_program {
public:
    greedy_program(std::uint16_t port, std::string name)
        : thread_([this, port, name = std::move(name)] {
            redis_caller call(port);
            call({"SELECT", database_of(1)});
            for (int n = 0; !done_; ++n) {
                const auto value = "foreign" + std::to_string(n);
                const auto said = call({"SET", name, value, "NX", "PX", "30000"});
                std::this_thread::sleep_for(said.text == "OK" ? 50ms : 5ms);
                if (said.text == "OK") call({"DEL", name});
                std::this_thread::sleep_for(2ms); // it is free so long
            }
        }) {}
    ~greedy_program() {
        done_ = true;
        thread_.join();
    }
    greedy_program(const greedy_program&) = delete;
    greedy_program& operator=(const greedy_program&) = delete;

private:
    std::atomic<bool> done_{false};
    std::thread thread_;
};

} // namespace

CO_TEST("a release wakes the next, also if the key is gone") {
    for (const auto& round : test.each(std::vector<std::size_t>{1, 3})) {
        redis_trouble t(executor, std::get<0>(round), long_locks());
        const auto a = ask(t.s->lock);
        co_await granted(a);
        const auto b = ask(*t.theirs);
        co_await eventually([&] { return t.has_listener(); });
        t.s->foreigner_gives_it_back(); // somebody has deleted it; an expired one is the same
        co_await pass_on_soon(a, b);
    }
}

CO_TEST("a release wakes nobody while another program has the lock") {
    redis_trouble t(executor, 1, long_locks());
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto call = t.call();
    (*call)({"SET", t.s->name, "foreign"});
    (*call)({"SUBSCRIBE", "paddock:free:" + t.s->name});
    const auto released = give_back(held(a));
    co_await finished(released);
    (*t.call())({"PUBLISH", "paddock:free:" + t.s->name, "the first message"});
    CHECK(call->read().items.back().text == "the first message");
}

CO_TEST("a waiter that may not subscribe asks once a second") {
    redis_trouble t(executor, 1, long_locks());
    (*t.call())(
        {"ACL", "SETUSER", "deaf", "reset", "on", ">secret", "~*", "+@all", "resetchannels"});
    redis::client client(executor,
                         "redis://deaf:secret@127.0.0.1:" + std::to_string(t.own[0].port()) + '/' +
                             database_of(1),
                         t.options);
    const redis::mutex lock(client, t.s->name);
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto b = ask(lock);
    co_await eventually([&] { return t.log.has("refuses a subscription"); });
    co_await pass_on_soon(a, b);
    CHECK(t.log.count("of a release") == 1); // it may not publish, either
}

CO_TEST("a waiter whose connection for messages is lost asks soon") {
    redis_trouble t(executor, 1, long_locks());
    const auto a = ask(t.s->lock);
    co_await granted(a);
    const auto b = ask(*t.theirs);
    co_await eventually([&] { return t.has_listener(); });
    const auto call = t.call();
    (*call)({"ACL", "SETUSER", "default", "resetchannels"}); // no new subscription
    (*call)({"CLIENT", "KILL", "TYPE", "pubsub"});
    co_await eventually([&] { return t.log.has("refuses a subscription"); });
    co_await pass_on_soon(a, b);
}

CO_TEST("a waiter gets its turn behind a program that takes the lock again and again") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor, 1, long_locks());
    const greedy_program other(t.own[0].port(), t.s->name);
    co_await eventually([&] { return !t.s->value().empty(); });
    const auto began = std::chrono::steady_clock::now();
    constexpr int grants = 5;
    for (int n = 0; n < grants; ++n) {
        const auto a = ask(t.s->lock);
        co_await eventually([&] { return a->done(); }, 30s);
        co_await granted(a);
        co_await unlocked(a);
    }
    const auto each = (std::chrono::steady_clock::now() - began) / grants;
    MESSAGE("a grant after " << std::chrono::duration_cast<std::chrono::milliseconds>(each).count()
                             << " ms");
    CHECK(each < scaled(5s));
}

CO_TEST("an administrator sees who the clients are") {
    auto options = short_locks();
    options.label = "worker-7";
    redis_trouble t(executor, 1, options);
    co_await t.s->client.connect();
    const auto list = (*t.call())({"CLIENT", "LIST"}).text;
    CHECK(list.find("name=paddock:worker-7 ") != std::string::npos);
    const std::vector<std::string> bad{"two words", "line\n", std::string(65, 'x')};
    for (const auto& label : bad) {
        options.label = label;
        CHECK_THROWS_AS(redis::client(executor, "redis://10.0.0.1", options), system_error);
    }
    co_return;
}

CO_TEST("try_lock does not wait for servers that stand still") {
    redis_trouble t(executor, 1, new_servers(10s));
    co_await t.s->client.connect();
    t.own[0].pause();
    const auto began = std::chrono::steady_clock::now();
    const auto now = ask_now(t.s->lock);
    co_await finished(now);
    CHECK(std::chrono::steady_clock::now() - began < scaled(1500ms));
    CHECK(now->error == errc::not_connected);
    t.own[0].resume();
}

CO_TEST("a server that was a master, and is a replica for a while, is waited for") {
    redis_trouble t(executor);
    co_await t.s->client.connect();
    const auto call = t.call();
    (*call)({"REPLICAOF", "127.0.0.1", "1"});
    const auto a = ask(t.s->lock);
    co_await eventually([&] { return t.log.has("role is 'slave'"); });
    const auto b = ask(t.s->lock); // which is known not to be a master now
    CHECK_FALSE(a->done());
    (*call)({"REPLICAOF", "NO", "ONE"});
    co_await granted(a);
    co_await unlocked(a);
    co_await granted(b);
    co_await unlocked(b);
}

CO_TEST("a server that closes idle connections is no outage") {
    if (torn_down(test)) co_return;
    redis_trouble t(executor);
    const auto call = t.call();
    co_await t.s->client.connect();
    (*call)({"CONFIG", "SET", "timeout", "1"});
    const auto count_connections = [&] {
        redis_caller look(t.own[0].plain_port());
        const auto said = look({"INFO", "stats"}).text;
        const std::string name = "total_connections_received:";
        return std::stoi(said.substr(said.find(name) + name.size()));
    };
    const auto before = count_connections();
    asio::steady_timer timer(executor);
    for (int n = 0; n < 3; ++n) {
        timer.expires_after(2500ms); // the server looks at its connections once a second
        co_await timer.async_wait(asio::use_awaitable);
        const auto a = ask_now(t.s->lock);
        co_await finished(a);
        CHECK(a->error == error_code());
        CHECK(held(a).valid());
        co_await unlocked(a);
    }
    CHECK(count_connections() > before + 3);
    CHECK(t.log.text() == "");
}
