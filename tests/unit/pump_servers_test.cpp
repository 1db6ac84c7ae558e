// Which servers the pump gives to the C client, and when it tries another one.

#include "native/server_list.hpp"
#include "pump_stage.hpp"

#include <algorithm>
#include <set>

using namespace paddock;
using namespace paddock::test;
namespace code = native::code;

namespace {

struct stage : pump_stage {
    explicit stage(std::vector<native::server_address> servers,
                   std::chrono::milliseconds session_timeout = 9s)
        : pump_stage({std::move(servers), session_timeout, {}}) {}

    std::size_t troubles() const { return user.troubles.size(); }
};

std::vector<std::string> entries_of(const std::string& list) {
    std::vector<std::string> entries(1);
    for (const char c : list) {
        if (c == ',')
            entries.emplace_back();
        else
            entries.back() += c;
    }
    return entries;
}

using names = std::set<std::string>;

names different(const std::string& list) {
    const auto entries = entries_of(list);
    return {entries.begin(), entries.end()};
}

native::server_address named(const std::string& host) { return {host, 1, false}; }

} // namespace

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

TEST_CASE("servers that close the connection in the handshake are named as refusing") {
    stage s({literal_server(1), literal_server(2), literal_server(3)});
    s.c->refuses_sessions = true;
    s.env.run();
    REQUIRE(s.troubles() == 1);
    CHECK(s.user.troubles[0].starts_with(
        "127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3 refused the session"));
    CHECK(s.user.troubles[0].find("older") == std::string::npos); // it has seen nothing yet
    CHECK(s.user.refused == 1);
    s.c->refuses_sessions = false;
    s.env.advance(1s);
    REQUIRE(s.user.up);
    s.env.advance(1s);
    s.c->refuses_sessions = true;
    s.c->hang_up();
    s.env.run();
    REQUIRE(s.troubles() == 2);
    CHECK(s.user.troubles[1].find("older") != std::string::npos);
    CHECK(s.user.refused == 2);
}

TEST_CASE("one server of three that refuses is not most of them") {
    // The limit is the pump's, or the C client's.
    for (const auto timeout : {9s, 1s}) {
        CAPTURE(timeout.count());
        stage s({literal_server(1), literal_server(2), literal_server(3)}, timeout);
        s.c->refuses_sessions = true;
        while (s.c->last_identity < 2)
            REQUIRE(s.env.step());
        s.c->refuses_sessions = s.c->answers = false; // the others are silent
        s.env.advance(4s);
        REQUIRE(s.troubles() >= 1);
        CHECK(s.user.troubles[0].find(" refused the session") != std::string::npos);
        CHECK(s.user.troubles[0].find("; no other server of 127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3 "
                                      "answers") != std::string::npos);
        CHECK(s.user.refused == 0);
    }
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

TEST_CASE("servers that refuse are tried with pauses, and reported at a limited rate") {
    stage s({literal_server(1), literal_server(2), literal_server(3)});
    s.c->accepts = false;
    // As the C client does it: an attempt per server, then a pause.
    s.env.advance(1min);
    CHECK(s.troubles() >= 3);
    CHECK(s.troubles() <= 15);
    CHECK(s.c->interests < 200);
    CHECK(s.env.asked.empty());
}

TEST_CASE("between two passes is a pause of 0.1 to 2 s, whatever the session timeout") {
    for (const auto timeout : {std::chrono::milliseconds(100), std::chrono::milliseconds(24h)}) {
        CAPTURE(timeout.count());
        stage s({literal_server(1), literal_server(2), literal_server(3)}, timeout);
        s.c->refuses = true;
        std::vector<boot_clock::duration> pauses;
        for (std::uint64_t passes = 1; passes <= 20; ++passes) {
            const auto began = s.env.now();
            while (s.c->last_identity <= 3 * passes)
                s.env.advance(1ms);
            pauses.push_back(s.env.now() - began);
        }
        CHECK(pauses[0] >= 49ms);
        CHECK(pauses[0] <= 101ms);
        for (const auto pause : pauses)
            CHECK(pause <= 2001ms);
        for (std::size_t n = 6; n < pauses.size(); ++n)
            CHECK(pauses[n] >= 999ms);
        s.c->refuses = false;
        s.env.advance(2s);
        CHECK(s.user.connected > 0);
    }
}

TEST_CASE("nothing shortens the pause after a failed pass") {
    stage s({literal_server(1)});
    s.c->refuses = true;
    s.env.run();
    CHECK(s.c->last_identity == 1);
    for (int n = 0; n < 45; ++n) {
        s.pump->schedule_turn();
        s.env.advance(1ms);
    }
    CHECK(s.c->last_identity == 1);
}

TEST_CASE("a connection that has lived is made again at once, one that was lost at once is not") {
    stage s({literal_server(1)});
    s.env.advance(2s);
    s.c->hang_up();
    s.env.run();
    CHECK(s.user.connected == 2);
    const auto began = s.env.now();
    while (s.user.connected < 10) {
        if (s.user.up) s.c->hang_up();
        s.env.advance(1ms);
    }
    CHECK(s.env.now() - began > 700ms);
    CHECK(s.env.now() - began < 2s);
}

TEST_CASE("an error of interest is retried after a pause") {
    stage s({literal_server(1)});
    for (int i = 0; i < 8; ++i)
        s.c->interest_codes.push_back(code::system_error);
    s.env.advance(500ms);
    CHECK(s.c->interests < 6);
    CHECK_FALSE(s.user.up);
    s.env.advance(30s);
    CHECK(s.user.up);
}

TEST_CASE("of several servers a silent one is given up after a second, then after two") {
    stage s({literal_server(1), literal_server(2)}, 9s);
    SUBCASE("that accepts nothing") { s.c->accepts = false; }
    SUBCASE("that does not answer the handshake") { s.c->answers = false; }
    s.env.advance(900ms);
    CHECK(s.c->last_identity == 1);
    s.env.advance(200ms);
    CHECK(s.c->last_identity == 2);
    s.env.advance(2s); // the third of the odd list
    CHECK(s.c->last_identity == 4);
    s.env.advance(1800ms);
    CHECK(s.c->last_identity == 4);
    s.env.advance(200ms);
    CHECK(s.c->last_identity == 5);
}

TEST_CASE("a single server that listens, but does not serve yet, costs a second at first") {
    stage s({literal_server(1)}, 1h);
    s.c->answers = false;
    s.env.advance(900ms);
    CHECK(s.c->last_identity == 1);
    s.c->answers = true; // though not of this handshake
    s.env.advance(300ms);
    CHECK(s.c->last_identity == 2);
    CHECK(s.user.up);
}

TEST_CASE("the time limits of a hung server grow, but not without a bound") {
    stage s({literal_server(1)}, 24h);
    boot_clock::duration most{};
    SUBCASE("that accepts nothing") { s.c->accepts = false, most = 4s; }
    SUBCASE("that does not answer the handshake") { s.c->answers = false, most = 30s; }
    s.env.advance(5min);
    for (int n = 0; n < 5; ++n) {
        const auto before = s.c->last_identity;
        const auto began = s.env.now();
        while (s.c->last_identity == before)
            s.env.advance(10ms);
        if (n == 0) continue;
        CHECK(s.env.now() - began > most);
        CHECK(s.env.now() - began < most + 2100ms);
    }
    // It is restarted: it refuses for a while, then listens but does not serve yet.
    s.c->accepts = s.c->answers = true;
    s.c->refuses = true;
    s.c->set_readable();
    s.env.advance(40s);
    s.c->refuses = s.c->answers = false;
    const auto before = s.c->last_identity;
    while (s.c->last_identity == before)
        s.env.advance(10ms);
    s.c->answers = true;
    s.env.advance(1100ms + 2s);
    CHECK(s.user.up);
}

TEST_CASE("a second of a stalled event loop does not count against a server") {
    stage s({literal_server(1), literal_server(2)}, 9s);
    s.c->answers = false;
    s.env.advance(100ms);
    s.env.stall(3s);
    s.env.run();
    CHECK(s.c->last_identity == 1);
    s.env.advance(1100ms);
    CHECK(s.c->last_identity == 2);
}
