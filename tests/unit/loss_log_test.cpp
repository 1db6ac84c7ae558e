// What the log says of holds that are lost.

#include "client/loss_log.hpp"
#include "client/trouble_log.hpp"
#include "support/fake_environment.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

/// The lines about holds that are lost at these times after the start.
std::vector<std::string> lines_about(const std::vector<std::chrono::milliseconds>& losses) {
    fake_environment env;
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log log(log_outside);
    detail::loss_log lost(env, log);
    auto passed = 0ms;
    int n = 0;
    for (const auto when : losses) {
        if (when > passed) env.advance(when - passed);
        passed = when;
        lost.add("/lock" + std::to_string(n++), errc::lease_lapsed, 12s);
    }
    env.advance(30s);
    return told;
}

} // namespace

TEST_CASE("a loss is one line: the lock, how long it was held, and why") {
    CHECK(lines_about({0ms}) ==
          std::vector<std::string>{"the lock /lock0 is lost, held for 12 s: " +
                                   make_error_code(errc::lease_lapsed).message()});
}

TEST_CASE("a loss that was noticed late says since when another client may have had the lock") {
    fake_environment env;
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log log(log_outside);
    detail::loss_log lost(env, log);
    lost.add("/a", errc::lease_lapsed, 10s, 5s);
    lost.add("/b", errc::lease_lapsed, 10s, 500ms);
    const auto why = make_error_code(errc::lease_lapsed).message();
    CHECK(told == std::vector<std::string>{
                      "the lock /a is lost, held for 10 s: " + why +
                          "; noticed 5.0 s later, and since then another client may have held it",
                      "the lock /b is lost, held for 10 s: " + why});
}

TEST_CASE("of many losses at once the first three are named, and the others counted") {
    const auto lines = lines_about(std::vector(1000, 0ms));
    REQUIRE(lines.size() == 4);
    CHECK(lines[2].starts_with("the lock /lock2 is lost"));
    CHECK(lines[3] == "997 other locks are lost, too, the last one /lock999: " +
                          make_error_code(errc::lease_lapsed).message());
}

TEST_CASE("losses that go on are counted once in ten seconds") {
    std::vector<std::chrono::milliseconds> all;
    for (int n = 0; n < 200; ++n)
        all.push_back(n * 50ms); // ten seconds
    const auto lines = lines_about(all);
    CHECK(lines.size() <= 6);
    std::size_t counted = 0;
    for (const auto& line : lines)
        counted += line.starts_with("the lock ") ? 1 : std::stoul(line);
    CHECK(counted == 200);
}

TEST_CASE("a loss that a stall of the event loop has caused says so, whatever is left out") {
    fake_environment env;
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log log(log_outside);
    detail::loss_log lost(env, log);
    const std::string why = ": the program's event loop stood still, so nothing renewed it";
    for (int n = 0; n < 3; ++n) {
        env.advance(8s);
        lost.stalled(7s);
        lost.add("/a", errc::lease_lapsed, 8s);
    }
    env.advance(8s);
    lost.add("/a", errc::lease_lapsed, 8s);
    REQUIRE(told.size() == 6);
    CHECK(told[0].starts_with("the program's event loop stood still for at least 7.0 s, "));
    for (const std::size_t n : {1, 2})
        CHECK(told[n] == "the lock /a is lost, held for 8.0 s" + why);
    CHECK(told[5] ==
          "the lock /a is lost, held for 8.0 s: " + make_error_code(errc::lease_lapsed).message());
}

TEST_CASE("what is left to say of many losses is dropped when the process ends") {
    fake_environment env;
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log log(log_outside);
    detail::loss_log lost(env, log);
    for (int n = 0; n < 5; ++n)
        lost.add("/a", errc::lease_lapsed, 1s);
    lost.drop();
    lost.close();
    env.advance(30s);
    CHECK(told.size() == 3);
}

TEST_CASE("holds that programs take from each other again and again are one line in ten seconds") {
    fake_environment env;
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](std::string_view what) { told.emplace_back(what); });
    detail::trouble_log log(log_outside);
    detail::loss_log lost(env, log);
    for (int n = 0; n < 500; ++n) {
        lost.add("/a", errc::revoked, 10ms);
        env.advance(10ms);
    }
    CHECK(told.size() == 1);
}

TEST_CASE("a hold that was given back on request is no loss") {
    fake_environment env;
    std::vector<std::string> told;
    detail::observers log_outside({}, [&](const log_record& line) {
        CHECK(line.level == log_level::info);
        CHECK(line.code == log_code::lock_revoked);
        CHECK(line.path == "/a");
        told.emplace_back(line.text);
    });
    detail::trouble_log log(log_outside);
    detail::loss_log lost(env, log);
    lost.add("/a", errc::revoked, 3s);
    CHECK(told ==
          std::vector<std::string>{
              "the lock /a was ended, held for 3.0 s, because another client asked for it"});
}
