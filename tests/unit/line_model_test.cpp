// Random histories of several clients, foreign processes, an ensemble with a server that is behind,
// a bad network and a careless administrator. After each step it is checked that nobody is granted
// beside or before somebody else; at the end, that everybody was served and nothing is left.

#include "unit/model_history.hpp"
#include "unit/model_runner.hpp"

#include <doctest/doctest.h>

using namespace paddock::test::model;

TEST_CASE("in every history at most one holds, everybody is served in turn, and nothing is left") {
    run_histories<history>();
}
