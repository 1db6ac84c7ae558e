// The rules of a simple lock, step by step.

#include "rules/claims.hpp"
#include "rules/simple.hpp"
#include "unit/taken.hpp"

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

using namespace paddock;
using rules::outcome;
namespace simple_act = rules::simple_act;

namespace {

/// Takes facts, and returns the wanted actions in words. The first race has the id 1.
struct stepped {
    explicit stepped(rules::simple_terms how = {}) : lock(ids, how) {
        ids.begin(1);
        lock.connected();
    }
    std::string actions() {
        std::string text;
        for (const auto& action : test::taken(lock))
            text += (text.empty() ? "" : ", ") +
                    std::visit([](const auto& a) { return words(a); }, action);
        return text;
    }
    template <typename What, typename... Args>
    std::string say(What what, Args... args) {
        (lock.*what)(args...);
        return actions();
    }
    std::string enter(bool immediate = false) {
        return say(&rules::simple::join, ++callers, immediate);
    }
    /// The n-th read shows the node of the present race, or another holder's.
    std::string sees(std::uint64_t n, bool ours, bool watched = true) {
        return say(&rules::simple::looked, n,
                   rules::simple::looked_answer{
                       .result = outcome::done, .own_data = ours, .czxid = 7, .watched = watched});
    }
    std::string sees(std::uint64_t n, outcome nothing) {
        return say(&rules::simple::looked, n, rules::simple::looked_answer{.result = nothing});
    }
    /// The first caller races; `made`: whether the race made the nodes.
    void raced(outcome made, zk_errc code = {}) {
        enter();
        say(&rules::simple::reserved);
        say(&rules::simple::raced, 1, made, static_cast<int>(code));
    }

    static std::string words(const simple_act::glance&) { return "glance"; }
    static std::string words(const simple_act::reserve&) { return "reserve"; }
    static std::string words(const simple_act::unreserve&) { return "unreserve"; }
    static std::string words(const simple_act::race&) { return "race"; }
    static std::string words(const simple_act::look&) { return "look"; }
    static std::string words(const simple_act::forget&) { return "forget"; }
    static std::string words(const simple_act::make_parents&) { return "make parents"; }
    static std::string words(const simple_act::sweep& a) {
        return a.both ? "sweep" : "sweep alone";
    }
    static std::string words(const simple_act::request_revoke&) { return "revoke"; }
    static std::string words(const simple_act::restore_data& a) {
        return "restore " + std::to_string(a.id) + " at " + std::to_string(a.version) + " since " +
               std::to_string(a.requested);
    }
    static std::string words(const simple_act::taint&) { return "taint"; }
    static std::string words(const simple_act::pause&) { return "pause"; }
    static std::string words(const simple_act::await_lease&) { return "await lease"; }
    static std::string words(const simple_act::grant& a) {
        return "grant " + std::to_string(a.key);
    }
    static std::string words(const simple_act::give_up&) { return "give up"; }
    static std::string words(const simple_act::fail&) { return "fail"; }
    static std::string words(const simple_act::lose&) { return "lose"; }

    rules::claims ids;
    rules::simple lock;
    rules::caller_key callers = 0;
};

} // namespace

TEST_CASE("a race whose look was not sent may have been executed") {
    stepped one;
    one.enter();
    CHECK(one.say(&rules::simple::reserved) == "race, look");
    one.say(&rules::simple::disconnected);
    CHECK(one.sees(1, outcome::not_sent) == ""); // before the answer to the race
    CHECK(one.say(&rules::simple::raced, 1, outcome::lost, 0) == "");
    SUBCASE("and was") {
        CHECK(one.say(&rules::simple::connected) == "look");
        CHECK(one.sees(2, true) == "grant 1");
    }
    SUBCASE("and was not") {
        CHECK(one.say(&rules::simple::connected) == "look");
        CHECK(one.sees(2, outcome::missing) == "sweep, taint, reserve");
    }
    SUBCASE("and the caller leaves") { CHECK(one.say(&rules::simple::quit, 1) == "sweep, taint"); }
}

TEST_CASE("a call that never fits into the budget fails, and the next call may try again") {
    stepped one;
    CHECK(one.enter() == "reserve");
    CHECK(one.enter() == "");
    CHECK(one.say(&rules::simple::too_large) == "fail, fail");
    CHECK(one.enter() == "reserve");
}

TEST_CASE("a free lock is taken by a race and a read behind it") {
    stepped one;
    CHECK(one.enter() == "reserve");
    CHECK(one.say(&rules::simple::reserved) == "race, look");
    CHECK(one.say(&rules::simple::raced, 1, outcome::done, 0) == "");
    CHECK(one.sees(1, true) == "grant 1");
    CHECK(one.say(&rules::simple::release, 1) == "sweep");
}

TEST_CASE("another holder's node is watched, and its end begins a race") {
    stepped one;
    one.raced(outcome::refused, zk_errc::node_exists);
    CHECK(one.sees(1, false) == "unreserve");
    CHECK(one.say(&rules::simple::changed, false) == "look");
    CHECK(one.sees(2, false, false) == "pause"); // no room for a watch
    CHECK(one.say(&rules::simple::resume) == "look");
    CHECK(one.sees(3, false) == "");
    CHECK(one.say(&rules::simple::changed, true) == "reserve");
}

TEST_CASE("a race whose answer was lost is found by its marker, or deleted and run again") {
    for (const bool ours : {true, false}) {
        stepped one;
        one.raced(outcome::lost);
        CHECK(one.sees(1, outcome::lost) == "");
        one.say(&rules::simple::disconnected);
        CHECK(one.say(&rules::simple::connected) == "look");
        CHECK(one.sees(2, ours) == (ours ? "grant 1" : "sweep, taint"));
    }
}

TEST_CASE("a request found unsent only on the next connection is repeated") {
    stepped one;
    SUBCASE("for the nodes") {
        one.raced(outcome::not_sent);
        CHECK(one.sees(1, outcome::not_sent) == "unreserve, reserve");
    }
    SUBCASE("for the read that settles them") {
        one.raced(outcome::done);
        CHECK(one.sees(1, outcome::not_sent) == "pause");
        CHECK(one.say(&rules::simple::resume) == "look");
        CHECK(one.sees(2, true) == "grant 1");
    }
    SUBCASE("for another holder's node") {
        one.raced(outcome::refused, zk_errc::node_exists);
        one.sees(1, false);
        CHECK(one.say(&rules::simple::changed, false) == "look");
        CHECK(one.sees(2, outcome::not_sent) == "pause");
        CHECK(one.say(&rules::simple::resume) == "look");
    }
    SUBCASE("for the directory") {
        one.raced(outcome::missing);
        CHECK(one.sees(1, outcome::missing) == "unreserve, make parents");
        CHECK(one.say(&rules::simple::parents_made, outcome::not_sent, 0) == "pause");
        CHECK(one.say(&rules::simple::resume) == "reserve");
    }
}

TEST_CASE("on a short lease the node is read again when the lease is renewed") {
    for (const bool still : {true, false}) {
        stepped one;
        one.raced(outcome::done);
        one.lock.lease(false);
        CHECK(one.sees(1, true) == "await lease");
        one.lock.lease(true);
        CHECK(one.say(&rules::simple::lease_renewed) == "look");
        if (still)
            CHECK(one.sees(2, true) == "grant 1");
        else
            CHECK(one.sees(2, outcome::missing).find("grant") == std::string::npos);
    }
}

TEST_CASE("when the lock's node was deleted by another client, the marker is deleted alone") {
    stepped one;
    one.raced(outcome::done);
    one.sees(1, true);
    CHECK(one.say(&rules::simple::changed, true) == "sweep alone, lose");
    CHECK(one.say(&rules::simple::release, 1) == "");
}

TEST_CASE("after a release a waiter does not race before the delete is done") {
    stepped one;
    one.raced(outcome::done);
    one.sees(1, true);
    one.enter();
    CHECK(one.say(&rules::simple::release, 1) == "sweep");
    CHECK(one.say(&rules::simple::changed, true) == "");
    CHECK(one.say(&rules::simple::swept, 1) == "reserve");
}

TEST_CASE("an immediate caller reads first, and does not wait for a connection") {
    stepped one;
    CHECK(one.enter(true) == "glance");
    CHECK(one.say(&rules::simple::glanced, 1, outcome::done, 0) == "give up");
    CHECK(one.enter(true) == "glance");
    CHECK(one.say(&rules::simple::glanced, 2, outcome::missing, 0) == "reserve");
    CHECK(one.say(&rules::simple::disconnected) == "fail, unreserve");
    CHECK(one.enter(true) == "fail");
}

TEST_CASE("a request to release is told once for each hold, and the node's data is restored") {
    stepped one;
    one.raced(outcome::done);
    one.sees(1, true);
    const auto shows = [&](std::uint64_t n, std::optional<rules::revoke_request> request) {
        return one.say(
            &rules::simple::looked, n,
            rules::simple::looked_answer{.result = outcome::done, .czxid = 7, .revoke = request});
    };
    CHECK(one.say(&rules::simple::changed, false) == "look");
    CHECK(shows(2, {{1, 500, 501}}) == "revoke, restore 1 at 1 since 500");
    CHECK(one.say(&rules::simple::changed, false) == "look"); // by the client's own write
    CHECK(shows(3, {}) == "");
    CHECK(one.say(&rules::simple::changed, false) == "look");
    CHECK(shows(4, {{3, 900, 901}}) == "restore 1 at 3 since 500");
    one.say(&rules::simple::release, 1);
    one.say(&rules::simple::swept, 1);
    one.enter();
    one.say(&rules::simple::reserved);
    one.say(&rules::simple::raced, 2, outcome::done, 0);
    CHECK(one.sees(5, true) == "grant 2");
    CHECK(one.say(&rules::simple::changed, false) == "look");
    CHECK(shows(6, {{1, 1000, 1001}}) == "revoke, restore 2 at 1 since 1000");
}
