// What happens when the library finds a fault in itself.

#include "support/invariant.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock;

namespace {
std::string told;

/// Replaces what would abort the process.
struct listener {
    listener() {
        told.clear();
        detail::on_broken_invariant = [](const char* what) noexcept { told = what; };
    }
    ~listener() { detail::on_broken_invariant = before; }
    void (*before)(const char*) noexcept = detail::on_broken_invariant;
};
} // namespace

TEST_CASE("a broken invariant is told by its words, and one that holds is not") {
    const listener here;
    detail::invariant("two is two", [] { return true; });
    CHECK(told.empty());
    detail::invariant("two is three", [] { return false; });
    CHECK(told == (detail::checks_invariants ? "two is three" : ""));
}
