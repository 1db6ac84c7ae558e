#pragma once

#include "redis/connection/connection.hpp"
#include "support/asio_environment.hpp"
#include "support/played_redis.hpp"
#include "support/pump_harness.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

/// A connection to a Redis server that the test plays, and what becomes of it.
struct connection_harness : redis::connection::user {
    connection_harness() { place.host = "127.0.0.1"; }

    void on_open() override {
        CHECK_FALSE(opened);
        opened = true;
        if (when_open) when_open();
    }
    void on_message(const std::string& channel, const std::string&) override {
        messages.push_back(channel);
        if (when_message) when_message();
    }
    void on_end(redis::ending how, const std::string& why) override {
        CHECK_FALSE(ended);
        ended = how;
        reason = why;
        if (when_ended) when_ended();
    }

    void connect(std::uint16_t port,
                 redis::connection::kind what = redis::connection::kind::commands) {
        place.port = port;
        subject.emplace(*env, place, what, limits, *this);
        CHECK_FALSE(opened);
        CHECK_FALSE(ended);
    }
    bool open(redis::connection::kind what = redis::connection::kind::commands) {
        connect(peer.port(), what);
        return until([&] { return opened || ended; }) && opened;
    }
    template <class Predicate>
    bool until(Predicate predicate) {
        return run_until(io, predicate);
    }
    /// The reply's text, "?" if the outcome is unknown.
    bool send(const redis::connection::words& command) {
        return subject->send(command, [this](std::optional<redis::rules::reply> said, auto) {
            replies.push_back(said ? said->text : "?");
        });
    }
    void answer_with(std::string bytes) {
        peer.on_command = [bytes](auto& link, const auto&) { link.say(bytes); };
    }

    asio::io_context io{1};
    played_redis peer{io};
    std::unique_ptr<environment> env =
        make_asio_environment(asio::make_strand(asio::any_io_executor(io.get_executor())));
    redis::rules::server place;
    redis::connection_limits limits;
    std::optional<redis::connection> subject;
    bool opened = false;
    std::optional<redis::ending> ended;
    std::string reason;
    std::vector<std::string> messages, replies;
    std::function<void()> when_open, when_ended, when_message;
};

} // namespace paddock::test
