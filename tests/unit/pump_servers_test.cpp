// Which servers the C client is given, and when it has to look for another one.

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

TEST_CASE("names are looked up one after the other, addresses not at all") {
    stage s({named("a"), {"::1", 2, true}, named("b"), {"10.0.0.9", 3, true}, named("c")});
    s.env.names = {{"a", {"10.0.0.1", "10.0.0.2"}}, {"c", {"10.0.0.2"}}};
    s.env.resolve_time = 1s;
    s.env.advance(0s);
    CHECK(s.env.asked.size() == 1);
    s.env.advance(3s);
    CHECK(s.env.asked == std::vector<std::string>{"a", "b", "c"});
    REQUIRE(s.c->servers.size() == 1);
    auto entries = entries_of(s.c->servers[0]);
    CHECK(entries.size() == 5);
    const std::set<std::string> different(entries.begin(), entries.end());
    CHECK(different == std::set<std::string>{"10.0.0.1:1", "10.0.0.2:1", "::1:2", "10.0.0.9:3"});
    REQUIRE(s.troubles() == 1);
    CHECK(s.user.troubles[0] == "cannot resolve b");
    CHECK(s.user.up);
}

TEST_CASE("a name that nobody knows is looked up again, more and more seldom") {
    stage s({named("nobody")});
    s.env.advance(1s);
    const auto first = s.env.asked.size();
    CHECK(first >= 3);
    CHECK(first <= 8);
    s.env.advance(1min);
    const auto minute = s.env.asked.size();
    CHECK(minute <= first + 14);
    s.env.advance(10min);
    CHECK(s.env.asked.size() - minute >= 50);
    CHECK(s.env.asked.size() - minute <= 130);
    CHECK(s.troubles() == s.env.asked.size());
    CHECK(s.c->opened == 0);
    s.env.names["nobody"] = {"10.0.0.1"};
    s.env.advance(11s);
    CHECK(s.user.up);
}

TEST_CASE("names are looked up again after a full failed pass, and only what is new is applied") {
    stage s({named("a"), named("b")});
    s.env.names = {{"a", {"10.0.0.1"}}, {"b", {"10.0.0.2"}}};
    s.c->refuses = true;
    while (s.c->last_identity < 4)
        REQUIRE((s.env.step() || s.c->last_identity >= 4)); // 3 failed
    s.c->accepts = s.c->refuses = false;
    CHECK(s.troubles() == 1);
    CHECK(s.env.asked.size() == 2);
    s.env.advance(200ms);
    CHECK(s.env.asked.size() == 4);
    CHECK(s.c->servers.size() == 1); // nothing new
    s.env.names["b"] = {"10.0.0.3"};
    s.env.advance(30s);
    REQUIRE(s.c->servers.size() == 2);
    const auto entries = entries_of(s.c->servers[1]);
    CHECK(std::set(entries.begin(), entries.end()) ==
          std::set<std::string>{"10.0.0.1:1", "10.0.0.3:1"});
    s.c->accepts = true;
    s.c->set_readable();
    s.env.run();
    CHECK(s.user.up);
}

TEST_CASE("servers that refuse are not asked without end, and the complaints become fewer") {
    stage s({literal_server(1), literal_server(2), literal_server(3)});
    s.c->accepts = false;
    // As the C client does it: an attempt per server, then a pause.
    s.env.advance(1min);
    CHECK(s.troubles() >= 3);
    CHECK(s.troubles() <= 15);
    CHECK(s.c->interests < 200);
    CHECK(s.env.asked.empty());
}

TEST_CASE("an error of interest is answered with patience") {
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

TEST_CASE("the only server keeps all the time that the C client gives it") {
    stage s({literal_server(1)}, 9s);
    s.c->answers = false;
    s.env.advance(5900ms);
    CHECK(s.c->last_identity == 1);
    s.env.advance(200ms);
    CHECK(s.c->last_identity == 2);
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
