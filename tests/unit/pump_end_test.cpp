// The end of a connection, of a session and of the pump, step by step.

#include "pump_stage.hpp"

using namespace paddock;
using namespace paddock::test;
namespace code = native::code;
namespace state = native::state;

TEST_CASE("a session that is over is reported once, and left alone") {
    pump_stage s;
    error_code why;
    SUBCASE("expired") {
        s.c->next_session_state = state::expired;
        why = errc::session_expired;
    }
    SUBCASE("credentials refused") {
        s.c->next_session_state = state::auth_failed;
        why = errc::auth_failed;
    }
    s.env.run();
    CHECK(s.user.over == why);
    const auto calls = s.c->interests + s.c->processed;
    s.env.advance(1h);
    CHECK(s.c->interests + s.c->processed == calls);
    s.pump->close();
    CHECK(s.c->closed == 1);
}

TEST_CASE("drop_connection breaks the connection once the turn has come") {
    connected_pump s;
    const auto open = s.ask();
    s.pump->drop_connection();
    s.pump->drop_connection();
    CHECK_FALSE(s.pump->ready());
    CHECK(s.user.disconnected == 0);
    s.env.run();
    CHECK(open->rc == code::connection_loss);
    CHECK(s.user.connected == 2);
    CHECK(s.user.disconnected == 1);
    CHECK(s.pump->ready());
}

TEST_CASE("after close the pump reports completions only") {
    connected_pump s;
    const auto open = s.ask();
    s.c->send([&] { s.c->observer->on_watch(native::watch_type::deleted, "/"); });
    s.pump->close();
    s.pump->close();
    CHECK(open->rc == code::closing);
    CHECK(s.c->closed == 1);
    CHECK(s.env.waited_for() == 0);
    CHECK(s.env.armed() == 0);
    s.env.advance(1h);
    CHECK(s.user.disconnected == 0);
    CHECK(s.user.watches.empty());
}

TEST_CASE("close inside a turn waits for its end") {
    connected_pump s;
    const auto open = s.ask();
    s.c->send([&] {
        s.pump->close();
        CHECK(s.c->closed == 0);
        CHECK_FALSE(open->answered());
        s.pump.reset();
    });
    s.c->send([] { FAIL_CHECK("read after close"); });
    s.env.run();
    CHECK(s.c->closed == 1);
    CHECK(open->rc == code::closing);
}

TEST_CASE("close may be called at any step") {
    for (int steps = 0; steps < 12; ++steps) {
        pump_stage s(pump_stage::named({"a", "b"}));
        s.env.names = {{"a", {"10.0.0.1"}}};
        s.env.resolve_time = 1ms;
        for (int i = 0; i < steps; ++i) {
            if (!s.env.step()) s.env.advance(1ms);
        }
        s.pump->close();
        CHECK(s.c->opened == s.c->closed);
        CHECK(s.env.armed() == 0); // the look-up is given up, too
        const auto told = s.user.connected + s.user.troubles.size();
        s.env.advance(1min);
        CHECK(s.user.connected + s.user.troubles.size() == told);
        CHECK(s.user.disconnected == 0);
    }
}

TEST_CASE("the end of a session waits for unwritten requests, and for the server") {
    connected_pump s;
    s.c->unwritten = 2;
    s.c->lingers = true;
    const auto open = s.ask();
    int over = 0;
    s.pump->end_session([&] { ++over; });
    CHECK(s.c->asked_to_end == 0);
    s.env.run();
    CHECK(s.c->asked_to_end == 1);
    CHECK(open->rc == code::closing);
    CHECK(over == 0);
    s.c->hang_up();
    s.env.run();
    CHECK(over == 1);
    CHECK(s.c->closed == 1);
    CHECK(s.env.waited_for() == 0);
    CHECK(s.env.armed() == 0);
    CHECK(s.user.disconnected == 0);
}

TEST_CASE("a session that cannot be closed is given up") {
    connected_pump s;
    s.c->lingers = true;
    int over = 0;
    const auto ended = [&] { ++over; };
    SUBCASE("at once, when the connection is lost") {
        s.c->hang_up();
        s.pump->end_session(ended);
        CHECK(s.c->asked_to_end == 0);
    }
    SUBCASE("after a second, when the server is silent") {
        s.pump->end_session(ended);
        s.env.advance(999ms);
        CHECK(over == 0);
        s.env.advance(2ms);
    }
    SUBCASE("after a second, when the server reads nothing") {
        s.c->unwritten = 1000;
        s.c->accepts = false;
        s.pump->end_session(ended);
        s.env.advance(1001ms);
    }
    SUBCASE("when the pump is closed") {
        s.pump->end_session(ended);
        s.pump->close();
    }
    SUBCASE("when no file descriptor is left to wait with") {
        s.env.no_descriptors = true;
        s.pump->end_session(ended);
    }
    CHECK(over == 1);
    CHECK(s.c->closed == 1);
    CHECK(s.env.armed() == 0);
    s.pump->close();
    s.env.advance(1h);
    CHECK(over == 1);
}

TEST_CASE("a session may be ended inside a turn, and the pump destroyed when it has ended") {
    connected_pump s;
    s.c->lingers = true;
    const auto open = s.ask();
    int over = 0;
    s.c->send([&] {
        s.pump->end_session([&] {
            ++over;
            s.pump.reset();
        });
        CHECK(s.c->asked_to_end == 0);
    });
    s.env.run();
    CHECK(s.c->asked_to_end == 1);
    CHECK(open->rc == code::closing);
    s.c->hang_up();
    s.env.run();
    CHECK(over == 1);
    CHECK_FALSE(s.pump);
}

TEST_CASE("a pump that is destroyed while its session ends calls no handler") {
    connected_pump s;
    s.c->lingers = true;
    s.pump->end_session([] { FAIL_CHECK("told"); });
    s.pump.reset();
    CHECK(s.c->closed == 1);
    CHECK(s.env.armed() == 0);
    CHECK(s.env.waited_for() == 0);
}
