#pragma once

#include "unit/model_ensemble.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

// Runs random histories one after the other, and tells the story of the first that goes wrong.
//
// PADDOCK_SEED=n runs the histories from that seed on, PADDOCK_HISTORIES=n so many of them.

namespace paddock::test::model {

inline std::optional<std::uint64_t> from_environment(const char* name) {
    const char* const text = std::getenv(name);
    if (!text) return std::nullopt;
    return std::stoull(text);
}

/// What went wrong, if something did.
template <class History>
std::string run_history(std::uint64_t seed, std::string* story) {
    History one(seed, story ? [story](const std::string& what) { *story += "  " + what + '\n'; }
                            : std::function<void(const std::string&)>());
    try {
        one.run();
    } catch (const violation& v) {
        return v.what();
    }
    return {};
}

template <class History>
void run_histories() {
    using clock = std::chrono::steady_clock;
    const auto first = from_environment("PADDOCK_SEED").value_or(1);
    const auto wanted = from_environment("PADDOCK_HISTORIES");
    const auto end = clock::now() + std::chrono::seconds(20);
    std::uint64_t done = 0;
    for (; done < wanted.value_or(100'000); ++done) {
        if (!wanted && done % 256 == 0 && clock::now() > end) break;
        if (run_history<History>(first + done, nullptr).empty()) continue;
        std::string story;
        const auto fault = run_history<History>(first + done, &story);
        FAIL("after " << done << " histories, PADDOCK_SEED=" << first + done << ": " << fault
                      << "\n"
                      << story);
    }
    MESSAGE(done << " histories");
    CHECK(done > 0);
}

} // namespace paddock::test::model
