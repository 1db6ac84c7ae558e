#include "sim/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

namespace paddock::test::sim {

run_options& options() {
    static run_options all;
    return all;
}

const run_options& read_options(int count, char** arguments) {
    for (int n = 1; n < count; ++n) {
        const std::string_view name = arguments[n];
        if (name == "--shortest") options().shortest = true;
        if (name == "--over-tls") options().over_tls = true;
        if (n + 1 == count) break;
        const auto number = [&] { return std::strtoull(arguments[n + 1], nullptr, 0); };
        if (name == "--seed") options().seed = number();
        if (name == "--seeds") options().seeds = number();
        if (name == "--first") options().first = number();
        if (name == "--fault") options().fault = arguments[n + 1];
    }
    return options();
}

int tell(std::uint64_t seed) {
    std::string story;
    const auto fault = run_history(seed, &story);
    std::cout << story << "seed " << seed << ": " << (fault.empty() ? "all is well" : fault)
              << '\n';
    return fault.empty() ? 0 : 1;
}

finding search(std::uint64_t first, std::uint64_t count) {
    const auto begin = std::chrono::steady_clock::now();
    finding out;
    std::ptrdiff_t least = 0; // lines
    while ((out.fault.empty() || options().shortest) && out.histories < count) {
        const auto seed = first + out.histories++;
        auto fault = run_history(seed);
        if (fault.empty()) continue;
        std::string story;
        run_history(seed, &story);
        const auto lines = std::count(story.begin(), story.end(), '\n');
        if (!out.fault.empty() && lines >= least) continue;
        least = lines;
        out.seed = seed;
        out.fault = std::move(fault);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

} // namespace paddock::test::sim
