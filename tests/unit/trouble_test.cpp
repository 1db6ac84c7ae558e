// How trouble is logged: where, and how often.

#include "client/trouble_log.hpp"
#include "rules/trouble_limit.hpp"
#include "session/core.hpp"
#include "support/captured_clog.hpp"
#include "support/fake_environment.hpp"
#include "support/scripted_calls.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr boot_clock::time_point start{1h};

/// A client whose only server accepts no connection.
struct lonely_client {
    explicit lonely_client(client_options options = {},
                           std::vector<native::server_address> servers = {
                               {"10.0.0.1", 2181, true}}) {
        auto made = std::make_unique<fake_environment>();
        env = made.get();
        script = std::make_shared<test::script>(*env);
        script->accepts = false;
        options.session_timeout = 9s;
        core = std::make_shared<detail::core>(
            io.get_executor(),
            detail::world{std::move(made), [of = script] { return make_scripted_calls(of); },
                          &fake_environment::latest_now},
            std::move(servers), "", options);
        core->start();
    }
    ~lonely_client() { core->close(errc::closed); }

    asio::io_context io;
    fake_environment* env = nullptr;
    std::shared_ptr<test::script> script;
    std::shared_ptr<detail::core> core;
};

} // namespace

TEST_CASE("of each kind of trouble one line is allowed in ten seconds") {
    rules::trouble_limit limit;
    CHECK(limit.allows(trouble_kind::name, start));
    CHECK_FALSE(limit.allows(trouble_kind::name, start));
    CHECK(limit.allows(trouble_kind::unreachable, start + 1s));
    CHECK_FALSE(limit.allows(trouble_kind::name, start + 9999ms));
    CHECK(limit.allows(trouble_kind::name, start + 10s));
    CHECK_FALSE(limit.allows(trouble_kind::unreachable, start + 10999ms));
    CHECK_FALSE(limit.allows(trouble_kind::name, start + 19999ms));
    CHECK(limit.allows(trouble_kind::unreachable, start + 11s));
}

TEST_CASE("every kind of trouble is limited separately") {
    rules::trouble_limit limit;
    for (std::size_t kind = 0; kind < trouble_kinds; ++kind)
        CHECK(limit.allows(static_cast<trouble_kind>(kind), start));
    CHECK(static_cast<std::size_t>(trouble_kind::recovery) + 1 == trouble_kinds);
}

TEST_CASE("without a log, a client that reaches no server writes one line in ten seconds") {
    const captured_clog clog;
    lonely_client c;
    c.env->advance(10s);
    REQUIRE(clog.lines().size() == 1);
    CHECK(clog.text() == "paddock: no server of 10.0.0.1:2181 answers: check the server list and "
                         "that the ensemble runs; still trying\n");
    c.env->advance(1min);
    CHECK(clog.lines().size() >= 4);
    CHECK(clog.lines().size() <= 7);
}

TEST_CASE("without a log, a name that cannot be resolved is one line in ten seconds") {
    const captured_clog clog;
    lonely_client c({}, {{"zk1", 2181, false}, {"zk2", 2181, false}});
    c.env->advance(9s);
    CHECK(c.env->asked.size() >= 8);
    CHECK(clog.text() == "paddock: cannot resolve zk1, zk2: check the server list and the name "
                         "service; still trying\n");
}

TEST_CASE("on std::clog the end of an outage stands behind its line, and only then") {
    const captured_clog clog;
    lonely_client c;
    const auto outage_of = [&](std::chrono::seconds time) {
        c.script->accepts = false;
        if (c.script->connection.valid()) c.script->hang_up();
        c.env->advance(time);
        CHECK(c.core->state() != client_state::connected);
        c.script->accepts = true;
        c.script->set_readable();
        c.env->advance(1s);
        REQUIRE(c.core->state() == client_state::connected);
    };
    const auto lines = [&] {
        std::string kinds;
        for (const auto& line : clog.lines())
            kinds += line.starts_with("paddock: no server of ") ? 'o'
                     : line == "paddock: a server answers"      ? 'a'
                                                                : '?';
        return kinds;
    };
    outage_of(9s);
    CHECK(lines() == "oa");
    outage_of(7s); // less than ten seconds from end to end
    CHECK(lines() == "oaoa");
    outage_of(1s); // less than ten seconds from line to line
    CHECK(lines() == "oaoa");
    outage_of(9s);
    CHECK(lines() == "oaoaoa");
}

TEST_CASE("with a log nothing is written") {
    const captured_clog clog;
    std::vector<std::string> log;
    client_options options;
    options.log = [&](std::string_view what) { log.emplace_back(what); };
    lonely_client c(options);
    c.env->advance(1min);
    CHECK(log.size() >= 5);
    CHECK(log[0].starts_with("no server of 10.0.0.1:2181 answers: "));
    CHECK(clog.text().empty());
}

TEST_CASE("without trouble nothing is written") {
    const captured_clog clog;
    lonely_client c;
    c.script->accepts = true;
    for (int n = 0; n < 60; ++n) {
        c.script->last_heard = c.env->now();
        c.env->advance(1s);
    }
    CHECK(c.core->state() == client_state::connected);
    CHECK(clog.text().empty());
}

TEST_CASE("a log that throws costs nothing: the client goes on, and writes the line itself") {
    const captured_clog clog;
    int told = 0;
    client_options options;
    options.log = [&](std::string_view) {
        ++told;
        throw std::runtime_error("disk full");
    };
    lonely_client c(options);
    c.env->advance(30s);
    CHECK(told >= 3);
    REQUIRE(clog.lines().size() >= 2);
    CHECK(clog.lines()[0].starts_with("paddock: no server of 10.0.0.1:2181 answers: "));
    c.script->accepts = true;
    c.script->set_readable();
    c.env->advance(1s);
    CHECK(c.core->state() == client_state::connected);
}

TEST_CASE("repeated messages of the C client are logged once in ten seconds, in one line") {
    const captured_clog clog;
    std::vector<std::string> told;
    detail::trouble_log by_user([&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log by_default({});
    for (int n = 0; n < 300; ++n) {
        by_user.write(trouble_kind::c_client, "refused", start + n * 33ms);
        by_default.write(trouble_kind::c_client, "refused\nby 10.0.0.1", start + n * 33ms);
    }
    CHECK(told == std::vector<std::string>{"refused"});
    CHECK(clog.text() == "paddock: refused by 10.0.0.1\n");
}
