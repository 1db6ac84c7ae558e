// Random histories of several clients with simple locks at one path, strangers who take it without
// a marker, an ensemble with a server that is behind, a bad network and administrators, careless
// ones among them. At every grant and every delete it is checked that nobody's node is taken for
// another's; at the end, that everybody was served and nothing is left.

#include "unit/model_runner.hpp"
#include "unit/model_simple_history.hpp"

#include <doctest/doctest.h>

using namespace paddock::test::model;

TEST_CASE(
    "in every history the lock is its holder's, no stranger's node is deleted, none is left") {
    run_histories<simple_history>();
}
