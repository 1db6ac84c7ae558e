// How many attempts to get locks on Redis one client makes at one time, in virtual time.

#include "redis/locks/core.hpp"
#include "support/fake_network.hpp"
#include "support/redis_harness.hpp"

#include <paddock/detail/access.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using core = redis::detail::core;

namespace {

/// A client of one server, which the test plays: it grants each lock when the test wants it.
struct window_stage {
    static constexpr std::chrono::seconds ttl{6};

    window_stage() {
        auto made = std::make_unique<fake_environment>();
        env = made.get();
        network = std::make_unique<fake_network>(*env);
        inside = std::make_shared<core>(
            io.get_executor(), redis::detail::world{std::move(made), &fake_environment::latest_now},
            redis::rules::parse_url("redis://10.0.0.1").servers, new_servers(ttl));
        client = paddock::detail::access::make<redis::client>(inside);
        inside->start();
        env->run();
        network->accept();
        serve();
        REQUIRE(inside->connected());
    }
    ~window_stage() { inside->shutdown(); }

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
    void grant() {
        const auto clock = std::chrono::floor<std::chrono::microseconds>(env->now());
        const auto time = std::to_string(clock.time_since_epoch().count());
        network->say("*3\r\n$7\r\ngranted\r\n$" + std::to_string(time.size()) + "\r\n" + time +
                     "\r\n$1\r\n1\r\n");
        serve();
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
    std::shared_ptr<core> inside;
    std::optional<redis::client> client;
    redis::rules::reply_reader reader;
    std::vector<std::string> attempts, renewals, releases; ///< the locks
};

constexpr auto most = core::most_attempts;

} // namespace

TEST_CASE_FIXTURE(window_stage,
                  "so many attempts are under way; each that ends makes room for one") {
    const auto calls = ask_for_locks(most + 3);
    CHECK(attempts.size() == most);
    for (std::size_t n = 1; n <= 3; ++n) {
        grant();
        CHECK(held(calls[n - 1]).valid());
        REQUIRE(attempts.size() == most + n);
        CHECK(attempts.back() == std::to_string(most + n)); // in their order
    }
    for (std::size_t n = 0; n < most; ++n)
        grant();
    CHECK(attempts.size() == most + 3);
    CHECK(held(calls.back()).valid());
}

TEST_CASE_FIXTURE(window_stage, "a call that leaves before its turn takes none") {
    const auto calls = ask_for_locks(most + 1);
    const auto brief = ask_for(lock(most + 2), 10ms);
    const auto last = ask(lock(most + 3));
    serve();
    calls.back()->cancel();
    serve();
    CHECK(calls.back()->error == asio::error::operation_aborted);
    env->advance(10ms);
    serve();
    CHECK(brief->done());
    CHECK_FALSE(brief->error); // the client is connected
    CHECK_FALSE(held(brief));
    grant();
    CHECK(attempts.size() == most + 1);
    CHECK(attempts.back() == std::to_string(most + 3));
}

TEST_CASE_FIXTURE(window_stage, "a lock whose other calls leave keeps its turn") {
    ask_for_locks(most);
    const auto first = ask(lock(most + 1)), other = ask(lock(most + 2)),
               second = ask(lock(most + 1));
    serve();
    first->cancel();
    serve();
    grant();
    CHECK(attempts.back() == std::to_string(most + 1));
    CHECK_FALSE(other->done());
    CHECK_FALSE(second->done());
}

TEST_CASE_FIXTURE(window_stage, "renewals and releases wait for no turn") {
    const auto a = ask(lock(0)), b = ask(lock(most + 9));
    serve();
    grant();
    grant();
    const auto calls = ask_for_locks(most + 1);
    held(a) = guard();
    serve();
    CHECK(releases == std::vector<std::string>{"0"});
    env->advance(ttl / 3);
    serve();
    CHECK(renewals == std::vector<std::string>{std::to_string(most + 9)});
    CHECK(attempts.size() == 2 + most);
}

TEST_CASE_FIXTURE(window_stage, "an attempt that is given up makes room") {
    const auto calls = ask_for_locks(2 * most + 1);
    env->advance(ttl / 2); // all of them have had their time
    serve();
    CHECK(releases.size() == most);
    CHECK(attempts.size() == 2 * most);
}

TEST_CASE_FIXTURE(window_stage, "close() ends the calls that wait for their turn") {
    const auto calls = ask_for_locks(most + 1);
    inside->close(errc::closed);
    serve();
    for (const auto& one : calls)
        CHECK(one->error == errc::closed);
    CHECK(attempts.size() == most);
    CHECK(releases.size() == most);
}
