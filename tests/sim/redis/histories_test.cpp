// Random histories of the locks on Redis, on simulated servers. `--seeds 1000000` runs so many,
// from `--first N`; `--seed N` tells the story of one.

#include "sim/redis/process.hpp"
#include "sim/redis/server.hpp"
#include "sim/runner.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using namespace paddock::test::sim;
using namespace std::chrono_literals;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t normal_run = 500;
#else
constexpr std::uint64_t normal_run = 10'000;
#endif

} // namespace

TEST_CASE("the locks on Redis keep their promises in every history") {
    const auto found = search(options().first, options().seeds.value_or(normal_run));
    MESSAGE(found.histories << " histories in " << found.seconds << " s, "
                            << static_cast<double>(found.histories) / found.seconds
                            << " per second");
    if (found.fault.empty()) return;
    std::string story;
    run_history(found.seed, &story);
    FAIL("--seed " << found.seed << ": " << found.fault << "\n" << story);
}

TEST_CASE("the same seed gives the same history") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::string once, again;
        run_history(seed, &once);
        run_history(seed, &again);
        CHECK(once == again);
    }
}

TEST_CASE("waiters of many locks do nothing while no server can be reached") {
    constexpr std::size_t count = 1000;
    timeline time;
    dice chance(1);
    redis_network net(time, chance, 1);
    redis_checker check(time);
    redis_setup how{.name = "A", .url = "redis://10.0.0.1"};
    how.options.trust_new_servers = true;
    how.options.log = [](std::string_view) {};
    for (std::size_t n = 0; n < count; ++n)
        how.locks.push_back(std::to_string(n));
    redis_process client(net, check, how);
    net.server(0).restart({}, 10min, 0ms);
    for (std::size_t n = 0; n < count; ++n)
        client.begin({.lock = n});
    const auto run_for = [&](duration limit, bool until_idle) {
        const auto end = time.now() + limit;
        time.at(end, [] {});
        while (time.now() < end && !(until_idle && client.idle()))
            REQUIRE(time.step());
    };
    run_for(1min, false);
    const auto before = time.steps();
    run_for(1min, false);
    CHECK(time.steps() - before < count); // only to connect
    net.server(0).recover();
    run_for(1min, true);
    CHECK(client.idle());
}
