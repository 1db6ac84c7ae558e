// The pauses of a client's locks before they ask again.

#include "session/retry_pauses.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

using namespace paddock;
using namespace std::chrono_literals;

namespace {

constexpr boot_clock::time_point now{1h + 7ms};

/// How long a pause lasts that begins now.
boot_clock::duration length(const detail::retry_pauses& all) { return all.end(now) - now; }

} // namespace

TEST_CASE("a lock that pauses alone asks again after a quarter of a second") {
    detail::retry_pauses all;
    const detail::retry_pauses::one mine(all);
    CHECK(length(all) == 250ms);
}

TEST_CASE("thousands of locks that pause together ask ten thousand times a second at most") {
    detail::retry_pauses all;
    std::vector<detail::retry_pauses::one> others;
    for (int n = 0; n < 2499; ++n)
        others.emplace_back(all);
    CHECK(length(all) == 250ms);
    for (int n = 0; n < 3501; ++n)
        others.emplace_back(all);
    CHECK(length(all) >= 600ms);
    CHECK(length(all) <= 625ms);
    others.erase(others.begin() + 1000, others.end());
    CHECK(length(all) == 250ms);
}

TEST_CASE("the pauses of thousands of locks end together, forty times a second") {
    detail::retry_pauses all;
    std::vector<detail::retry_pauses::one> others;
    for (int n = 0; n < 3000; ++n)
        others.emplace_back(all);
    std::set<boot_clock::time_point> ends;
    for (auto begin = now; begin < now + 1s; begin += 1ms)
        ends.insert(all.end(begin));
    CHECK(ends.size() <= 41);
}

TEST_CASE("a pause that is moved or replaced counts once") {
    detail::retry_pauses all;
    std::vector<detail::retry_pauses::one> many;
    for (int n = 0; n < 2497; ++n)
        many.emplace_back(all);
    std::optional<detail::retry_pauses::one> mine;
    for (int n = 0; n < 5; ++n)
        mine.emplace(all);
    auto other = std::move(*mine);
    CHECK(length(all) == 250ms);
    const detail::retry_pauses::one last(all), over(all);
    CHECK(length(all) == 268ms);
}
