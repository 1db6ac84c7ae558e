// How a client finds out whether its root exists, where an ensemble's answers are what no server of
// the integration tests gives.

#include "session/root_check.hpp"
#include "support/session_stage.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr int no_node = static_cast<int>(zk_errc::no_node);

client_options creating() {
    client_options options;
    options.create_root = true;
    return options;
}

/// A connected client with the root `/app`, which it may create.
struct rooted_client : session_stage {
    rooted_client() : session_stage(creating(), "/app") {
        auto& check = core->use<detail::root_check>();
        check.on_connected(); // it was not there yet
        check.when_known([this](error_code why) {
            ++times;
            outcome = why;
        });
        env->run();
    }

    int times = 0;
    error_code outcome;
};

} // namespace

TEST_CASE("a root that an overloaded ensemble does not create is asked for again") {
    rooted_client s;
    s.answer(no_node);
    s.answer(static_cast<int>(zk_errc::throttled));
    CHECK(s.times == 0);
    CHECK(s.c->requests.empty());
    s.env->advance(1s);
    REQUIRE(s.c->requests.size() == 1);
    s.answer(no_node);
    s.answer(0);
    CHECK(s.times == 1);
    CHECK_FALSE(s.outcome);
    CHECK(s.troubles.empty());
}

TEST_CASE("a root that the ensemble refuses to create is in the log") {
    rooted_client s;
    s.answer(no_node);
    s.answer(static_cast<int>(zk_errc::no_auth));
    CHECK(s.times == 1);
    CHECK(s.outcome == zk_errc::no_auth);
    CHECK(s.troubles ==
          std::vector<std::string>{"the root /app does not exist, and cannot be created: " +
                                   make_error_code(zk_errc::no_auth).message()});
    CHECK(s.trouble_codes == std::vector{log_code::no_root});
}
