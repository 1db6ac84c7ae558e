// What is sent to a Redis server, and what it answers, byte by byte.

#include "redis/rules/resp.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock::redis::rules;

namespace {

using kind = reply::kind;

reply text(std::string value) { return {kind::text, std::move(value), 0, {}}; }

/// All replies in these bytes, fed in pieces of this size.
std::vector<reply> replies_in(std::string_view bytes, std::size_t piece, std::string* fault = {}) {
    reply_reader reader;
    std::vector<reply> all;
    for (std::size_t n = 0; n < bytes.size(); n += piece) {
        reader.feed(bytes.substr(n, piece));
        while (auto one = reader.next())
            all.push_back(std::move(*one));
    }
    if (fault) *fault = reader.fault();
    return all;
}

std::string fault_of(std::string_view bytes) {
    std::string fault;
    CHECK(replies_in(bytes, bytes.size(), &fault).empty());
    return fault;
}

} // namespace

TEST_CASE("a command is a list of strings, which may have any bytes") {
    std::string out;
    append_command(out, {"GET", ""});
    append_command(out, std::vector<std::string>{"SET", "a\r\nb", std::string(1, '\0')});
    const std::string zero(1, '\0');
    CHECK(out ==
          "*2\r\n$3\r\nGET\r\n$0\r\n\r\n*3\r\n$3\r\nSET\r\n$4\r\na\r\nb\r\n$1\r\n" + zero + "\r\n");
}

TEST_CASE("replies of every type, however they are divided") {
    const std::string bytes = "+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*0\r\n"
                              "*3\r\n$1\r\nx\r\n*2\r\n:1\r\n$-1\r\n+y\r\n";
    const std::vector<reply> expected{{kind::status, "OK", 0, {}},
                                      {kind::error, "ERR no", 0, {}},
                                      {kind::number, "", -7, {}},
                                      text("a\r\n"),
                                      {},
                                      {},
                                      {kind::list, "", 0, {}},
                                      {kind::list,
                                       "",
                                       0,
                                       {text("x"),
                                        {kind::list, "", 0, {{kind::number, "", 1, {}}, {}}},
                                        {kind::status, "y", 0, {}}}}};
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
        std::string fault;
        CHECK(replies_in(bytes, piece, &fault) == expected);
        CHECK(fault == "");
    }
}

TEST_CASE("what no reply can be is a fault, before it needs memory") {
    CHECK(fault_of("?\r\n") == "a reply that begins with a byte that is no type of RESP2");
    CHECK(fault_of("HTTP/1.1 400\r\n").find("no type") != std::string::npos);
    CHECK(fault_of("*1000000000\r\n") == "a reply that has a list of an impossible size");
    CHECK(fault_of("*-2\r\n") == "a reply that has a list of an impossible size");
    CHECK(fault_of("$193000000\r\n") == "a reply that has a string of an impossible size");
    CHECK(fault_of("$-2\r\n") == "a reply that has a string of an impossible size");
    CHECK(fault_of("$1\r\nabc") ==
          "a reply that has a string that does not end where its size says");
    CHECK(fault_of(":x\r\n") == "a reply that has text where a number belongs");
    CHECK(fault_of(":1 \r\n") == "a reply that has text where a number belongs");
    CHECK(fault_of("$\r\n") == "a reply that has text where a number belongs");
    CHECK(fault_of(":99999999999999999999\r\n") == "a reply that has text where a number belongs");
    CHECK(fault_of("*1\r\n*1\r\n*1\r\n:1\r\n") == "a reply that has lists in lists of lists");
    CHECK(fault_of("+" + std::string(reply_reader::max_bytes, 'x')) ==
          "a reply that is larger than 64 KiB");
    std::string items = "*64\r\n";
    for (int n = 0; n < 64; ++n)
        items += "$2000\r\n" + std::string(2000, 'x') + "\r\n";
    CHECK(fault_of(items) == "a reply that is larger than 64 KiB");
}

TEST_CASE("the largest reply is read, and nothing after a fault") {
    const std::string largest(reply_reader::max_bytes - 10, 'x');
    const auto bytes = "$" + std::to_string(largest.size()) + "\r\n" + largest + "\r\n";
    REQUIRE(bytes.size() == reply_reader::max_bytes);
    CHECK(replies_in(bytes, 1000) == std::vector{text(largest)});
    reply_reader reader;
    reader.feed("+a\r\n?\r\n+b\r\n");
    CHECK(reader.next().has_value());
    CHECK_FALSE(reader.next().has_value());
    CHECK_FALSE(reader.fault().empty());
    reader.feed("+c\r\n");
    CHECK_FALSE(reader.next().has_value());
}

TEST_CASE("many replies in one piece are read in their order") {
    std::string bytes;
    for (int n = 0; n < 100'000; ++n)
        bytes += ":" + std::to_string(n) + "\r\n";
    const auto all = replies_in(bytes, bytes.size());
    REQUIRE(all.size() == 100'000);
    CHECK(all[99'999].number == 99'999);
}
