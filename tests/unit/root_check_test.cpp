// How a client finds out whether its root exists, where an ensemble's answers are what no server of
// the integration tests gives.

#include "session/core.hpp"
#include "session/root_check.hpp"
#include "support/captured_clog.hpp"
#include "support/fake_environment.hpp"
#include "support/scripted_calls.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr int no_node = static_cast<int>(zk_errc::no_node);

/// A connected client with the root `/app`, which it may create.
struct rooted_client {
    rooted_client() {
        auto made = std::make_unique<fake_environment>();
        env = made.get();
        script = std::make_shared<test::script>(*env);
        client_options options;
        options.create_root = true;
        core = std::make_shared<detail::core>(
            io.get_executor(),
            detail::world{std::move(made), [of = script] { return make_scripted_calls(of); },
                          &fake_environment::latest_now},
            std::vector<native::server_address>{{"10.0.0.1", 2181, true}}, "/app", options);
        core->start();
        core->use<detail::root_check>().when_known([this](error_code why) {
            ++times;
            outcome = why;
        });
        env->run();
    }
    ~rooted_client() { core->close(errc::closed); }

    void answer(int rc) {
        script->answer(rc);
        env->run();
    }

    captured_clog clog;
    asio::io_context io;
    fake_environment* env = nullptr;
    std::shared_ptr<test::script> script;
    std::shared_ptr<detail::core> core;
    int times = 0;
    error_code outcome;
};

} // namespace

TEST_CASE("a root that an overloaded ensemble does not create is asked for again") {
    rooted_client c;
    c.answer(no_node);
    c.answer(static_cast<int>(zk_errc::throttled));
    CHECK(c.times == 0);
    CHECK(c.script->requests.empty());
    c.env->advance(1s);
    REQUIRE(c.script->requests.size() == 1);
    c.answer(no_node);
    c.answer(0);
    CHECK(c.times == 1);
    CHECK_FALSE(c.outcome);
    CHECK(c.clog.text() == "");
}

TEST_CASE("a root that the ensemble refuses to create is in the log") {
    rooted_client c;
    c.answer(no_node);
    c.answer(static_cast<int>(zk_errc::no_auth));
    CHECK(c.times == 1);
    CHECK(c.outcome == zk_errc::no_auth);
    CHECK(c.clog.text() == "paddock: the root /app does not exist, and cannot be created: " +
                               make_error_code(zk_errc::no_auth).message() + " [no_root]\n");
}
