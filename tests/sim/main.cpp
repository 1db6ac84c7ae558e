// doctest's main function, with two options more: --seed N tells the story of one history, and
// --seeds N runs so many instead of as many as a normal run has.
#define DOCTEST_CONFIG_IMPLEMENT
#include "sim/runner.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

int tell(std::uint64_t seed) {
    std::string story;
    const auto fault = paddock::test::sim::run_history(seed, &story);
    std::cout << story << "seed " << seed << ": " << (fault.empty() ? "all is well" : fault)
              << '\n';
    return fault.empty() ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
    auto& wishes = paddock::test::sim::asked();
    for (int n = 1; n + 1 < count; ++n) {
        const std::string_view name = arguments[n];
        if (name == "--seed") wishes.seed = std::strtoull(arguments[n + 1], nullptr, 0);
        if (name == "--seeds") wishes.seeds = std::strtoull(arguments[n + 1], nullptr, 0);
    }
    if (wishes.seed) return tell(*wishes.seed);
    return doctest::Context(count, arguments).run();
}
