// Which servers the pump gives to the C client, and when it tries another one.

#include "native/server_list.hpp"
#include "pump_stage.hpp"

#include <algorithm>
#include <set>

using namespace paddock;
using namespace paddock::test;
using stage = server_list_stage;
namespace code = native::code;

namespace {

using names = std::set<std::string>;

names different(const std::string& list) {
    const auto entries = entries_of(list);
    return {entries.begin(), entries.end()};
}

native::server_address named(const std::string& host) { return {host, 1, false}; }

} // namespace

TEST_CASE("an address belongs to the first name in the list that has it") {
    fake_environment env;
    env.names = {{"one", {"10.0.0.1", "10.0.0.2"}}, {"two", {"10.0.0.2", "10.0.0.3"}}};
    native::server_list list(env, {{"two", 1}, {"one", 1}, {"10.0.0.4", 1, true}, {"one", 2}});
    CHECK(list.host_of("10.0.0.1:1").empty());
    list.look_up([](const auto&) {});
    env.run();
    CHECK(list.host_of("10.0.0.1:1") == "one");
    CHECK(list.host_of("10.0.0.2:1") == "two");
    CHECK(list.host_of("10.0.0.2:2") == "one");
    CHECK(list.host_of("10.0.0.4:1") == "10.0.0.4");
    CHECK(list.host_of("10.0.0.4:2").empty());
    list.replace({{"one", 1}});
    CHECK(list.host_of("10.0.0.2:1") == "one");
}

TEST_CASE("the C client's list is odd, complete and in any order") {
    fake_environment env;
    for (std::size_t n = 1; n <= 6; ++n) {
        std::vector<std::string> endpoints;
        for (std::size_t i = 0; i < n; ++i)
            endpoints.push_back("10.0.0." + std::to_string(i) + ":1");
        std::set<std::string> orders;
        for (int i = 0; i < 50; ++i) {
            const auto list = native::connect_string(endpoints, env);
            const auto entries = entries_of(list);
            CHECK(entries.size() == (n | 1U));
            CHECK(std::set(entries.begin(), entries.end()).size() == n);
            orders.insert(list);
        }
        CHECK(orders.size() >= std::min<std::size_t>(n, 5));
    }
}

TEST_CASE("names are looked up one at a time, and their failures are reported together") {
    stage s({named("a"), {"::1", 2, true}, named("b"), {"10.0.0.9", 3, true}, named("c")});
    s.env.names = {{"c", {"10.0.0.1", "10.0.0.2"}}};
    s.env.resolve_time = 1s;
    for (std::size_t n = 1; n <= 3; ++n) {
        s.env.advance(n == 1 ? 0s : 1s);
        CHECK(s.env.asked.size() == n);
        CHECK(s.troubles() == 0);
    }
    s.env.advance(3s);
    CHECK(std::set(s.env.asked.begin(), s.env.asked.end()) == names{"a", "b", "c"});
    REQUIRE(s.troubles() == 1);
    CHECK(s.user.troubles[0].starts_with("cannot resolve a, b: check "));
    CHECK(s.pump->known_servers() == 4);
}

TEST_CASE("names are looked up in any order, so that not all clients begin with the first server") {
    fake_environment env;
    std::set<std::string> first;
    for (int n = 0; n < 50; ++n) {
        native::server_list list(env, {named("a"), named("b"), named("c")});
        list.look_up([](const native::server_endpoints&) {});
        first.insert(env.asked.back());
    }
    CHECK(first.size() == 3);
}

TEST_CASE("addresses are tried at once, while the names are being looked up") {
    stage s({named("a"), {"10.0.0.9", 3, true}, named("b")});
    s.env.names = {{"a", {"10.0.0.1"}}, {"b", {"10.0.0.2"}}};
    s.env.resolve_time = 2s;
    s.env.run();
    CHECK(s.c->servers == std::vector<std::string>{"10.0.0.9:3"});
    CHECK(s.user.up);
    CHECK(s.pump->known_servers() == 1);
    s.env.advance(2s);
    CHECK(s.pump->known_servers() == 2);
    s.env.advance(2s);
    CHECK(s.pump->known_servers() == 3);
    CHECK(s.c->servers.size() == 1); // the connection stays
    CHECK(s.user.disconnected == 0);
    s.c->hang_up();
    s.env.run();
    CHECK(s.user.connected == 2);
    REQUIRE(s.c->servers.size() == 2);
    CHECK(different(s.c->servers[1]) == names{"10.0.0.1:1", "10.0.0.2:1", "10.0.0.9:3"});
    CHECK(s.troubles() == 0);
}

TEST_CASE("every name is tried as soon as it is known, and none before one is") {
    stage s({named("a"), named("b")});
    s.env.names = {{"a", {"10.0.0.1"}}, {"b", {"10.0.0.2"}}};
    s.env.resolve_time = 5s;
    s.c->accepts = false;
    s.env.advance(4900ms);
    CHECK(s.c->opened == 0);
    CHECK(s.troubles() == 0);
    s.env.advance(200ms);
    CHECK(s.c->opened == 1);
    CHECK(s.c->servers.size() == 1);
    CHECK(different(s.c->servers[0]).size() == 1);
    CHECK(s.c->last_identity == 1);
    s.env.advance(9s); // the attempt of that moment has ended
    REQUIRE(s.c->servers.size() == 2);
    CHECK(different(s.c->servers[1]) == names{"10.0.0.1:1", "10.0.0.2:1"});
    CHECK(s.c->opened == 1);
}

TEST_CASE(
    "a connection attempt continues when another server becomes known, but with a time limit") {
    stage s({literal_server(1), named("a")}, 9s);
    s.env.names = {{"a", {"10.0.0.1"}}};
    s.env.resolve_time = 500ms;
    SUBCASE("a server that accepts nothing") { s.c->accepts = false; }
    SUBCASE("a server that does not answer the handshake") { s.c->answers = false; }
    s.env.advance(900ms);
    CHECK(s.pump->known_servers() == 2);
    CHECK(s.c->last_identity == 1);
    CHECK(s.c->servers.size() == 1);
    CHECK(s.c->broken == 0);
    s.env.advance(200ms);
    CHECK(s.c->last_identity == 2);
    REQUIRE(s.c->servers.size() == 2);
    CHECK(different(s.c->servers[1]) == names{"10.0.0.1:1", "127.0.0.1:1"});
}

TEST_CASE("a pass is over all servers that are known, also when one became known in its middle") {
    stage s({literal_server(1), literal_server(2), named("a")}, 9s);
    s.env.names = {{"a", {"10.0.0.1"}}};
    s.env.resolve_time = 1500ms;
    s.c->accepts = false;
    s.env.advance(2100ms); // two attempts have failed, and the list has grown
    CHECK(s.c->last_identity == 3);
    CHECK(s.c->servers.size() == 2);
    s.env.advance(2s);
    CHECK(s.c->last_identity == 5);
    CHECK(s.troubles() == 0);
    s.env.advance(1s);
    CHECK(s.troubles() == 1);
    s.env.advance(100ms);
    CHECK(s.c->last_identity == 6);
}

TEST_CASE("no trouble is reported for failed servers while others are about to be tried") {
    stage s({literal_server(1), named("a")}, 9s);
    s.env.names = {{"a", {"10.0.0.1"}}};
    s.env.resolve_time = 500ms;
    s.c->accepts = false;
    s.env.advance(1100ms); // the only server known by then has failed
    CHECK(s.c->last_identity == 2);
    CHECK(s.troubles() == 0);
    s.env.advance(3100ms);
    CHECK(s.troubles() == 1);
}

TEST_CASE("names are looked up in one round at a time, also when no server answers meanwhile") {
    stage s({literal_server(1), named("a"), named("b")});
    s.env.resolve_time = 20s;
    s.c->accepts = false;
    s.env.advance(19s);
    CHECK(s.troubles() >= 2); // of the server
    CHECK(s.env.asked.size() == 1);
    s.env.advance(20s);
    CHECK(s.env.asked.size() == 2);
    s.env.advance(3min); // and again after a pass that has failed
    CHECK(s.env.asked.size() >= 7);
    CHECK(s.env.asked.size() <= 11);
}

TEST_CASE("the addresses of a name are kept while it cannot be resolved") {
    stage s({named("a"), named("b")});
    s.env.names = {{"a", {"10.0.0.1"}}, {"b", {"10.0.0.2"}}};
    s.c->accepts = false;
    while (s.env.asked.size() < 2)
        s.env.advance(1ms);
    s.env.names = {{"a", {"10.0.0.3"}}};
    s.env.advance(1min);
    REQUIRE(s.c->servers.size() >= 2);
    CHECK(different(s.c->servers.back()) == names{"10.0.0.2:1", "10.0.0.3:1"});
}

TEST_CASE("an unknown name is looked up again at growing intervals") {
    stage s({named("unknown")});
    s.env.advance(1s);
    const auto first = s.env.asked.size();
    CHECK(first >= 3);
    CHECK(first <= 8);
    s.env.advance(10min);
    CHECK(s.env.asked.size() >= 300);
    CHECK(s.env.asked.size() <= 620);
    CHECK(s.troubles() == s.env.asked.size());
    CHECK(s.c->opened == 0);
    s.env.names["unknown"] = {"10.0.0.1"};
    s.env.advance(2s);
    CHECK(s.user.up);
}

TEST_CASE("without a connection names are looked up again, and only new addresses are applied") {
    stage s({named("a"), named("b")});
    s.env.names = {{"a", {"10.0.0.1"}}, {"b", {"10.0.0.2"}}};
    s.c->accepts = false;
    s.env.advance(900ms); // in the first attempt
    CHECK(s.c->last_identity == 1);
    CHECK(s.env.asked.size() >= 4);
    s.env.advance(10s);
    CHECK(s.c->servers.size() == 2); // nothing new
    s.env.names["b"] = {"10.0.0.3"};
    s.env.advance(6s);
    REQUIRE(s.c->servers.size() == 3);
    CHECK(different(s.c->servers[2]) == names{"10.0.0.1:1", "10.0.0.3:1"});
    s.c->accepts = true;
    s.c->set_readable();
    s.env.run();
    CHECK(s.user.up);
    const auto before = s.env.asked.size();
    s.env.advance(1min);
    CHECK(s.env.asked.size() <= before + 2); // connected, it asks no more
}

TEST_CASE("an attempt at an address that the name has left is given up at once") {
    stage s({named("pod")}, 4s);
    s.env.names = {{"pod", {"10.0.0.1"}}};
    s.env.advance(2s);
    REQUIRE(s.user.up);
    s.c->accepts = false;
    s.c->hang_up();
    s.env.advance(300ms);
    const auto silent = s.c->last_identity;
    CHECK(silent == 2);
    SUBCASE("as soon as the name service knows") {
        s.env.names["pod"] = {"10.0.0.2"};
        s.env.advance(500ms);
    }
    SUBCASE("after a while") {
        s.env.advance(1s);
        s.env.names["pod"] = {"10.0.0.2"};
        s.env.advance(1500ms);
    }
    REQUIRE(s.c->servers.size() == 2);
    CHECK(s.c->servers[1] == "10.0.0.2:1");
    s.c->accepts = true;
    s.c->set_readable();
    s.env.run();
    CHECK(s.user.up);
    CHECK(s.user.connected == 2);
}

TEST_CASE("a suspected server is left for another, or once its name has another address") {
    SUBCASE("another server is known") {
        stage s({literal_server(1), literal_server(2)});
        s.env.advance(5s);
        s.pump->suspect_server();
        s.env.run();
        CHECK(s.user.connected == 2);
    }
    SUBCASE("the name has another address") {
        stage s({named("pod")});
        s.env.names = {{"pod", {"10.0.0.1"}}};
        s.env.advance(5s);
        s.env.names["pod"] = {"10.0.0.2"};
        s.pump->suspect_server();
        s.env.run();
        CHECK(s.user.connected == 2);
        CHECK(s.c->servers.back() == "10.0.0.2:1");
    }
    SUBCASE("the name has the same address, or none at the moment") {
        stage s({named("pod")});
        s.env.names = {{"pod", {"10.0.0.1"}}};
        s.env.advance(5s);
        s.pump->suspect_server();
        s.env.run();
        s.env.names.clear();
        s.pump->suspect_server();
        s.env.run();
        CHECK(s.user.disconnected == 0);
    }
}

TEST_CASE("with new servers the connection stays if its server is among them") {
    stage s({literal_server(1), literal_server(2)});
    s.env.advance(2s);
    const auto at = s.c->list[s.c->place];
    const auto keeps = static_cast<std::uint16_t>(at.back() - '0');
    SUBCASE("it is") {
        s.pump->set_servers({literal_server(keeps), literal_server(3)});
        s.env.run();
        CHECK(s.user.disconnected == 0);
        s.c->hang_up();
        s.env.run();
        CHECK(different(s.c->servers.back()) == names{at, "127.0.0.1:3"});
    }
    SUBCASE("it is not") {
        s.pump->set_servers({literal_server(3)});
        s.env.run();
        CHECK(s.user.disconnected == 1);
        CHECK(s.c->servers.back() == "127.0.0.1:3");
    }
    SUBCASE("it is one of the addresses of a name, which are not known at once") {
        s.env.names = {{"all", {"10.0.0.1", "127.0.0.1"}}};
        s.env.resolve_time = 1s;
        s.pump->set_servers({{"all", keeps, false}, literal_server(3)});
        s.env.advance(2s);
        CHECK(s.user.disconnected == 0);
        CHECK(s.pump->known_servers() == 3);
    }
    SUBCASE("none of the names is known") {
        s.pump->set_servers({named("unknown")});
        s.env.advance(2s);
        CHECK(s.user.disconnected == 0);
        CHECK(s.troubles() == 1);
    }
    CHECK(s.c->opened == 1);
    CHECK(s.user.up);
}

TEST_CASE("new servers are used while the old ones do not answer, and end the pause") {
    stage s({literal_server(1)});
    s.c->refuses = true;
    s.env.advance(1min);
    s.c->refuses = false;
    const auto before = s.c->last_identity;
    s.pump->set_servers({literal_server(2)});
    s.env.run();
    CHECK(s.user.up);
    CHECK(s.c->last_identity == before + 1);
    CHECK(s.c->servers.back() == "127.0.0.1:2");
}

TEST_CASE("new servers are applied also when the C client itself gave up the connection attempt") {
    stage s({literal_server(1), named("a")}, 1200ms); // it gives a server 800 ms
    s.env.names = {{"a", {"10.0.0.1"}}};
    s.env.resolve_time = 500ms;
    s.c->accepts = false;
    s.env.advance(790ms);
    CHECK(s.c->last_identity == 1);
    CHECK(s.c->servers.size() == 1);
    s.env.advance(20ms);
    CHECK(s.c->broken == 0);
    CHECK(s.c->last_identity == 2);
    CHECK(s.c->servers.size() == 2);
}
