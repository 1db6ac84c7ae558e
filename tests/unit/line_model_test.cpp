// Random histories of several clients, foreign processes, an ensemble with a server that is behind,
// a bad network and a careless administrator. After each step it is checked that nobody is granted
// beside or before somebody else; at the end, that everybody was served and nothing is left.
//
// PADDOCK_SEED=n runs the histories from that seed on, PADDOCK_HISTORIES=n so many of them.

#include "unit/model_history.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

using namespace paddock::test::model;

namespace {

std::optional<std::uint64_t> from_environment(const char* name) {
    const char* const text = std::getenv(name);
    if (!text) return std::nullopt;
    return std::stoull(text);
}

/// What went wrong, if something did.
std::string run(std::uint64_t seed, std::string* story) {
    history one(seed, story ? [story](const std::string& what) { *story += "  " + what + '\n'; }
                            : std::function<void(const std::string&)>());
    try {
        one.run();
    } catch (const violation& v) {
        return v.what();
    }
    return {};
}

} // namespace

TEST_CASE("in every history at most one holds, everybody is served in turn, and nothing is left") {
    using clock = std::chrono::steady_clock;
    const auto first = from_environment("PADDOCK_SEED").value_or(1);
    const auto wanted = from_environment("PADDOCK_HISTORIES");
    const auto end = clock::now() + std::chrono::seconds(20);
    std::uint64_t done = 0;
    for (; done < wanted.value_or(100'000); ++done) {
        if (!wanted && done % 256 == 0 && clock::now() > end) break;
        if (run(first + done, nullptr).empty()) continue;
        std::string story;
        const auto fault = run(first + done, &story);
        FAIL("after " << done << " histories, PADDOCK_SEED=" << first + done << ": " << fault
                      << "\n"
                      << story);
    }
    MESSAGE(done << " histories");
    CHECK(done > 0);
}
