#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::test::sim {

/// What the command line asks for: `--seed N` tells the story of one history, `--seeds N` runs so
/// many, `--first N` begins with this one.
struct wishes {
    std::optional<std::uint64_t> seed{};
    std::optional<std::uint64_t> seeds{};
    std::uint64_t first = 1;
};
wishes& asked();
const wishes& read(int count, char** arguments);

/// What went wrong in the history of this seed; nothing if it is well. The story is written only if
/// somebody wants it.
std::string run_history(std::uint64_t seed, std::string* story = nullptr);

/// Prints the story of one history; returns what main() is to.
int tell(std::uint64_t seed);

struct finding {
    std::uint64_t histories = 0;
    std::uint64_t seed = 0; ///< of the first that went wrong
    std::string fault{};    ///< empty if none did
    double seconds = 0;
};

/// Runs histories until one goes wrong.
finding search(std::uint64_t first, std::uint64_t count);

} // namespace paddock::test::sim
