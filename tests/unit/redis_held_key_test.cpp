// The hold of a lock on Redis, as its servers show it.

#include "redis/rules/held_key.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace paddock::redis::rules;
using namespace std::chrono_literals;
using kind = answer::kind;
using answers = std::vector<std::optional<answer>>;

namespace {

std::optional<answer> said(kind what) {
    answer out;
    out.what = what;
    return out;
}

std::optional<answer> held(const std::string& value, std::chrono::milliseconds left) {
    answer out;
    out.what = kind::held;
    out.holder = value;
    out.left = left;
    return out;
}

const auto nothing = std::optional<answer>();
const auto a = lock_value(10s, "0a"), b = lock_value(10s, "0b");

} // namespace

TEST_CASE("the hold is the one that a quorum has, and lasts while a quorum has it") {
    const auto one = hold_in({held(a, 5s)});
    REQUIRE(one);
    CHECK(one->value == a);
    CHECK(one->left == 5s);
    CHECK(one->servers == 1);
    CHECK_FALSE(one->kicked);
    CHECK_FALSE(hold_in({said(kind::free)}));

    const auto of_three = hold_in({held(a, 3s), held(b, 9s), held(a, 7s)});
    REQUIRE(of_three);
    CHECK(of_three->value == a);
    CHECK(of_three->left == 3s);
    CHECK(of_three->servers == 2);
    CHECK(hold_in({held(a, 3s), held(a, 5s), held(a, 7s)})->left == 5s);
    CHECK(hold_in({held(a, -1ms), held(a, 7s), held(a, -1ms)})->left ==
          std::chrono::milliseconds::max());
}

TEST_CASE("what fewer servers have is a hold only if those that are silent may have it") {
    CHECK_FALSE(hold_in({held(a, 3s), said(kind::free), said(kind::free)}));
    CHECK_FALSE(hold_in({held(a, 3s), held(b, 3s), said(kind::free)}));
    const auto perhaps = hold_in({held(a, 3s), nothing, said(kind::free)});
    REQUIRE(perhaps);
    CHECK(perhaps->servers == 1);
    CHECK(perhaps->left == 3s);
    CHECK(hold_in({held(a, 3s), said(kind::refused), said(kind::free)}));
    CHECK_FALSE(hold_in({}));
}

TEST_CASE("a quorum of answers is needed to know") {
    CHECK(is_known({said(kind::free)}));
    CHECK_FALSE(is_known({nothing}));
    CHECK_FALSE(is_known({said(kind::refused)}));
    CHECK(is_known({held(a, 3s), nothing, said(kind::free)}));
    CHECK_FALSE(is_known({held(a, 3s), nothing, nothing}));
}

TEST_CASE("a kicked hold is known by its own value") {
    const auto mark = std::string(a).insert(a.find("0a"), "kicked:");
    CHECK(without_kick(mark).value == a);
    CHECK(without_kick(mark).kicked);
    for (const auto& value : {a, std::string("pdk1:kicked:"), std::string("kicked:x"),
                              std::string("pdk1:"), std::string()}) {
        CAPTURE(value);
        CHECK(without_kick(value).value == value);
        CHECK_FALSE(without_kick(value).kicked);
    }
    const auto seen = hold_in({held(mark, 2s), held(a, 5s), nothing});
    REQUIRE(seen);
    CHECK(seen->value == a);
    CHECK(seen->servers == 2);
    CHECK(seen->kicked);
}

TEST_CASE("a hold has been kicked when the servers that are left are no quorum") {
    CHECK(kicked_by({said(kind::kicked)}) == kick_result::done);
    CHECK(kicked_by({said(kind::gone)}) == kick_result::gone);
    CHECK(kicked_by({nothing}) == kick_result::unknown);
    CHECK(kicked_by({said(kind::kicked), said(kind::kicked), nothing}) == kick_result::done);
    CHECK(kicked_by({said(kind::kicked), said(kind::gone), nothing}) == kick_result::unknown);
    CHECK(kicked_by({said(kind::kicked), said(kind::gone), said(kind::gone)}) == kick_result::gone);
    CHECK(kicked_by({said(kind::gone), said(kind::gone), nothing}) == kick_result::gone);
    CHECK(kicked_by({said(kind::kicked), said(kind::refused), said(kind::kicked)}) ==
          kick_result::done);
}

TEST_CASE("a description stands behind the random part of a value") {
    const auto value = lock_value(10s, "0a", "{\"label\":\"a:b\"}");
    CHECK(value == "pdk1:10000:0a:{\"label\":\"a:b\"}");
    CHECK(description_in(value) == "{\"label\":\"a:b\"}");
    CHECK(description_in(a).empty());
    CHECK(description_in("another:library's:value:of:colons").empty());
    CHECK(description_in("").empty());
}
