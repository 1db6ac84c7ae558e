// Random histories of the whole library on a simulated ensemble.

#include "sim/runner.hpp"

#include <doctest/doctest.h>

using namespace paddock::test::sim;

TEST_CASE("in every history the locks keep their promises") {
    const auto found = search(1, asked().seeds.value_or(10'000));
    MESSAGE(found.histories << " histories in " << found.seconds << " s, "
                            << static_cast<double>(found.histories) / found.seconds
                            << " per second");
    if (found.fault.empty()) return;
    std::string story;
    run_history(found.seed, &story);
    FAIL("--seed " << found.seed << ": " << found.fault << '\n' << story);
}

TEST_CASE("the same seed is the same history") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::string once, again;
        run_history(seed, &once);
        run_history(seed, &again);
        CHECK(once == again);
    }
}
