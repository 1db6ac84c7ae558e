// The data of a contender's node, and of nodes that other programs wrote.

#include "client/metadata.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <unistd.h>

using namespace paddock;
using namespace std::chrono_literals;
using clock_type = std::chrono::system_clock;

namespace {

constexpr clock_type::time_point a_moment{std::chrono::milliseconds(1'700'000'000'123)};

const detail::process_name this_process{"build7", 4711};

contender read(std::string_view data) {
    contender out;
    detail::read_metadata(data, out);
    return out;
}

bool untouched(const contender& c) {
    return c.host.empty() && c.label.empty() && c.pid == 0 && c.since == clock_type::time_point{};
}

} // namespace

TEST_CASE("metadata that was written is read back") {
    const auto data = detail::metadata(this_process, "nightly job").at(a_moment);
    const auto writer = read(data);
    CHECK(writer.label == "nightly job");
    CHECK(writer.pid == 4711);
    CHECK(writer.since == a_moment);
    CHECK(writer.host == "build7");
}

TEST_CASE("a process has its number, and the name of its machine") {
    CHECK(detail::this_process().pid == ::getpid());
    CHECK_FALSE(detail::this_process().host.empty());
}

TEST_CASE("metadata tells whether a node is sticky") {
    CHECK(detail::says_sticky(detail::metadata(this_process, "a", true).at(a_moment)));
    CHECK(read(detail::metadata(this_process, "a", true).at(a_moment)).label == "a");
    CHECK(read(detail::metadata(this_process, "a", true).at(a_moment)).since == a_moment);
    CHECK_FALSE(detail::says_sticky(detail::metadata(this_process, "a").at(a_moment)));
    for (const std::string_view other : {"", "sticky", "{", "{\"sticky\":1}", "[true]"})
        CHECK_FALSE(detail::says_sticky(other));
}

TEST_CASE("the time is written as ISO 8601 in UTC") {
    CHECK(detail::metadata(this_process, "")
              .at(a_moment)
              .find("\"time\":\"2023-11-14T22:13:20.123Z\"") != std::string::npos);
}

TEST_CASE("every time is read back, in whole milliseconds") {
    for (const auto since : {clock_type::time_point{}, a_moment, a_moment + 877ms,
                             clock_type::time_point{9'000'000'000s}}) {
        CAPTURE(since.time_since_epoch().count());
        CHECK(read(detail::metadata(this_process, "").at(since)).since == since);
    }
}

TEST_CASE("any label survives") {
    for (const std::string_view label :
         {"", "\"", "\\", "{\"pid\":1}", "line\nbreak\t\x01", "ä€𝄞", "},"}) {
        CAPTURE(label);
        const auto writer = read(detail::metadata(this_process, label).at(a_moment));
        CHECK(writer.label == label);
        CHECK(writer.pid == 4711);
        CHECK(writer.since == a_moment);
    }
}

TEST_CASE("the time of a request to release is one more member") {
    const detail::metadata data(this_process, "\"a\"\n");
    const auto asked = a_moment + 5s;
    const auto read_back = read(data.at(a_moment, {}, asked));
    CHECK(read_back.revoke_requested == asked);
    CHECK(read_back.label == "\"a\"\n");
    CHECK(read_back.since == a_moment);
    CHECK(read(data.at(a_moment)).revoke_requested == clock_type::time_point{});
    CHECK(data.at(a_moment).find("revoke_requested") == std::string::npos);
    const auto simple = data.at(a_moment, "an-id", asked);
    CHECK(simple.find("\"id\":\"an-id\"") != std::string::npos);
    CHECK(read(simple).revoke_requested == asked);
    const auto leader = detail::metadata::verbatim("an id");
    CHECK(leader.at(a_moment, {}, asked) == "an id");
}

TEST_CASE("a node that a request has overwritten shows the request, and its time") {
    node_stat stat;
    stat.ephemeral_owner = 7;
    stat.mtime = 1'700'000'000'123;
    contender out;
    detail::read_node("__REVOKE__", stat, out);
    CHECK(out.revoke_requested == a_moment);
    CHECK(out.data == "__REVOKE__");
    CHECK(out.session == 7);
    CHECK(untouched(out));
    out = {};
    detail::read_node(detail::metadata(this_process, "job").at(a_moment), stat, out);
    CHECK(out.label == "job");
    CHECK(out.revoke_requested == clock_type::time_point{});
}

TEST_CASE("unknown data in a node is ignored") {
    for (const std::string_view data :
         {"", "192.168.0.7", "__REVOKE__", "null", "42", "\"text\"", "[1,2]", "{", "{}",
          "{\"pid\":", "\x80\xff", "{\"host\":\"\xff\"}", "{\"other\":1}"}) {
        CAPTURE(data);
        CHECK(untouched(read(data)));
    }
    CHECK(untouched(read(std::string_view("\0\0\0\0", 4))));
}

TEST_CASE("members of other types are ignored") {
    const auto writer = read(R"({"host":1,"pid":"7","label":["x"],"time":0})");
    CHECK(untouched(writer));
    CHECK(read(R"({"pid":1.5})").pid == 0);
    CHECK(read(R"({"pid":99999999999999999999})").pid == 0);
    CHECK(read(R"({"pid":-3})").pid == -3);
}

TEST_CASE("an invalid time is read as 1970") {
    for (const std::string_view time :
         {"", "yesterday", "2023-11-14", "2023-11-14 22:13:20", "0000-00-00T00:00:00.000Z",
          "9999-12-31T23:59:59.999Z", "-999-99-99T99:99:99.999Z", "1969-12-31T23:59:59.999Z"}) {
        CAPTURE(time);
        CHECK(read("{\"time\":\"" + std::string(time) + "\"}").since == clock_type::time_point{});
    }
}

TEST_CASE("deep or large data of other programs does no harm") {
    CHECK(untouched(read(std::string(1 << 20, '['))));
    CHECK(untouched(read(std::string(1 << 20, '\0'))));
    const std::string big(1 << 20, 'x');
    CHECK(read("{\"label\":\"" + big + "\"}").label == big);
    std::string deep;
    for (int n = 0; n < 10'000; ++n)
        deep += "{\"a\":";
    CHECK(untouched(read(deep)));
}
