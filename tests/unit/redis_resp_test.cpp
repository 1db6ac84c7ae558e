// What is sent to a Redis server, and what it answers, byte by byte.

#include "redis/rules/resp.hpp"
#include "redis/rules/scripts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock::redis::rules;
using namespace std::chrono_literals;

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
    CHECK(fault_of("?\r\n") == "a reply that is not of the Redis protocol");
    CHECK(fault_of("HTTP/1.1 400\r\n").find("not of the Redis protocol") != std::string::npos);
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

// --- the replies of the scripts ---

namespace {

reply list_of(const std::vector<std::string>& items) {
    reply said;
    said.what = kind::list;
    for (const auto& one : items)
        said.items.push_back(text(one));
    return said;
}

answer answer_of(const std::vector<std::string>& items) { return read_answer(list_of(items)); }

} // namespace

TEST_CASE("the reply of a script is its word, the server's clock, and what belongs to the word") {
    const auto granted = answer_of({"granted", "17", "9007199254740992"});
    CHECK(granted.what == answer::kind::granted);
    CHECK(granted.clock.count() == 17);
    CHECK(granted.token == 9'007'199'254'740'992);
    const auto taken = answer_of({"taken", "17", "-1", "redis-py"});
    CHECK(taken.what == answer::kind::taken);
    CHECK(taken.left.count() == -1);
    CHECK(taken.holder == "redis-py");
    CHECK(answer_of({"young", "17", "5"}).left.count() == 5);
    CHECK(answer_of({"gone"}).what == answer::kind::gone);
}

TEST_CASE("a reply that no script gives is not believed") {
    const std::vector<std::vector<std::string>> all{
        {},
        {"GRANTED", "17", "1"},
        {"granted"},
        {"granted", "17"},
        {"granted", "17", ""},
        {"granted", "17", "0"},
        {"granted", "17", "-5"},
        {"granted", "17", "1x"},
        {"granted", "17", " 1"},
        {"granted", "17", "9007199254740993"},
        {"granted", "17", "99999999999999999999"},
        {"granted", "", "1"},
        {"granted", "-1", "1"},
        {"taken", "17"},
        {"taken", "17", "nil", "value"},
        {"taken", "17", "-3", "value"},
        {"young", "17"},
        {"young", "17", "-1"},
        {"renewed", "17"},
        {"renewed", "17", "-1"},
        {"set", "17"},
        {"replica"},
        {"mismatch", "soon", "60000", "3"},
    };
    for (const auto& items : all) {
        const auto said = answer_of(items);
        CHECK_MESSAGE(said.what == answer::kind::refused, items.size());
        CHECK(said.text == "an unexpected reply");
        CHECK(said.token == 0);
        CHECK(said.left.count() == 0);
    }
}

TEST_CASE("a marker that other options have made is a mismatch") {
    const deployment ours{60s, 3};
    const auto mismatch = [&](const std::vector<std::string>& items) {
        return mismatch_in(list_of(items), ours);
    };
    CHECK_FALSE(mismatch({"id", "60000", "3"}));
    const auto other = mismatch({"id", "61000", "3"});
    REQUIRE(other);
    CHECK(other->what == answer::kind::mismatch);
    CHECK(other->text == "max_ttl 61000 ms, servers 3");
    CHECK(mismatch({"id", "60000", "5"}));
    CHECK(mismatch({"id"})->text == "max_ttl ? ms, servers ?");
    CHECK(mismatch({"id", "6\n", std::string(60'000, '1')})->text == "max_ttl ? ms, servers ?");
    // The server is used for the first time, or does not say.
    CHECK_FALSE(mismatch({"", "", ""}));
    CHECK_FALSE(mismatch({}));
}

TEST_CASE("the longest time is one that a duration can have") {
    const std::chrono::nanoseconds left = answer_of({"taken", "17", "9007199254740992", "x"}).left;
    CHECK(left > std::chrono::hours(24 * 365));
}

namespace {

answer::kind kind_of(std::string_view text) {
    reply error;
    error.what = reply::kind::error;
    error.text = text;
    return read_answer(error).what;
}

} // namespace

TEST_CASE("an error is told from what it quotes") {
    using kind = answer::kind;
    CHECK(
        kind_of("WRONGTYPE the counter of fencing tokens is not a number: paddock:token:NOPERM") ==
        kind::spoilt);
    CHECK(kind_of("NOPERM this user has no permissions") == kind::denied);
    CHECK(kind_of("OOM command not allowed") == kind::refused);
}

TEST_CASE("the name of an error shows its meaning, and nothing that it quotes") {
    struct named {
        std::string_view text, name;
    };
    const std::string in_a_script = "ERR Error running script (call to f_0123): @user_script:54: ";
    const auto counter = in_a_script + "WRONGTYPE the counter of fencing tokens: NOPERM secret";
    const auto right = in_a_script + "The user executing the script can't run this command";
    for (const auto& one : std::initializer_list<named>{
             {"NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT"},
             {"NOAUTH Authentication required.", "NOAUTH"},
             {"BUSY Redis is busy running a script.", "BUSY"},
             {"ERR max number of clients reached", "ERR max number of clients"},
             {counter, "WRONGTYPE the counter"},
             {right, "The user executing the script can't"},
             {"ERR secret", "ERR"},
             {"SECRET", "ERR"},
             {"", "ERR"},
         }) {
        CAPTURE(one.text);
        CHECK(name_of_error(one.text) == one.name);
        CHECK(kind_of(one.name) == kind_of(one.text));
    }
}
