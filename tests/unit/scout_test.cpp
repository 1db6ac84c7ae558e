// When a client gives up a session that the servers refuse.

#include "support/session_stage.hpp"

#include <algorithm>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

/// Servers that refuse the client's session, and open others.
struct refused_stage : session_stage {
    refused_stage() {
        first = c;
        c = std::make_shared<script>(*env); // of the next handle, the scout's
        c->last_identity = 1000;            // no connection of the first one
        first->refuses_sessions = true;
        first->hang_up();
        env->run();
    }
    bool given_up() const {
        return std::count(trouble_codes.begin(), trouble_codes.end(), log_code::data_lost) > 0;
    }
    std::shared_ptr<script> first;
};

} // namespace

TEST_CASE("a session is given up when servers that open another one have refused it for longer") {
    refused_stage s;
    s.env->advance(session_stage::session_timeout + 900ms);
    CHECK(s.c->opened == 0);
    CHECK_FALSE(s.given_up());
    s.env->advance(5s);
    CHECK(s.given_up());
}

TEST_CASE("a scout whose session ends is followed by another") {
    refused_stage s;
    s.env->advance(session_stage::session_timeout);
    while (s.c->opened == 0)
        s.env->advance(100ms);
    s.env->run();
    s.c->next_session_state = native::state::expired;
    s.c->hang_up();
    s.env->advance(400ms);
    s.c->next_session_state = native::state::connected;
    s.env->advance(6s);
    CHECK(s.given_up());
    CHECK(s.c->opened == 3); // two scouts, and the next session
}

TEST_CASE("while the network breaks the scout's connections, too, no session is given up") {
    refused_stage s;
    s.env->advance(session_stage::session_timeout);
    for (int n = 0; n < 50; ++n) {
        s.env->advance(700ms);
        s.c->hang_up();
    }
    CHECK(s.c->opened == 1);
    CHECK_FALSE(s.given_up());
    s.env->advance(6s);
    CHECK(s.given_up());
}
