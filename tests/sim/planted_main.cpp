// Runs histories of a library with one of the planted bugs. Succeeds when one of them breaks a
// promise.
//
//   sim_planted BUG [--first N] [--seeds N] [--shortest] [--seed N] [--fault BEGINNING]
#include "sim/runner.hpp"
#include "support/planted.hpp"

#include <iostream>

int main(int count, char** arguments) {
    using namespace paddock::test::sim;
    if (count < 2) return 2;
    paddock::test::chosen_plant = arguments[1];
    if (read_options(count - 1, arguments + 1).seed) return tell(*options().seed);
    const auto enough = options().seeds.value_or(100'000);
    const auto found = search(options().first, enough);
    if (found.fault.empty()) {
        std::cout << "not caught by " << enough << " histories\n";
        return 1;
    }
    std::cout << "caught by seed " << found.seed << ": " << found.fault << '\n';
    return found.fault.starts_with(options().fault) ? 0 : 1;
}
