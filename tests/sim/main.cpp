// doctest's main function, with two options more: --seed N tells the story of one history, and
// --seeds N runs so many instead of as many as a normal run has.
#define DOCTEST_CONFIG_IMPLEMENT
#include "sim/runner.hpp"

#include <doctest/doctest.h>

int main(int count, char** arguments) {
    using namespace paddock::test::sim;
    if (read(count, arguments).seed) return tell(*asked().seed);
    return doctest::Context(count, arguments).run();
}
