// doctest's main function, with the options of runner.hpp.
#define DOCTEST_CONFIG_IMPLEMENT
#include "sim/runner.hpp"
#include "support/run_cases.hpp"

int main(int count, char** arguments) {
    using namespace paddock::test::sim;
    if (read_options(count, arguments).seed) return tell(*options().seed);
    return paddock::test::run_cases(count, arguments);
}
