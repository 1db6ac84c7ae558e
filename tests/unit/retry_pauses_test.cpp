// The pauses of a client's locks before they ask again.

#include "session/retry_pauses.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace paddock;
using namespace std::chrono_literals;

TEST_CASE("a lock that pauses alone asks again after a quarter of a second") {
    detail::retry_pauses all;
    const detail::retry_pauses::one mine(all);
    CHECK(all.length() == 250ms);
}

TEST_CASE("thousands of locks that pause together ask ten thousand times a second at most") {
    detail::retry_pauses all;
    std::vector<detail::retry_pauses::one> others;
    for (int n = 0; n < 2500; ++n)
        others.emplace_back(all);
    CHECK(all.length() == 250ms);
    for (int n = 0; n < 3500; ++n)
        others.emplace_back(all);
    CHECK(all.length() == 600ms);
    others.erase(others.begin() + 1000, others.end());
    CHECK(all.length() == 250ms);
}

TEST_CASE("a pause that is moved or replaced counts once") {
    detail::retry_pauses all;
    std::vector<detail::retry_pauses::one> many;
    for (int n = 0; n < 10'000; ++n)
        many.emplace_back(all);
    std::optional<detail::retry_pauses::one> mine;
    for (int n = 0; n < 5; ++n)
        mine.emplace(all);
    auto other = std::move(*mine);
    CHECK(all.length() == 10'001 * 100us);
}
