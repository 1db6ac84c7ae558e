#pragma once

#include "fake_network.hpp"
#include "redis/locks/core.hpp"
#include "redis_harness.hpp"

#include <paddock/detail/access.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// A client of one server, which the test plays: it grants each lock when the test wants it.
struct redis_stage {
    static constexpr std::chrono::seconds ttl{6};

    redis_stage() {
        auto made = std::make_unique<fake_environment>();
        env = made.get();
        network = std::make_unique<fake_network>(*env);
        inside = std::make_shared<redis::detail::core>(
            io.get_executor(), redis::detail::world{std::move(made), &fake_environment::latest_now},
            redis::rules::parse_url("redis://10.0.0.1").servers, new_servers(ttl));
        client = paddock::detail::access::make<redis::client>(inside);
        inside->start();
        env->run();
        network->accept();
        serve();
        REQUIRE(inside->connected());
    }
    ~redis_stage() { inside->shutdown(); }

    /// The server reads, and says what is said to a new client.
    void serve() {
        do {
            env->run();
            io.restart();
            io.poll();
            reader.feed(std::exchange(network->links.front()->written, {}));
            while (const auto command = reader.next())
                hear(*command);
        } while (env->run() > 0 || io.poll() > 0);
    }
    void hear(const redis::rules::reply& command) {
        const auto& name = command.items.at(0).text;
        if (name == "INFO") network->say("$35\r\nredis_version:7.0.15\r\nrole:master\r\n\r\n");
        if (name == "CLIENT") network->say("+OK\r\n");
        if (name == "HMGET") network->say("*3\r\n$-1\r\n$-1\r\n$-1\r\n");
        if (name == "SCRIPT") network->say("$4\r\nhash\r\n");
        if (name != "EVALSHA") return;
        constexpr std::size_t words_of_acquire = 12, words_of_renew = 13;
        const auto& lock = command.items.at(3).text;
        if (command.items.size() == words_of_acquire)
            attempts.push_back(lock);
        else
            (command.items.size() == words_of_renew ? renewals : releases).push_back(lock);
    }
    /// To the oldest attempt.
    void grant() { answer({"granted", clock(), "1"}); }
    /// To the oldest attempt, or renewal.
    void deny() { answer({"taken", clock(), "3000", "another program"}); }
    /// To the oldest release: so many clients heard of it.
    void confirm_release(int listeners) { answer({"released", "", std::to_string(listeners)}); }
    /// What the client hears on the last connection that it has opened.
    void tell_of_release(const std::string& lock) {
        network->say(reply_of({"message", "paddock:free:" + lock, "another client's value"}));
        serve();
    }
    /// The subscriptions are confirmed. The client has opened a connection for them.
    void let_listen() {
        REQUIRE(network->links.size() == 2);
        network->accept();
        serve();
    }
    std::string clock() const {
        const auto time = std::chrono::floor<std::chrono::microseconds>(env->now());
        return std::to_string(time.time_since_epoch().count());
    }
    void answer(const std::vector<std::string>& items) {
        network->say(reply_of(items), 0);
        serve();
    }
    static std::string reply_of(const std::vector<std::string>& items) {
        std::string all = '*' + std::to_string(items.size()) + "\r\n";
        for (const auto& one : items)
            all += '$' + std::to_string(one.size()) + "\r\n" + one + "\r\n";
        return all;
    }
    redis::mutex lock(std::size_t n) { return {*client, std::to_string(n)}; }
    /// Asks for the locks with the numbers 1, 2, ….
    std::vector<lock_call> ask_for_locks(std::size_t count) {
        std::vector<lock_call> calls;
        for (std::size_t n = 1; n <= count; ++n)
            calls.push_back(ask(lock(n)));
        serve();
        return calls;
    }

    asio::io_context io;
    fake_environment* env = nullptr;
    std::unique_ptr<fake_network> network;
    std::shared_ptr<redis::detail::core> inside;
    std::optional<redis::client> client;
    redis::rules::reply_reader reader;
    std::vector<std::string> attempts, renewals, releases; ///< the locks
};

} // namespace paddock::test
