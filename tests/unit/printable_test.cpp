// Text of users, servers and other programs, as exceptions and the log show it.

#include "support/printable.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace std::string_literals;
using paddock::printable;

TEST_CASE("control characters are escaped, and all other text stays as it is") {
    CHECK(printable("") == "");
    CHECK(printable("/a b/ä€𝄞~\\") == "/a b/ä€𝄞~\\");
    CHECK(printable("a\0b"s) == "a\\x00b");
    CHECK(printable("\x1b[2J\r\n\x7f") == "\\x1b[2J\\x0d\\x0a\\x7f");
}

TEST_CASE("the control characters beyond ASCII are escaped, too") {
    CHECK(printable("a\xc2\x9b\x32J") == "a\\xc2\\x9b2J");
    CHECK(printable("\xc2\x80\xc2\x9f\xc2\xa0") == "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
    CHECK(printable("\xe2\x82\xac") == "\xe2\x82\xac");
}

TEST_CASE("what breaks, hides or turns the text around it is escaped") {
    CHECK(printable("a\u2028b") == "a\\xe2\\x80\\xa8b");
    CHECK(printable("\u202e\u200b\u2066") == "\\xe2\\x80\\xae\\xe2\\x80\\x8b\\xe2\\x81\\xa6");
    CHECK(printable("\u2027\u2030\u2065") == "\u2027\u2030\u2065");
}

TEST_CASE("bytes that are not UTF-8 are escaped, and the text behind them stays") {
    CHECK(printable("\xc2") == "\\xc2");
    CHECK(printable("a\xff\xfe b") == "a\\xff\\xfe b");
    CHECK(printable("\xe2\x82/x") == "\\xe2\\x82/x");
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");
}
