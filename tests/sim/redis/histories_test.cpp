// Random histories of the locks on Redis, on simulated servers. `--seeds 1000000` runs so many,
// from `--first N`; `--seed N` tells the story of one.

#include "sim/runner.hpp"

#include <doctest/doctest.h>

using namespace paddock::test::sim;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t normal_run = 500;
#elif defined(__OPTIMIZE__)
constexpr std::uint64_t normal_run = 100'000;
#else
constexpr std::uint64_t normal_run = 3'000;
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
