// Random histories of several clients that acquire permits of one semaphore, of foreign processes
// that do the same, an ensemble with a server that is behind, a bad network, a careless
// administrator, and a number of permits that may change. At every grant it is checked that no more
// leases are granted than there are permits; at the end, that everybody was served and nothing is
// left.

#include "unit/model_lease_history.hpp"
#include "unit/model_runner.hpp"

#include <doctest/doctest.h>

using namespace paddock::test::model;

TEST_CASE("in every history there are enough permits for all leases, and nothing is left") {
    run_histories<lease_history>();
}
