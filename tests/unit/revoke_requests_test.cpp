// A request to release, as a read of a contender's node shows it.

#include "rules/revoke_requests.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::rules;

TEST_CASE("only Curator's message is a request, with the version and the time of its write") {
    node_stat stat;
    stat.version = 3;
    stat.mtime = 1'700'000'000'123;
    stat.mzxid = 77;
    const auto seen = revoke_request_in("__REVOKE__", &stat);
    REQUIRE(seen);
    CHECK(seen->version == 3);
    CHECK(seen->time == 1'700'000'000'123);
    CHECK(seen->mzxid == 77);
    for (const auto* const other : {"", "__REVOKE__ ", "__revoke__", "{\"host\":\"__REVOKE__\"}"})
        CHECK_FALSE(revoke_request_in(other, &stat));
    CHECK_FALSE(revoke_request_in("__REVOKE__", nullptr)); // the node was not read
}

TEST_CASE("each request is new once, and the time of the first one stays") {
    revoke_requests all;
    CHECK_FALSE(all.any());
    CHECK(all.first() == 0);
    CHECK(all.saw({1, 500, 11}));
    CHECK(all.any());
    CHECK_FALSE(all.saw({1, 500, 11})); // read once more
    CHECK(all.saw({3, 900, 12}));
    CHECK(all.saw({1, 950, 13})); // of another node, after a downgrade
    CHECK(all.first() == 500);
}
