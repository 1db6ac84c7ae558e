// The pump, step by step: which calls of the C client it makes, and when.

#include "pump_stage.hpp"

#include <algorithm>

using namespace paddock;
using namespace paddock::test;
namespace code = native::code;
namespace event = native::event;
namespace state = native::state;

TEST_CASE("a failed connection attempt gets no readiness to read") {
    pump_stage s;
    s.c->refuses = true;
    s.env.advance(10s);
    CHECK(s.c->events.size() >= 5);
    for (const auto one : s.c->events)
        CHECK(one == event::writable);
}

TEST_CASE("start() does nothing by itself, and the connection is made after it") {
    pump_stage s;
    CHECK(s.c->opened == 0);
    s.env.run();
    CHECK(s.c->servers == std::vector<std::string>{"127.0.0.1:1"});
    CHECK(s.user.connected == 1);
    CHECK(s.pump->session_id() == 0x1234);
    CHECK(s.pump->connected_since() == s.env.now());
    CHECK(s.env.waited_for() == 1);
}

TEST_CASE("credentials are given before the first connection") {
    native::pump_options how = pump_stage::one_server();
    how.auth = {{"digest", "a:b"}, {"digest", "c:d"}};
    pump_stage s(how);
    while (s.c->opened == 0)
        REQUIRE(s.env.step());
    CHECK(s.c->credentials == std::vector<std::string>{"digest a:b", "digest c:d"});
    CHECK(s.c->interests == 0);
}

TEST_CASE("a request is answered, and one without a connection refused") {
    connected_pump s;
    const auto answered = s.ask();
    CHECK_FALSE(answered->answered());
    s.c->answer();
    s.env.run();
    CHECK(answered->rc == code::ok);
    s.c->accepts = false;
    s.c->hang_up();
    s.env.run();
    CHECK(s.user.disconnected == 1);
    CHECK(s.ask()->rc == code::invalid_state);
}

TEST_CASE("requests on a silently closed connection fail, and are not sent on the next one") {
    connected_pump s;
    const auto first = s.ask();
    s.c->next_send_fails = true;
    const auto second = s.ask();
    CHECK_FALSE(s.pump->ready());
    CHECK(s.user.disconnected == 0);
    CHECK(s.ask()->rc == code::invalid_state);
    s.env.run();
    CHECK(first->rc == code::connection_loss);
    CHECK(second->rc == code::connection_loss);
    CHECK(s.c->broken == 1);
    CHECK(s.c->executed == 0);
    CHECK(s.user.disconnected == 1);
    CHECK(s.user.connected == 2);
    CHECK(s.env.waited_for() == 1);
}

TEST_CASE("after a connection closed silently inside a completion nothing more is sent on it") {
    connected_pump s;
    submitted inner;
    s.pump->submit([&](native::calls& table) {
        return table.exists("/", false, native::on_reply([&](const native::reply&) {
                                s.c->next_send_fails = true;
                                inner = s.ask();
                            }));
    });
    s.c->answer();
    while (!inner)
        REQUIRE(s.env.step());
    CHECK(s.ask()->rc == code::invalid_state);
    s.env.run();
    CHECK(inner->rc == code::connection_loss);
    CHECK(s.c->executed == 0);
    CHECK(s.user.connected == 2);
    CHECK(s.user.disconnected == 1);
}

TEST_CASE("a purge that cannot connect yet waits, and keeps trying") {
    connected_pump s;
    s.c->next_send_fails = true;
    const auto lost = s.ask();
    s.c->interest_codes = {code::system_error, code::system_error};
    s.env.run();
    CHECK_FALSE(lost->answered());
    CHECK(s.user.disconnected == 1);
    s.env.advance(1s);
    CHECK(lost->rc == code::connection_loss);
    CHECK(s.c->executed == 0);
    CHECK(s.user.connected == 2);
}

TEST_CASE("requests are sent together with the next turn") {
    connected_pump s;
    SUBCASE("made between two turns") {
        for (int i = 0; i < 10; ++i)
            s.ask();
        CHECK(s.c->held_back == 10);
    }
    SUBCASE("made from within a completion") {
        s.pump->submit([&](native::calls& table) {
            return table.exists("/", false, native::on_reply([&](const native::reply&) {
                                    s.c->held_back = 0;
                                    s.ask();
                                    s.ask();
                                    CHECK(s.c->held_back == 2);
                                }));
        });
        s.c->answer();
    }
    SUBCASE("made by the pump itself after a stall") { s.env.stall(7s); }
    s.env.run();
    CHECK_FALSE(s.c->log.empty());
    CHECK(s.c->held_back == 0);
}

TEST_CASE("before a turn sends requests its user may make some that leave with them") {
    connected_pump s;
    int asked = 0;
    s.user.when_sending = [&] {
        if (++asked == 1) s.ask();
    };
    const auto turns = s.c->interests;
    s.pump->schedule_turn();
    s.pump->schedule_turn();
    CHECK(asked == 0); // not from within
    s.env.run();
    CHECK(asked == 1);
    CHECK(s.c->log.size() == 1);
    CHECK(s.c->held_back == 0);
    CHECK(s.c->interests == turns + 1);
}

TEST_CASE("a turn that has ended the session sends nothing more") {
    connected_pump s;
    bool asked = false;
    s.user.when_ended = [&] { s.user.when_sending = [&] { asked = true; }; };
    s.c->accepts = false;
    s.c->hang_up();
    s.env.run();
    s.c->next_session_state = native::state::expired;
    s.c->accepts = true;
    s.c->set_readable();
    s.env.advance(4s);
    REQUIRE(s.user.over == errc::session_expired);
    s.pump->schedule_turn();
    s.env.run();
    CHECK_FALSE(asked);
}

TEST_CASE("a completion may make a request before the pump goes on") {
    connected_pump s;
    submitted next;
    s.pump->submit([&](native::calls& table) {
        return table.exists("/", false, native::on_reply([&](const native::reply&) {
                                s.env.post([&] { next = s.ask(); });
                            }));
    });
    s.env.run();
    const auto before = s.c->interests;
    s.c->answer();
    while (!next)
        REQUIRE(s.env.step());
    CHECK(s.c->interests == before);
    s.env.run();
    CHECK(s.c->interests == before + 1);
}

TEST_CASE("a turn handles 64 packets, then other tasks have their turn") {
    connected_pump s;
    std::size_t taken = 0;
    for (int i = 0; i < 200; ++i)
        s.c->send([&] { ++taken; });
    std::vector<std::size_t> seen;
    while (taken < 200) {
        s.env.post([&] { seen.push_back(taken); });
        REQUIRE(s.env.step());
    }
    for (std::size_t i = 1; i < seen.size(); ++i)
        CHECK(seen[i] - seen[i - 1] <= 64);
    CHECK(*std::max_element(seen.begin(), seen.end()) > 64);
    s.env.run();
    CHECK(s.user.disconnected == 0);
}

TEST_CASE("after a stall the pump reads received packets before it judges the server silent") {
    connected_pump s;
    const auto open = s.ask();
    s.env.stall(7s); // more than two thirds of 9 s
    s.c->inbound.push_back([&] { s.c->requests.clear(); });
    SUBCASE("when the timer comes first") {}
    SUBCASE("when another request comes first") { s.ask(); }
    SUBCASE("when the readiness comes first") { s.c->set_readable(); }
    s.env.run();
    CHECK(s.user.disconnected == 0);
}

TEST_CASE("after a stall in silence the pump sends a request before it gives the server up") {
    connected_pump s;
    s.env.stall(7s);
    const auto interests = s.c->interests;
    s.env.run();
    CHECK(s.user.disconnected == 0);
    REQUIRE(s.c->requests.size() == 1);
    CHECK(s.c->interests == interests);
    SUBCASE("the server answers") {
        s.c->answer();
        s.env.run();
        CHECK(s.c->interests > interests);
        s.env.advance(1s);
        CHECK(s.user.disconnected == 0);
        CHECK(s.user.up);
    }
    SUBCASE("the server is silent") {
        s.env.advance(1s);
        CHECK(s.user.up);
        s.env.advance(1s);
        CHECK(s.user.disconnected == 1);
    }
    SUBCASE("the request meets a reset") {
        s.c->answer();
        s.env.run();
        s.env.stall(7s);
        s.c->next_send_fails = true;
        s.env.run();
        CHECK(s.user.disconnected == 1);
        CHECK(s.user.connected == 2);
    }
}

TEST_CASE("a server that is silent while the loop runs is given up at two thirds of the timeout") {
    connected_pump s;
    s.env.advance(4900ms); // after the first second
    CHECK(s.user.disconnected == 0);
    s.c->accepts = false;
    s.env.advance(200ms);
    CHECK(s.user.disconnected == 1);
    CHECK(s.c->requests.empty());
}

TEST_CASE("a socket that is readable but never has a packet does not spin, and is given up") {
    connected_pump s;
    s.c->stuck = true;
    s.c->set_readable();
    s.env.run();
    CHECK(s.c->processed < 1100);
    s.env.advance(1s);
    CHECK(s.c->processed < 1250);
    CHECK(s.user.disconnected == 0);
    s.env.advance(2100ms);
    s.c->stuck = false;
    s.env.run();
    CHECK(s.user.disconnected == 1);
    CHECK(s.c->executed == 0);
    s.env.advance(10ms);
    CHECK(s.user.connected == 2);
}

TEST_CASE("a packet in ten thousand pieces is only received more slowly") {
    connected_pump s;
    s.c->stuck = true;
    s.c->set_readable();
    s.env.advance(2s);
    s.c->stuck = false;
    s.c->send([] {});
    s.env.advance(5s);
    CHECK(s.user.disconnected == 0);
}

TEST_CASE("a ping that cannot be sent ends the connection") {
    connected_pump s;
    s.c->ping_fails = true;
    s.env.advance(3100ms);
    CHECK(s.user.disconnected == 1);
    s.env.advance(100ms);
    CHECK(s.user.connected == 2);
    CHECK(s.c->interests < 20);
}

TEST_CASE("a connection that comes without the end of the last one still ends that first") {
    connected_pump s;
    s.c->observer->on_session_event(state::connected);
    CHECK(s.user.disconnected == 1);
    CHECK(s.user.connected == 2);
}

TEST_CASE("the C client may use one number for one connection after the other") {
    connected_pump s;
    for (std::uint64_t i = 2; i < 10; ++i) {
        s.env.advance(1s);
        s.c->hang_up();
        s.env.run();
        CHECK(s.user.connected == i);
        CHECK(s.env.waited_for() == 1);
    }
}

TEST_CASE("a lack of file descriptors is reported, and the connect is tried again after a pause") {
    pump_stage s;
    s.env.no_descriptors = true;
    s.env.advance(10s);
    CHECK(s.c->last_identity < 12);
    CHECK_FALSE(s.user.troubles.empty());
    s.env.no_descriptors = false;
    s.env.advance(10s);
    CHECK(s.user.up);
}
