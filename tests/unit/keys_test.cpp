// The node names of a lock family's keys, which are wire format. The digits of the long names were
// computed by another program: python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL,
// "a"*201).hex)'.

#include "rules/keys.hpp"
#include "rules/paths.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock::rules;
using namespace std::string_literals;

namespace {

struct vector {
    std::string key;
    std::string name;
};

std::string times(std::size_t n, const std::string& what) {
    std::string out;
    while (n-- > 0)
        out += what;
    return out;
}

/// The bytes that a name stands for.
std::string unescaped(const std::string& name) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '%') {
            out += name[i];
            continue;
        }
        const auto digits = name.substr(i + 1, 2);
        REQUIRE(digits.find_first_not_of("0123456789ABCDEF") == std::string::npos);
        REQUIRE(digits.size() == 2);
        out += static_cast<char>(std::stoi(digits, nullptr, 16));
        i += 2;
    }
    return out;
}

bool is_hashed(const std::string& name) {
    return name.size() > 150 && name[name.size() - 33] == '~' &&
           name.find_first_not_of("0123456789abcdef", name.size() - 32) == std::string::npos;
}

/// What is true of every key and its name.
void check(const std::string& key) {
    CAPTURE(key);
    const auto name = node_name_of_key(key);
    CAPTURE(name);
    CHECK(name_fault(name) == "");
    CHECK(name.size() <= longest_key_name);
    if (is_hashed(name)) {
        CHECK(name.size() <= 153);
        const auto beginning = name.substr(0, name.size() - 33);
        CHECK(beginning.size() <= 120);
        CHECK(beginning.size() >= 118);
        CHECK(key.starts_with(unescaped(beginning)));
        CHECK(utf8_fault(beginning) == "");
    } else {
        CHECK(unescaped(name) == key);
    }
    const auto read = key_of_node_name(name);
    REQUIRE(read);
    CHECK(read->complete == !is_hashed(name));
    CHECK((read->complete ? read->key == key : key.starts_with(read->key)));
}

/// Keys with many special bytes, and some that are alike.
std::string random_key(std::mt19937& random) {
    static const std::vector<std::string> parts{"a",
                                                "b",
                                                "/",
                                                "%",
                                                ".",
                                                "~",
                                                "%2F",
                                                "é",
                                                "\xc3",
                                                "\xa9",
                                                "€",
                                                "\xe2\x82",
                                                "𝄞",
                                                "\n",
                                                "\0"s,
                                                "\x7f",
                                                "\xc2\x85",
                                                "\xef\xbf\xbf",
                                                "\xed\xa0\x80",
                                                "\xc0\xaf",
                                                "\xff",
                                                "4711",
                                                "0123456789abcdef"};
    std::string key;
    const auto count = 1 + random() % (random() % 4 == 0 ? 300 : 6);
    for (std::size_t n = 0; n < count; ++n)
        key += parts[random() % parts.size()];
    return key;
}

} // namespace

TEST_CASE("the test vectors of lock_family.hpp") {
    for (const auto& row : std::initializer_list<vector>{
             {"4711", "4711"},
             {"EU/4711", "EU%2F4711"},
             {"100%", "100%25"},
             {"%2F", "%252F"},
             {".", "%2E"},
             {"..", "%2E."},
             {"...", "..."},
             {"a b~c", "a b~c"},
             {"Ärmel €", "Ärmel €"},
             {"line\n", "line%0A"},
             {"\x7f", "%7F"},
             {"\xc2\x85", "%C2%85"},
             {"\xc3(", "%C3("},
             {"\xed\xa0\x80", "%ED%A0%80"},
             {"\xef\xbf\xbd", "%EF%BF%BD"},
             {"𝄞", "%F0%9D%84%9E"},
             {"\0"s, "%00"},
             {times(200, "a"), times(200, "a")},
             {times(201, "a"), times(120, "a") + "~b67276414f455e01a1e926b4d86a5408"},
             {"aa" + times(80, "/"), "aa" + times(39, "%2F") + "~a1210ab8b39852b5b5ac037eff3a1d8c"},
             {"a" + times(70, "€"), "a" + times(39, "€") + "~6cbfb08b5f5055b180ba50718d63837d"},
             {times(120, "a") + "~b67276414f455e01a1e926b4d86a5408",
              times(120, "a") + "%7Eb67276414f455e01a1e926b4d86a5408"}}) {
        CAPTURE(row.key);
        CHECK(node_name_of_key(row.key) == row.name);
        check(row.key);
    }
}

TEST_CASE("a key has 1 to 4096 bytes") {
    CHECK(key_fault("") == "is empty");
    CHECK(key_fault("a") == "");
    CHECK(key_fault("\0"s) == "");
    CHECK(key_fault(std::string(4096, 'a')) == "");
    CHECK(key_fault(std::string(4097, 'a')) == "is longer than 4096 bytes");
}

TEST_CASE("each byte alone, and in a word") {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string key(1, static_cast<char>(byte));
        check(key);
        check("a" + key + "b");
        const bool stands = byte > 0x1f && byte < 0x7f && byte != '/' && byte != '%';
        CHECK((node_name_of_key("a" + key + "b").size() == 3) == stands);
    }
}

TEST_CASE("a character stands for itself exactly if it can stand in a name") {
    for (std::uint32_t code = 0x80; code <= 0xffff; ++code) {
        std::string key;
        if (code < 0x800) {
            key += static_cast<char>(0xc0 | code >> 6);
        } else {
            key += static_cast<char>(0xe0 | code >> 12);
            key += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        }
        key += static_cast<char>(0x80 | (code & 0x3f));
        const auto name = node_name_of_key(key);
        const bool stands = name_fault(key).empty();
        if ((name == key) != stands || unescaped(name) != key || !name_fault(name).empty())
            FAIL("character " << code << " has the name " << name);
        const bool refused = code < 0xa0 || (code >= 0xd800 && code < 0xf900) || code >= 0xfff0;
        if (stands == refused) FAIL("character " << code);
    }
}

TEST_CASE("what is not UTF-8 is escaped byte by byte, and what follows stands") {
    for (const std::string bad :
         {"\x80", "\xbf", "\xc0\x80", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xe2\x82", "\xe0\x80\x80",
          "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x9d\x84", "\xf0\x80\x80\x80",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfe", "\xff"}) {
        CHECK(node_name_of_key(bad).size() == 3 * bad.size());
        CHECK(node_name_of_key(bad + "(é").substr(3 * bad.size()) == "(é");
        check("x" + bad);
        check("x" + bad + "€");
    }
}

TEST_CASE("a name of 200 bytes stands, a longer one is cut between escapes and characters") {
    for (const std::string unit : {"a", "/", "é", "€", "\xff", "𝄞"})
        for (const std::string before : {"", "a", "aa", "aaa"})
            for (std::size_t n = 1; n <= 210; ++n) {
                const auto key = before + times(n, unit);
                check(key);
                const auto escaped = node_name_of_key(unit).size() * n + before.size();
                CHECK(is_hashed(node_name_of_key(key)) == (escaped > 200));
            }
    check(std::string(4096, 'a'));
    check(std::string(4096, '\0'));
    check(std::string(4096, '\xff'));
}

TEST_CASE("a short key never has the name of a long one") {
    for (const std::string unit : {"a", "€", "é"})
        for (std::size_t n = 201; n < 204; ++n) {
            const auto name = node_name_of_key(times(n, unit));
            REQUIRE(is_hashed(name));
            check(name);
            CHECK(node_name_of_key(name) != name);
            CHECK_FALSE(is_hashed(node_name_of_key(name)));
        }
    // Only what looks like the name of a long key has its `~` escaped.
    const auto digits = times(32, "0");
    for (const std::size_t n : {0, 1, 117, 121, 167})
        CHECK(node_name_of_key(times(n, "a") + '~' + digits) == times(n, "a") + '~' + digits);
    for (const std::size_t n : {118, 119, 120}) {
        const auto a = times(n, "a");
        CHECK(node_name_of_key(a + '~' + digits) == a + "%7E" + digits);
        CHECK(node_name_of_key(a + "%7E" + digits) == a + "%257E" + digits);
        CHECK(node_name_of_key(a + '~' + times(31, "0") + 'A') == a + '~' + times(31, "0") + 'A');
        CHECK(node_name_of_key(a + '-' + digits) == a + '-' + digits);
    }
}

TEST_CASE("random keys have names that differ and that ZooKeeper accepts") {
    std::mt19937 random(4711);
    std::map<std::string, std::string> keys; // by name
    for (int n = 0; n < 20'000; ++n) {
        const auto key = random_key(random);
        check(key);
        const auto name = node_name_of_key(key);
        CHECK_MESSAGE(keys.emplace(name, key).first->second == key, name);
    }
    CHECK(keys.size() > 10'000);
}

TEST_CASE("a name that no key has is no key's") {
    for (const std::string name : {"", "%", "%2", "%2f", "%zz", "a%", "a%4", "%61", "a/b", ".",
                                   "..", "%2E%2E", "\x01", "\xff", "\xf0\x9d\x84\x9e"})
        CHECK_MESSAGE(!key_of_node_name(name), name);
    CHECK_FALSE(key_of_node_name(times(201, "a"))); // it would have a hash
    CHECK_FALSE(key_of_node_name(times(119, "a") + '%' + '~' + times(32, "0")));
    CHECK_FALSE(key_of_node_name(times(117, "a") + "%7E" + times(32, "0"))); // a shorter one stays
}

TEST_CASE("the name of a long key tells its beginning") {
    const auto read = key_of_node_name(node_name_of_key("EU/" + times(300, "a")));
    REQUIRE(read);
    CHECK_FALSE(read->complete);
    CHECK(read->key == "EU/" + times(115, "a")); // the `/` takes three of its 120 bytes
}
