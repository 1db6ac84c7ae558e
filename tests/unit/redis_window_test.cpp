// How many attempts to get locks on Redis one client makes at one time, in virtual time.

#include "support/redis_stage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto most = redis::detail::core::most_attempts;

} // namespace

TEST_CASE_FIXTURE(redis_stage,
                  "so many attempts are under way; each that ends makes room for one") {
    const auto calls = ask_for_locks(most + 3);
    CHECK(attempts.size() == most);
    for (std::size_t n = 1; n <= 3; ++n) {
        grant();
        CHECK(held(calls[n - 1]).valid());
        REQUIRE(attempts.size() == most + n);
        CHECK(attempts.back() == std::to_string(most + n)); // in their order
    }
    for (std::size_t n = 0; n < most; ++n)
        grant();
    CHECK(attempts.size() == most + 3);
    CHECK(held(calls.back()).valid());
}

TEST_CASE_FIXTURE(redis_stage, "a call that leaves before its turn takes none") {
    const auto calls = ask_for_locks(most + 1);
    const auto brief = ask_for(lock(most + 2), 10ms);
    const auto last = ask(lock(most + 3));
    serve();
    calls.back()->cancel();
    serve();
    CHECK(calls.back()->error == asio::error::operation_aborted);
    env->advance(10ms);
    serve();
    CHECK(brief->done());
    CHECK_FALSE(brief->error); // the client is connected
    CHECK_FALSE(held(brief));
    grant();
    CHECK(attempts.size() == most + 1);
    CHECK(attempts.back() == std::to_string(most + 3));
}

TEST_CASE_FIXTURE(redis_stage, "a lock whose other calls leave keeps its turn") {
    ask_for_locks(most);
    const auto first = ask(lock(most + 1)), other = ask(lock(most + 2)),
               second = ask(lock(most + 1));
    serve();
    first->cancel();
    serve();
    grant();
    CHECK(attempts.back() == std::to_string(most + 1));
    CHECK_FALSE(other->done());
    CHECK_FALSE(second->done());
}

TEST_CASE_FIXTURE(redis_stage, "renewals and releases wait for no turn") {
    const auto a = ask(lock(0)), b = ask(lock(most + 9));
    serve();
    grant();
    grant();
    const auto calls = ask_for_locks(most + 1);
    held(a) = guard();
    serve();
    CHECK(releases == std::vector<std::string>{"0"});
    env->advance(ttl / 3);
    serve();
    CHECK(renewals == std::vector<std::string>{std::to_string(most + 9)});
    CHECK(attempts.size() == 2 + most);
}

TEST_CASE_FIXTURE(redis_stage, "an attempt that is given up makes room") {
    const auto calls = ask_for_locks(2 * most + 1);
    env->advance(ttl / 2); // all of them have had their time
    serve();
    CHECK(releases.size() == most);
    CHECK(attempts.size() == 2 * most);
}

TEST_CASE_FIXTURE(redis_stage, "a lock whose guard was lost takes one turn, not two") {
    const auto lost = ask(lock(0));
    serve();
    grant();
    env->advance(ttl / 3);
    serve();
    REQUIRE(renewals.size() == 1);
    deny();
    REQUIRE_FALSE(held(lost).valid());

    const auto brief = ask_for(lock(0), 10ms);
    serve();
    deny(); // it sleeps
    env->advance(10ms);
    serve();
    REQUIRE(brief->done());

    const auto others = ask_for_locks(most);
    const auto again = ask(lock(0)); // it waits for its turn
    serve();
    env->advance(1'500ms); // the sleep would be over
    serve();
    for (std::size_t n = 0; n <= most; ++n)
        grant();
    CHECK(held(again).valid());
    CHECK(inside->attempts().used() == 0);
    CHECK(std::count(attempts.begin(), attempts.end(), "0") == 3);
}

TEST_CASE_FIXTURE(redis_stage, "close() ends the calls that wait for their turn") {
    const auto calls = ask_for_locks(most + 1);
    inside->close(errc::closed);
    serve();
    for (const auto& one : calls)
        CHECK(one->error == errc::closed);
    CHECK(attempts.size() == most);
    CHECK(releases.size() == most);
}
