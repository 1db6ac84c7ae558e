// The URL of one Redis server, or of several.

#include "redis/rules/url.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock::redis::rules;

namespace {
using all = std::vector<server>;

all servers_of(const std::string& text) {
    const auto url = parse_url(text);
    CHECK(url.fault == "");
    return url.servers;
}

std::string fault_of(const std::string& text) { return parse_url(text).fault; }

bool begins(const std::string& text, const std::string& fault) {
    return fault_of(text).starts_with(fault + " (entry 1");
}
} // namespace

TEST_CASE("one server, with and without port, credentials and database") {
    CHECK(servers_of("redis://host") == all{{"host", 6379, "", "", 0}});
    CHECK(servers_of("redis://10.0.0.1:1/") == all{{"10.0.0.1", 1, "", "", 0}});
    CHECK(servers_of("redis://[::1]:7000/15") == all{{"::1", 7000, "", "", 15}});
    CHECK(servers_of("redis://user:secret@host:7000/2") ==
          all{{"host", 7000, "user", "secret", 2}});
    CHECK(servers_of("REDIS://host") == servers_of("redis://host"));
    CHECK(servers_of("redis://:secret@host") == all{{"host", 6379, "", "secret", 0}});
}

TEST_CASE("several servers: what the first one says is true for those that do not say it") {
    CHECK(servers_of("redis://u:p@a:1/3,b,redis://v:q@c/4") ==
          all{{"a", 1, "u", "p", 3}, {"b", 6379, "u", "p", 3}, {"c", 6379, "v", "q", 4}});
    CHECK(servers_of("redis://a,u:p@b,c") ==
          all{{"a", 6379, "", "", 0}, {"b", 6379, "u", "p", 0}, {"c", 6379, "", "", 0}});
    CHECK(servers_of("redis://h:1,h:2,h:3").size() == 3);
}

TEST_CASE("rediss:// stands for TLS, for its server, or as the first one for all") {
    const auto with_tls = [](const std::string& text) {
        std::string each;
        for (const auto& one : servers_of(text))
            each += one.tls ? 't' : 'p';
        return each;
    };
    CHECK(with_tls("redis://a,b,c") == "ppp");
    CHECK(with_tls("rediss://a,b,c") == "ttt");
    CHECK(with_tls("rediss://a,redis://b,c") == "tpt");
    CHECK(with_tls("redis://a,b,RedisS://u:p@c") == "ppt");
    CHECK(with_tls("REDISS://[::1]:7000/15") == "t");
    CHECK(servers_of("rediss://u:p@h:1/2")[0] == server{"h", 1, "u", "p", 2, true});
}

TEST_CASE("spaces around entries, and a comma at the end, are as people write them") {
    const all three{{"a", 1, "u", "p", 3}, {"b", 6379, "u", "p", 3}, {"c", 6379, "u", "p", 3}};
    for (const auto* const text :
         {"redis://u:p@a:1/3,b,c", " redis://u:p@a:1/3 , b,\tc\n", "redis://u:p@a:1/3,b,c,",
          "redis://u:p@a:1/3, redis://b, redis://c/ , "}) {
        CAPTURE(text);
        CHECK(servers_of(text) == three);
    }
}

TEST_CASE("a fault says in which entry it is, and what should stand there") {
    CHECK(fault_of("redis://a,b:x,c") ==
          "has the port 'x', which is not a number from 1 to 65535 (entry 2: 'b:x'; expected: "
          "host[:port][/database], with a ',' between two)");
    CHECK(fault_of("redis://u:p@a,b:x,c") ==
          "has the port 'x', which is not a number from 1 to 65535 (entry 2)");
    CHECK(fault_of("redis://a b,c,d").find("(entry 1: 'redis://a b'; ") != std::string::npos);
}

TEST_CASE("any byte can be in a password") {
    CHECK(servers_of("redis://%75:a%2Cb%40%2f%00@h")[0].password ==
          std::string("a,b@/") + std::string(1, '\0'));
    CHECK(servers_of("redis://u:p@ss:w/rd@h")[0].password == "p@ss:w/rd");
}

TEST_CASE("a URL that is wrong says what is wrong with it") {
    CHECK(fault_of("") == "does not begin with 'redis://' or 'rediss://'");
    CHECK(fault_of("zk://a") == "does not begin with 'redis://' or 'rediss://'");
    for (const auto* const text : {"redis://", "redis://,", "redis://a,,b", "redis://a,b,,"})
        CHECK(fault_of(text).starts_with("has an empty entry or host (entry "));
    CHECK(begins("redis://a b", "has the host 'a b', which is not a valid host name"));
    CHECK(begins("redis://a?ttl=1s,b,c",
                 "has a '?': the options of a client do not stand in its URL"));
    CHECK(fault_of("redis://a:0").find("not a number from 1 to 65535") != std::string::npos);
    CHECK(fault_of("redis://a:65536").find("not a number from 1 to 65535") != std::string::npos);
    CHECK(
        begins("redis://localhost:6379:0",
               "has the host 'localhost:6379:0', which is neither host:port nor an IPv6 address"));
    CHECK(begins("redis://::1", "has the IPv6 address '::1' without brackets"));
    CHECK(begins("redis://[zz]:1", "has brackets around 'zz', which is no IPv6 address"));
    CHECK(begins("redis://a/x", "has the database 'x', which is not a number"));
    CHECK(begins("redis://a/-1", "has the database '-1', which is not a number"));
    CHECK(
        begins("redis://a/-99999999999", "has the database '-99999999999', which is not a number"));
    CHECK(begins("redis://a/99999999999", "has the database '99999999999', which is too large"));
    CHECK(begins("redis://a/1048577", "has the database '1048577', which is too large"));
    CHECK(begins("redis://a/1/2", "has the database '1/2', which is not a number"));
    CHECK(fault_of("redis://a,b") == "has 2 servers: a quorum needs an odd number of them, or one");
    CHECK(fault_of("redis://a,b,c,d").find("has 4 servers") == 0);
    CHECK(fault_of("redis://a:1,b,a:1") == "has the server a:1 twice (entries 1 and 3)");
}

TEST_CASE("what is wrong with credentials is said without them") {
    CHECK(begins("redis://secret@a", "has a user without a password"));
    CHECK(begins("redis://u:@a", "has an empty password"));
    for (const auto* wrong : {"%", "%4", "%4g", "%-1", "% 1"})
        CHECK(begins("redis://u:secret" + std::string(wrong) + "@a",
                     "has a '%' without two hexadecimal digits in its credentials"));
}

TEST_CASE("no part of a password with a comma in it is shown") {
    for (const std::string password : {"Q,Z", "Q/Z,", "Q Z,Z", "[Q,Z", "7/Q,Z", "7,Q Z,Z", ",Q,Z:Z",
                                       "7,b:7,c,b:7,Z:Z", "Q?,Z", "Q@Q Z,Z"}) {
        const auto fault = fault_of("redis://u:" + password + "@a:6000,b");
        CHECK(fault != "");
        CHECK_MESSAGE(fault.find_first_of("QZ7") == fault.npos, fault);
    }
    CHECK(begins("redis://u:Q,Z@a",
                 "has an entry that is not host[:port][/database]; in a password ',' is %2C"));
    CHECK(fault_of("redis://u:p@a:x,b,c").find("port 'x'") != std::string::npos);
    CHECK(fault_of("redis://u:p@a,b:x,c").find("port 'x'") != std::string::npos);
}
