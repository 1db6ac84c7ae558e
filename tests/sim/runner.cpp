#include "sim/runner.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace paddock::test::sim {

run_options& options() {
    static run_options all;
    return all;
}

const run_options& read_options(int count, char** arguments) {
    for (int n = 1; n + 1 < count; ++n) {
        const std::string_view name = arguments[n];
        const auto number = [&] { return std::strtoull(arguments[n + 1], nullptr, 0); };
        if (name == "--seed") options().seed = number();
        if (name == "--seeds") options().seeds = number();
        if (name == "--first") options().first = number();
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
    while (out.fault.empty() && out.histories < count) {
        out.seed = first + out.histories++;
        out.fault = run_history(out.seed);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

} // namespace paddock::test::sim
