// What a set of rules knows of its session, and waits for there.

#include "rules/session_state.hpp"

#include <doctest/doctest.h>

#include <variant>
#include <vector>

using namespace paddock;
using rules::outcome;
using rules::session_state;
namespace act = rules::common_act;

namespace {

using actions = std::vector<std::variant<act::pause, act::make_parents, act::await_lease>>;

session_state connected() {
    session_state s;
    s.connect();
    return s;
}

} // namespace

TEST_CASE("a pause is asked for once, until it has ended") {
    auto s = connected();
    actions asked;
    s.need_pause(asked);
    s.need_pause(asked);
    CHECK(asked.size() == 1);
    CHECK(std::holds_alternative<act::pause>(asked[0]));
    CHECK(s.pausing());
    CHECK(s.end_pause());
    CHECK_FALSE(s.end_pause());
    s.need_pause(asked);
    CHECK(asked.size() == 2);
}

TEST_CASE("parents are asked for once, until they are made, or the connection is another one") {
    auto s = connected();
    actions asked;
    s.need_parents(asked);
    s.need_parents(asked, false);
    REQUIRE(asked.size() == 1);
    CHECK(std::get<act::make_parents>(asked[0]).directory);
    CHECK(s.making_parents());
    s.parents_made();
    CHECK_FALSE(s.making_parents());
    s.need_parents(asked, false);
    REQUIRE(asked.size() == 2);
    CHECK_FALSE(std::get<act::make_parents>(asked[1]).directory);
    s.disconnect();
    CHECK(s.making_parents()); // their answer is still to come
    s.connect();
    CHECK_FALSE(s.making_parents());
}

TEST_CASE("a grant waits for a lease that is long enough, which is asked for once") {
    auto s = connected();
    actions asked;
    CHECK_FALSE(s.must_await_lease(asked));
    CHECK(asked.empty());
    s.lease(false);
    CHECK(s.must_await_lease(asked));
    CHECK(s.must_await_lease(asked));
    CHECK(asked.size() == 1);
    s.lease(true);
    s.lease_renewed();
    CHECK_FALSE(s.must_await_lease(asked));
    s.lease(false);
    CHECK(s.must_await_lease(asked));
    CHECK(asked.size() == 2);
}

TEST_CASE("when a session has expired, nothing is waited for, and the time goes on") {
    auto s = connected();
    actions asked;
    s.now(boot_clock::time_point(std::chrono::seconds(7)));
    s.lease(false);
    s.need_pause(asked);
    s.need_parents(asked);
    CHECK(s.must_await_lease(asked));
    s.expire();
    CHECK_FALSE(s.is_connected());
    CHECK_FALSE(s.pausing());
    CHECK_FALSE(s.making_parents());
    CHECK(s.now() == boot_clock::time_point(std::chrono::seconds(7)));
    s.need_pause(asked);
    s.need_parents(asked);
    CHECK(s.must_await_lease(asked));
    CHECK(asked.size() == 6);
}

TEST_CASE("a request that was not sent is repeated later if the next connection is there already") {
    auto s = connected();
    CHECK(s.unless_late(outcome::not_sent) == outcome::later);
    CHECK(s.unless_late(outcome::lost) == outcome::lost);
    s.disconnect();
    CHECK(s.unless_late(outcome::not_sent) == outcome::not_sent);
}
