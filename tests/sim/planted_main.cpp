// Runs histories of a library with a planted bug. Succeeds when one of them breaks a promise.
#include "sim/runner.hpp"

#include <iostream>

int main(int count, char** arguments) {
    using namespace paddock::test::sim;
    if (read_options(count, arguments).seed) return tell(*options().seed);
    const auto enough = options().seeds.value_or(100'000);
    const auto found = search(options().first, enough);
    if (found.fault.empty()) {
        std::cout << "not caught by " << enough << " histories\n";
        return 1;
    }
    std::cout << "caught by seed " << found.seed << ": " << found.fault << '\n';
    return 0;
}
