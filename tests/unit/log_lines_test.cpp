// How trouble is logged: where, and how often.

#include "client/trouble_log.hpp"
#include "rules/log_limit.hpp"
#include "session/session_keeper.hpp"
#include "support/captured_clog.hpp"
#include "support/fake_environment.hpp"
#include "support/scripted_calls.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <set>
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
        core = std::make_shared<detail::session_keeper>(
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

TEST_CASE("of each code one line is allowed in ten seconds") {
    rules::log_limit limit;
    CHECK(limit.allows(log_code::unresolved_name, "", start));
    CHECK_FALSE(limit.allows(log_code::unresolved_name, "", start));
    CHECK(limit.allows(log_code::unreachable, "", start + 1s));
    CHECK_FALSE(limit.allows(log_code::unresolved_name, "", start + 9999ms));
    CHECK(limit.allows(log_code::unresolved_name, "", start + 10s));
    CHECK_FALSE(limit.allows(log_code::unreachable, "", start + 10999ms));
    CHECK(limit.allows(log_code::unreachable, "", start + 11s));
}

TEST_CASE("the pauses between lines about trouble that lasts grow to a minute") {
    rules::log_limit limit;
    std::vector<std::chrono::seconds> written;
    for (auto t = 0s; t < 300s; ++t)
        if (limit.allows(log_code::unreachable, "", start + t)) written.push_back(t);
    CHECK(written == std::vector{0s, 10s, 30s, 70s, 130s, 190s, 250s});
}

TEST_CASE("a line says how many were left out before it") {
    rules::log_limit limit;
    for (int n = 0; n < 100; ++n)
        limit.allows(log_code::unreachable, "", start + n * 99ms);
    CHECK(limit.allows(log_code::unreachable, "", start + 10s) == 99);
    CHECK(limit.allows(log_code::unreachable, "", start + 30s) == 0);
}

TEST_CASE("trouble that is quiet for a minute has ended: the pauses begin anew") {
    rules::log_limit limit;
    for (auto t = 0s; t < 200s; ++t)
        limit.allows(log_code::unreachable, "", start + t);
    CHECK(limit.allows(log_code::unreachable, "", start + 300s));
    CHECK(limit.allows(log_code::unreachable, "", start + 310s));
}

TEST_CASE("trouble at one lock does not hide that at another; of many locks three are named") {
    rules::log_limit limit;
    for (auto t = 0s; t < 131s; ++t)
        limit.allows(log_code::self_wait, "/a", start + t);
    CHECK(limit.allows(log_code::self_wait, "/b", start + 135s));
    CHECK(limit.allows(log_code::self_wait, "/c", start + 135s));
    for (int n = 0; n < 100; ++n)
        CHECK_FALSE(limit.allows(log_code::self_wait, "/d" + std::to_string(n), start + 136s));
    CHECK_FALSE(limit.allows(log_code::self_wait, "/b", start + 137s));
    CHECK(limit.allows(log_code::self_wait, "/d7", start + 146s) == 101);
}

TEST_CASE("every code is limited separately, and has a name and a level") {
    rules::log_limit limit;
    std::set<std::string_view> names;
    for (std::size_t n = 1; n <= log_codes; ++n) {
        const auto code = static_cast<log_code>(n);
        CHECK(limit.allows(code, "", start));
        CHECK(name_of(code) != "unknown");
        CHECK(name_of(level_of(code)) != "unknown");
        names.insert(name_of(code));
    }
    CHECK(names.size() == log_codes);
    CHECK(name_of(static_cast<log_code>(log_codes + 1)) == "unknown");
}

TEST_CASE("durations are written in the unit that a reader expects") {
    CHECK(in_words(0ms) == "0 ms");
    CHECK(in_words(7ms) == "7 ms");
    CHECK(in_words(340ms) == "0.3 s");
    CHECK(in_words(9940ms) == "9.9 s");
    CHECK(in_words(75s) == "75 s");
    CHECK(in_words(12min) == "12 min");
    CHECK(in_words(24h) == "24 h");
}

TEST_CASE("a date is written in UTC, without fractions") {
    CHECK(date_in_words(0) == "1970-01-01 00:00:00 UTC");
    CHECK(date_in_words(1'795'729'876'999) == "2026-11-26 21:51:16 UTC");
}

TEST_CASE("without a log, a client that reaches no server writes one line in ten seconds") {
    const captured_clog clog;
    lonely_client c;
    c.env->advance(10s);
    REQUIRE(clog.lines().size() == 1);
    CHECK(clog.text() == "paddock: no server of 10.0.0.1:2181 answers: check the server list and "
                         "that the ensemble runs; still trying [unreachable]\n");
    c.env->advance(1min);
    CHECK(clog.lines().size() == 3); // after 10 and 30 s
    CHECK(clog.lines().back().find(" lines about this left out) [unreachable]") !=
          std::string::npos);
}

TEST_CASE("without a log, a name that cannot be resolved is one line in ten seconds") {
    const captured_clog clog;
    lonely_client c({}, {{"zk1", 2181, false}, {"zk2", 2181, false}});
    c.env->advance(9s);
    CHECK(c.env->asked.size() >= 8);
    CHECK(clog.text() == "paddock: cannot resolve zk1, zk2: check the server list and the name "
                         "service; still trying [unresolved_name]\n");
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
                     : line.starts_with("paddock: the server ") ? 'a'
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

TEST_CASE("connections that break again and again are no recovery until one is steady") {
    const captured_clog clog;
    lonely_client c;
    c.script->accepts = true;
    c.env->advance(2s);
    for (int n = 0; n < 12; ++n) {
        REQUIRE(c.core->state() == client_state::connected);
        c.script->hang_up();
        c.env->advance(400ms);
    }
    CHECK(clog.text().find(" answers after ") == std::string::npos);
    c.env->advance(1s);
    REQUIRE(clog.lines().size() == 2);
    CHECK(clog.lines()[0].starts_with("paddock: connections to the servers, the last one to "));
    CHECK(clog.lines()[1].starts_with("paddock: the server 10.0.0.1:2181 answers after "));
}

TEST_CASE("a name that cannot be resolved beside a connection is no outage") {
    const captured_clog clog;
    lonely_client c;
    c.script->accepts = true;
    c.env->advance(1s);
    REQUIRE(c.core->state() == client_state::connected);
    c.core->set_servers({{"10.0.0.1", 2181, true}, {"nowhere", 2181, false}});
    c.env->advance(1s);
    REQUIRE(clog.lines().size() == 1);
    CHECK(clog.lines()[0].starts_with("paddock: cannot resolve nowhere: "));
    c.script->hang_up();
    c.env->advance(2s);
    REQUIRE(c.core->state() == client_state::connected);
    CHECK(clog.text().find("answers after") == std::string::npos);
}

TEST_CASE("with a log nothing is written") {
    const captured_clog clog;
    std::vector<std::string> log;
    client_options options;
    options.log = [&](std::string_view what) { log.emplace_back(what); };
    lonely_client c(options);
    c.env->advance(1min);
    CHECK(log.size() == 3);
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
    CHECK(told == 2);
    REQUIRE(clog.lines().size() >= 2);
    CHECK(clog.lines()[0].starts_with("paddock: no server of 10.0.0.1:2181 answers: "));
    c.script->accepts = true;
    c.script->set_readable();
    c.env->advance(1s);
    CHECK(c.core->state() == client_state::connected);
}

TEST_CASE("a log that takes records gets level, code, text and the lock's path") {
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](const log_record& line) {
        told.push_back(std::string(name_of(line.level)) + '|' + std::string(name_of(line.code)) +
                       '|' + std::string(line.text) + '|' + std::string(line.path));
    });
    detail::trouble_log log(log_outside);
    log.write(log_code::self_wait, "stuck", start, "/a");
    log.write(log_code::unreachable, "away", start);
    CHECK(told ==
          std::vector<std::string>{"warning|self_wait|stuck|/a", "warning|unreachable|away|"});
}

TEST_CASE("control characters are escaped: a line is one line") {
    const captured_clog clog;
    detail::observers log_outside({}, {});
    detail::trouble_log log(log_outside);
    log.write(log_code::c_client, "refused\nby \x1b[31m10.0.0.1", start);
    CHECK(clog.text() == "paddock: refused\\x0aby \\x1b[31m10.0.0.1 [c_client]\n");
}

TEST_CASE("lines are limited for the user's log and for std::clog alike") {
    const captured_clog clog;
    std::vector<std::string> told;
    detail::observers by_user_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log by_user(by_user_outside);
    detail::observers by_default_outside({}, {});
    detail::trouble_log by_default(by_default_outside);
    for (int n = 0; n < 300; ++n) {
        by_user.write(log_code::c_client, "refused", start + n * 33ms);
        by_default.write(log_code::c_client, "refused", start + n * 33ms);
    }
    CHECK(told == std::vector<std::string>{"refused"});
    CHECK(clog.text() == "paddock: refused [c_client]\n");
}

TEST_CASE("the end of an outage says how long it was, and what was left out") {
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log log(log_outside);
    rules::outage away;
    log.write_recovery("a server answers", away, start);
    CHECK(told.empty());
    for (int n = 0; n < 30; ++n)
        away.trouble(start + n * 100ms,
                     log.write(log_code::unreachable, "away", start + n * 100ms));
    log.write_recovery("a server answers", away, start + 75s);
    log.write_recovery("a server answers", away, start + 76s);
    CHECK(told == std::vector<std::string>{
                      "away", "a server answers after 75 s (29 lines about this left out)"});
}
