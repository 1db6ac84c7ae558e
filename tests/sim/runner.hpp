#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::test::sim {

/// The options of the command line: `--seed N` prints one history, `--seeds N` runs so many,
/// `--first N` begins with this one, `--shortest` does not stop at a fault,
/// `--over-tls` encrypts the connections to ZooKeeper's servers.
struct run_options {
    std::optional<std::uint64_t> seed{};
    std::optional<std::uint64_t> seeds{};
    std::uint64_t first = 1;
    bool shortest = false;
    bool over_tls = false;
    std::string fault{}; ///< that a planted bug must cause
};
run_options& options();
const run_options& read_options(int count, char** arguments);

/// Returns the fault of this seed's history; empty if there is none. Writes the story if `story` is
/// given.
std::string run_history(std::uint64_t seed, std::string* story = nullptr);

/// Prints the story of one history; returns the result of main().
int tell(std::uint64_t seed);

struct finding {
    std::uint64_t histories = 0;
    std::uint64_t seed = 0; ///< of the fault
    std::string fault{};    ///< empty if there is none
    double seconds = 0;
};

/// Runs histories until one has a fault; with `--shortest` all of them, to find the fault with the
/// shortest story.
finding search(std::uint64_t first, std::uint64_t count);

} // namespace paddock::test::sim
