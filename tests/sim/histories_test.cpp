// Random histories of the whole library on a simulated ensemble. `--seeds 1000000` runs so many,
// from `--first N`; `--seed N` tells the story of one. `--over-tls`: see runner.hpp.

#include "sim/history.hpp"
#include "sim/runner.hpp"

#include <doctest/doctest.h>

using namespace paddock::test::sim;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t normal_run = 500;
#else
constexpr std::uint64_t normal_run = 10'000;
#endif

} // namespace

TEST_CASE("the locks keep their promises in every history") {
    const auto enough = options().over_tls ? normal_run / 20 : normal_run; // each takes longer
    const auto found = search(options().first, options().seeds.value_or(enough));
    MESSAGE(found.histories << " histories in " << found.seconds << " s, "
                            << static_cast<double>(found.histories) / found.seconds
                            << " per second");
    if (found.fault.empty()) return;
    std::string story;
    run_history(found.seed, &story);
    FAIL("--seed " << found.seed << ": " << found.fault << '\n' << story);
}

TEST_CASE("the same seed gives the same history") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::string once, again;
        run_history(seed, &once);
        run_history(seed, &again);
        CHECK(once == again);
    }
}

TEST_CASE("in the histories nodes are created together, deleted together, and refused together") {
    batch_counts all;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        history one(seed);
        one.run();
        all.creates += one.batches().creates;
        all.removes += one.batches().removes;
        all.refused += one.batches().refused;
        all.directories_made += one.batches().directories_made;
        all.directories_removed += one.batches().directories_removed;
    }
    MESSAGE(all.creates << " batches of creates, " << all.removes << " of deletes, " << all.refused
                        << " of them refused, " << all.directories_made << " directories made, "
                        << all.directories_removed << " deleted");
    CHECK(all.creates > 100);
    CHECK(all.removes > 50);
    CHECK(all.refused > 5);
    CHECK(all.directories_made > 50);
    CHECK(all.directories_removed > 30);
}

TEST_CASE("in some histories all servers lose their data") {
    int lost = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
        lost += history(seed).data_is_lost() ? 1 : 0;
    CHECK(lost > 10);
}
