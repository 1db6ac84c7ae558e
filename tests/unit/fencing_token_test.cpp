// The order of fencing tokens, their text, and the token of a node.

#include "rules/names.hpp"

#include <paddock/fencing_token.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

using namespace paddock;

namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

const std::vector<fencing_token> ascending{{0, 0},
                                           {0, 1},
                                           {1, 0},
                                           {1, 1},
                                           {1, std::uint64_t{7} << 32},
                                           {1, (std::uint64_t{7} << 32) + 1},
                                           {0x1'0000'0000, 0},
                                           {largest, 0},
                                           {largest, std::numeric_limits<std::uint64_t>::max()}};

} // namespace

TEST_CASE("tokens are ordered by zxid, then by sub, and their texts sort as they do") {
    CHECK(std::is_sorted(ascending.begin(), ascending.end()));
    std::vector<std::string> texts;
    for (const auto& one : ascending)
        texts.push_back(to_string(one));
    CHECK(std::is_sorted(texts.begin(), texts.end()));
    CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
}

TEST_CASE("the text of a token is 32 lower-case hexadecimal digits, and reads back") {
    CHECK(to_string({}) == std::string(32, '0'));
    CHECK(to_string({0xABC, (std::uint64_t{2} << 32) + 3}) == "0000000000000abc0000000200000003");
    for (const auto& one : ascending)
        CHECK(parse_fencing_token(to_string(one)) == one);
}

TEST_CASE("other texts are no tokens") {
    const std::string good = to_string({1, 2});
    for (const auto& bad :
         {std::string(), good.substr(1), good + '0', ' ' + good.substr(1), '+' + good.substr(1),
          '-' + good.substr(1), 'A' + good.substr(1), 'g' + good.substr(1), '8' + good.substr(1),
          good.substr(0, 16) + 'x' + good.substr(17)})
        CHECK_FALSE(parse_fencing_token(bad));
}

TEST_CASE("a node's token has its czxid and its sequence number; a shared contender has none") {
    const rules::naming names = rules::naming::of_shared_mutex();
    CHECK(names.token("_c_01234567-89ab-cdef-0123-456789abcdef-__WRIT__0000000009", 5) ==
          fencing_token{5, std::uint64_t{9} << 32});
    CHECK(names.token("_c_01234567-89ab-cdef-0123-456789abcdef-__READ__0000000009", 5) ==
          fencing_token{});
    CHECK(names.token("something else", 5) == fencing_token{});
}

TEST_CASE("a stream gets the text of a token") {
    std::ostringstream out;
    out << fencing_token{0x2a, 7};
    CHECK(out.str() == to_string(fencing_token{0x2a, 7}));
}
