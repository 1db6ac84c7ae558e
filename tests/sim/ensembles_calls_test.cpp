// Single calls of samples/20_many_ensembles.cpp, without faults: many_ensembles_test.cpp has the
// histories.

#include "sim/ensembles_process.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

using namespace paddock::test::sim;
using namespace std::chrono_literals;

namespace {

/// A process that asks for one key.
struct stage {
    explicit stage(const std::string& lists) {
        for (const auto* const name : {"home", "a", "b"})
            ensembles[name] = std::make_unique<ensemble>(time, chance, ensemble_options{});
        pass(10s); // there are leaders
        ensembles["home"]->administrator({.what = verb::create, .path = "/stage", .data = lists});
        pass(10s);
        by.emplace(ensembles, time, chance, "the process");
    }
    void pass(duration how_long) {
        for (const auto end = time.now() + how_long; time.now() < end && time.step();)
            if (by) by->poll();
    }
    void follow() { by->begin(by->locks().follow()); }
    void ask(std::chrono::seconds limit) { by->begin(call(limit)); }

    std::string said; ///< by the call

    timeline time;
    dice chance{1};
    ensembles_by_name ensembles;
    std::optional<ensembles_process> by;

private:
    asio::awaitable<void> call(std::chrono::seconds limit) {
        const auto work = [](const fence&, auto) -> asio::awaitable<void> { co_return; };
        try {
            const bool ours = co_await by->locks().try_with("apple", limit, work);
            said = ours ? "granted" : "not in time";
        } catch (const std::exception& failed) {
            said = failed.what();
        }
    }
};

} // namespace

TEST_CASE("a new ensemble takes its share of the keys, and no other key moves") {
    std::map<std::string, int> before, after;
    for (int n = 0; n < 9000; ++n) {
        const auto key = "article " + std::to_string(n);
        const auto from = place_of(key, "a b"), to = place_of(key, "a b c");
        ++before[from];
        ++after[to];
        REQUIRE((to == from || to == "c"));
    }
    for (const auto& [place, number] : before)
        CHECK(std::abs(number - 4500) < 200);
    for (const auto& [place, number] : after)
        CHECK(std::abs(number - 3000) < 200);
    CHECK(place_of("EU/4711", "a b c") == "c"); // in all versions and programs
}

TEST_CASE("a call waits for the present list, and asks nobody meanwhile") {
    stage s("1 a b");
    s.ask(100s);
    s.pass(10s);
    CHECK(s.by->client_of("home").statistics().servers.front().reads.count() < 20); // heartbeats
    CHECK(s.said.empty());
    s.follow();
    s.pass(10s);
    CHECK(s.said == "granted");
}

TEST_CASE("a call does not wait for the present list beyond its limit") {
    stage s("1 a b");
    s.ask(0s); // by the real clock
    s.pass(10s);
    CHECK(s.said == "not in time");
}

TEST_CASE("a name in the list that the process does not know is an error") {
    stage s("1 z");
    s.follow();
    s.ask(100s);
    s.pass(10s);
    CHECK(s.said == "unknown ensemble: z");
}
