// Server lists.

#include "rules/servers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock::rules;

namespace {
using all = std::vector<server>;

std::string fault_of(const std::string& text) { return parse_servers(text).fault; }
} // namespace

TEST_CASE("names and addresses, with and without ports") {
    const auto list = parse_servers("zk1:2182,zk2.example.org,10.0.0.3:65535,[::1]:2183,[::2]");
    CHECK(list.fault == "");
    CHECK(list.root == "");
    CHECK(list.servers == all{{"zk1", 2182},
                              {"zk2.example.org", 2181},
                              {"10.0.0.3", 65535},
                              {"::1", 2183},
                              {"::2", 2181}});
}

TEST_CASE("the path behind the last server is the root") {
    CHECK(parse_servers("a/app").root == "/app");
    CHECK(parse_servers("a:1,b:2/app/x").root == "/app/x");
    CHECK(parse_servers("a:1,b:2/app/").root == "/app");
    CHECK(parse_servers("a/").root == "");
    CHECK(parse_servers("a:1,b:2/app/x").servers == all{{"a", 1}, {"b", 2}});
    CHECK(parse_servers("a/").root == "");
    CHECK(fault_of("a/") == "");
}

TEST_CASE("a zone of an IPv6 address is part of the host") {
    CHECK(parse_servers("[fe80::1%eth0]:1").servers == all{{"fe80::1%eth0", 1}});
    CHECK(parse_servers("[fe80::1%br-a_1.5]").servers == all{{"fe80::1%br-a_1.5", 2181}});
    for (const auto* const text : {"[::1%]:1", "[::1%a:b]", "[::1%a%b]", "[::1%a b]", "[%eth0]"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("which is no IPv6 address") != std::string::npos);
    }
    for (const auto* const text : {"a%b", "a%b:1", "10.0.0.1%eth0"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("which is not a valid host name") != std::string::npos);
    }
}

TEST_CASE("spaces around entries, schemes, and a comma at the end are as people write them") {
    const all three{{"a", 1}, {"b", 2181}, {"::1", 3}};
    for (const auto* const text :
         {"a:1,b,[::1]:3", "a:1, b, [::1]:3", " a:1 ,b\t, [::1]:3\r\n", "a:1,b,[::1]:3,",
          "a:1,b,[::1]:3 , ", "zk://a:1,b,[::1]:3", "zk://a:1,b,[::1]:3/",
          "ZooKeeper://a:1,b,[::1]:3", "zk://a:1,zk://b, zk://[::1]:3", " zk:// a:1,b,[::1]:3,/",
          "a:1,\n  b,\n  [::1]:3\n"}) {
        CAPTURE(text);
        const auto list = parse_servers(text);
        CHECK(list.fault == "");
        CHECK(list.root == "");
        CHECK(list.servers == three);
    }
    for (const auto* const text :
         {"a,b/app", "a, b/app\n", "zk://a,b,/app", "zk://a,zk://b/app "}) {
        CAPTURE(text);
        CHECK(parse_servers(text).root == "/app");
        CHECK(parse_servers(text).servers == all{{"a", 2181}, {"b", 2181}});
    }
}

TEST_CASE("a fault says in which entry it is, and what should stand there") {
    CHECK(
        fault_of("a:1,b:x,c") ==
        "has the port 'x', which is not a number from 1 to 65535 (entry 2: 'b:x'; expected: host, "
        "host:port or [IPv6 address]:port, with a ',' between two)");
    CHECK(fault_of("a,,b").starts_with("has an empty entry or host (entry 2: ''; expected: host"));
    CHECK(fault_of("zk1:2181 zk2:2181").find("(entry 1: 'zk1:2181 zk2:2181'; ") !=
          std::string::npos);
    CHECK(fault_of("a;b").find("(entry 1: 'a;b'; ") != std::string::npos);
    CHECK(fault_of("a, b c").find("(entry 2: 'b c'; ") != std::string::npos);
}

TEST_CASE("a bad root is a fault") {
    CHECK(fault_of("a/app//") == "ends in a root that ends with '/'");
    CHECK(fault_of("a//app") == "ends in a root that has an empty component");
    for (const auto* const text : {"a/b,c", "a:1/b,c:2/b", "a/,c"})
        CHECK(fault_of(text) == "has a root with a ',' in it: one root stands behind all servers");
}

TEST_CASE("credentials are a fault, which does not tell them") {
    for (const auto* const text : {"anna:secret@a", "anna:secret@a:1", "a,anna@b/app"}) {
        CHECK(fault_of(text).starts_with("has credentials before a host ('@')"));
        CHECK(fault_of(text).find("secret") == std::string::npos);
    }
    for (const auto* const text : {"anna:secret/@a", "anna:sec/ret@a:1", "anna:secret,/@a"})
        CHECK(fault_of(text) ==
              "is malformed, or has credentials ('@'), which client_options::auth takes");
    CHECK(fault_of("a/app@home") == "");
}

TEST_CASE("a bad port is a fault") {
    for (const auto* const text : {"a:", "a:0", "a:65536", "a:99999999999", "a:x", "a:1x", "a:-1",
                                   "a: 1", "[::1]:", "[::1]:0"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("which is not a number from 1 to 65535") != std::string::npos);
    }
}

TEST_CASE("a scheme of another system is a fault") {
    CHECK(fault_of("http://localhost:2181") ==
          "has the scheme 'http://' in entry 1, where only zk:// may stand");
    CHECK(fault_of("a,redis://b/app") ==
          "has the scheme 'redis://' in entry 2, where only zk:// may stand");
    CHECK(fault_of("zk://zk://a") != "");
}

TEST_CASE("an empty entry or host is a fault") {
    for (const auto* const text : {"", " ", ",", "a,,", ",a", "a,,b", ":1", "[]:1", "[]", "/app",
                                   "zk://", "zk:///app", "zk://,"}) {
        CAPTURE(text);
        CHECK(fault_of(text).starts_with("has an empty entry or host (entry "));
    }
}

TEST_CASE("bad brackets are a fault") {
    CHECK(fault_of("[::1").starts_with("has a '[' without ']' (entry 1: "));
    CHECK(fault_of("[::1]x").starts_with("has something other than ':port' behind ']' ("));
}

TEST_CASE("an impossible host is a fault") {
    for (const auto* const text : {"a b", "a;b", "a\nb", "zk\xc3\xa4", "a]"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("which is not a valid host name") != std::string::npos);
    }
    CHECK(fault_of(std::string("a\0b", 3)) != "");
}

TEST_CASE("a host with colons is an IPv6 address, or a fault") {
    for (const auto* const text :
         {"localhost:2181:0", "a:b:c", "1:2:3", "::g", "::1%a:1", "1:2:3:4:5:6:7:8:9", "%:1::"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("neither host:port nor an IPv6 address") != std::string::npos);
    }
    for (const auto* const text :
         {"[::]", "[1:2:3:4:5:6:7:8]", "[::ffff:10.0.0.1]", "[::1:2181]", "[::1%lo]:1"})
        CHECK(fault_of(text) == "");
}

TEST_CASE("only an IPv6 address stands in brackets") {
    for (const auto* const text :
         {"[localhost]", "[10.0.0.1]:1", "[zz]:1", "[a b]:1", "[a:b]:1", "[a:1]"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("has brackets around") != std::string::npos);
    }
}

TEST_CASE("an IPv6 address without brackets is a fault, because its end may be the port") {
    for (const auto* const text : {"::1", "::1:2182", "fe80::1%eth0", "1:2:3:4:5:6:7:8"}) {
        CAPTURE(text);
        CHECK(
            fault_of(std::string("a,") + text)
                .starts_with("has the IPv6 address '" + std::string(text) + "' without brackets"));
    }
}

TEST_CASE("half an IPv4 address is a fault") {
    for (const auto* const text : {"10.1", "10.0.0.256", "1.2.3.4.5", "10.0.0.", "127", "10.1:1"}) {
        CAPTURE(text);
        CHECK(fault_of(text).find("which is not a complete address") != std::string::npos);
    }
    CHECK(fault_of("10.0.0.1,1.2.3.a,a1,1a") == "");
}

TEST_CASE("one malformed server makes the whole list malformed") {
    CHECK(fault_of("good:1,bad:x,good:2") != "");
}
