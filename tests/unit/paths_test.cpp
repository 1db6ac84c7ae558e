// Which paths and names ZooKeeper accepts, and how they are put together.

#include "rules/paths.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock::rules;

TEST_CASE("a path that ZooKeeper accepts has no fault") {
    for (const auto* const path :
         {"/", "/a", "/a/b", "/a.b/..c/d..", "/...", "/a b", "/ä€", "/-", "/zookeeper"}) {
        CAPTURE(path);
        CHECK(path_fault(path) == "");
    }
}

TEST_CASE("a malformed path is described by its fault") {
    CHECK(path_fault("") == "is empty");
    CHECK(path_fault("a") == "does not start with '/'");
    CHECK(path_fault("/a/") == "ends with '/'");
    CHECK(path_fault("//") == "ends with '/'");
    CHECK(path_fault("/a//b") == "has an empty component");
    CHECK(path_fault("//a") == "has an empty component");
    for (const auto* const path : {"/.", "/..", "/./a", "/../a", "/a/.", "/a/..", "/a/../b"}) {
        CAPTURE(path);
        CHECK(path_fault(path) == "has a relative component");
    }
}

TEST_CASE("the check finds the characters that the server refuses, and their position") {
    CHECK(path_fault(std::string("/a\0b", 4)) ==
          "has a character that ZooKeeper refuses at byte 2");
    for (const auto* const bad :
         {"/\x01", "/\x1f", "/\x7f", "/\xc2\x80", "/\xc2\x9f", "/\xef\x80\x80", "/\xef\xa3\xbf",
          "/\xef\xbf\xb0", "/\xef\xbf\xbf"}) {
        CAPTURE(bad);
        CHECK(path_fault(bad) == "has a character that ZooKeeper refuses at byte 1");
    }
    for (const auto* const good :
         {"/\x20", "/\x7e", "/\xc2\xa0", "/\xef\xa4\x80", "/\xef\xbf\xaf"}) {
        CAPTURE(good);
        CHECK(path_fault(good) == "");
    }
}

TEST_CASE("characters beyond 16 bits are refused: the server sees two halves, which it refuses") {
    CHECK(path_fault("/𐀀") == "has a character that ZooKeeper refuses at byte 1");
    CHECK(path_fault("/a𝄞") == "has a character that ZooKeeper refuses at byte 2");
    CHECK(path_fault("/\xf4\x8f\xbf\xbf") == "has a character that ZooKeeper refuses at byte 1");
}

TEST_CASE("the check finds malformed UTF-8, and its position") {
    CHECK(utf8_fault("") == "");
    CHECK(utf8_fault("aä€𝄞") == "");
    CHECK(utf8_fault(std::string("\0", 1)) == "");
    for (const auto* const bad :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe2\x82", "\xe0\x80\x80",
          "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x9d\x84", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\xff"}) {
        CAPTURE(bad);
        CHECK(utf8_fault(std::string("ok") + bad) == "is not valid UTF-8 at byte 2");
        CHECK(path_fault(std::string("/o") + bad) == "is not valid UTF-8 at byte 2");
        CHECK(name_fault(std::string("ok") + bad) == "is not valid UTF-8 at byte 2");
    }
    CHECK(utf8_fault("\xf4\x8f\xbf\xbf") == ""); // U+10FFFF
}

TEST_CASE("a name is one component of a path") {
    CHECK(name_fault("lock") == "");
    CHECK(name_fault("...") == "");
    CHECK(name_fault("") == "is empty");
    CHECK(name_fault("a/b") == "contains a '/'");
    CHECK(name_fault(".") == "is relative");
    CHECK(name_fault("..") == "is relative");
    CHECK(name_fault("a\n") == "has a character that ZooKeeper refuses at byte 1");
}

TEST_CASE("parents and children of a path") {
    CHECK(parent("/a/b") == "/a");
    CHECK(parent("/a") == "/");
    CHECK(parent("/") == "/");
    CHECK(child("/a", "b") == "/a/b");
    CHECK(child("/", "b") == "/b");
    CHECK(name_of("/a/b") == "b");
    CHECK(name_of("/a") == "a");
    CHECK(name_of("b") == "b");
}

TEST_CASE("a root is prepended to a path, and removed again") {
    CHECK(below("", "/a") == "/a");
    CHECK(below("/app", "/a") == "/app/a");
    CHECK(below("/app", "/") == "/app");
    CHECK(below("", "/") == "/");
    for (const auto* const root : {"", "/app", "/app/x"})
        for (const auto* const path : {"/", "/a", "/a/b"}) {
            CAPTURE(root);
            CAPTURE(path);
            CHECK(without(root, below(root, path)) == path);
        }
}

TEST_CASE("a root is not below itself, nor is a path that only begins as it does") {
    CHECK(is_below("/app", "/app/a"));
    CHECK(is_below("/app", "/app/a/b"));
    CHECK_FALSE(is_below("/app", "/app"));
    CHECK_FALSE(is_below("/app", "/apple"));
    CHECK_FALSE(is_below("/app", "/"));
    CHECK_FALSE(is_below("/app/x", "/app"));
    CHECK(is_below("", "/a"));
    CHECK(is_below("", "/"));
}
