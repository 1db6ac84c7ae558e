// Leading again and again, and the id of a leader.

#include "support/background_task.hpp"
#include "support/lock_harness.hpp"

#include <boost/asio/as_tuple.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

using no_work = asio::awaitable<void>;

} // namespace

CO_TEST("lead() leads again until the work says stop, each term with a greater token") {
    scene s(executor);
    const election votes(s.zk, s.path);
    std::vector<fencing_token> terms;
    const auto work = [&](guard& leadership) -> asio::awaitable<after_term> {
        CHECK(leadership.valid());
        CHECK(s.queue().size() == 1); // the one before has resigned
        terms.push_back(leadership.fencing_token());
        co_return terms.size() == 3 ? after_term::stop : after_term::campaign;
    };
    const auto begun = std::chrono::steady_clock::now();
    co_await votes.lead(work);
    REQUIRE(terms.size() == 3);
    CHECK(terms[0] < terms[1]);
    CHECK(terms[1] < terms[2]);
    CHECK(s.queue().empty());
    // Two pauses after short terms, each at least half of 100 and 200 ms.
    CHECK(std::chrono::steady_clock::now() - begun >= 150ms);
}

CO_TEST("another candidate leads during the pause after a failure, which the log reports") {
    client_options options;
    std::vector<std::string> log;
    options.log = [&](std::string_view line) { log.emplace_back(line); };
    scene s(executor, options);
    const election votes(s.zk, s.path), rival(s.zk, s.path);
    int terms = 0;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await votes.lead([&]() -> asio::awaitable<after_term> {
            if (++terms == 1) throw std::runtime_error("the disk is full");
            co_return after_term::stop;
        });
    });
    co_await eventually([&] { return terms == 1; });
    const guard other = co_await rival.campaign();
    CHECK(other.valid());
    co_await s.until_queue(2); // it campaigns again
    CHECK(terms == 1);
    CHECK_FALSE(t->end);
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("the disk is full") != std::string::npos);
    CHECK(log[0].find(s.path) != std::string::npos);
    const_cast<guard&>(other) = guard();
    co_await ended(t);
    CHECK_FALSE(t->error());
    CHECK(terms == 2);
}

CO_TEST("a lost leadership cancels the work, and lead() campaigns again; the log has the loss") {
    client_options options;
    std::vector<std::string> log;
    options.log = [&](std::string_view line) { log.emplace_back(line); };
    scene s(executor, options);
    const election votes(s.zk, s.path);
    int terms = 0;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await votes.lead([&]() -> asio::awaitable<after_term> {
            if (++terms == 2) co_return after_term::stop;
            co_await sleep_until_cancelled(executor);
            co_return after_term::stop; // never reached
        });
    });
    co_await eventually([&] { return terms == 1; });
    s.direct.remove(s.path + '/' + s.queue().at(0));
    co_await ended(t);
    CHECK_FALSE(t->error());
    CHECK(terms == 2);
    REQUIRE(log.size() == 1);
    CHECK(log[0].starts_with("the lock " + s.path + " is lost, held for "));
    CHECK(log[0].ends_with(": " + error_code(errc::node_deleted).message()));
}

CO_TEST("the log has the failure of a leader's work, in one line") {
    enum class failing { by_another_lock, in_two_lines, after_the_loss };
    for (const auto& round : test.each(std::vector{failing::by_another_lock, failing::in_two_lines,
                                                   failing::after_the_loss})) {
        const auto how = std::get<failing>(round);
        client_options options;
        std::vector<std::string> log;
        options.log = [&](std::string_view line) { log.emplace_back(line); };
        scene s(executor, options);
        const election votes(s.zk, s.path);
        int terms = 0;
        const auto t = spawn(executor, [&]() -> no_work {
            co_await votes.lead([&]() -> asio::awaitable<after_term> {
                if (++terms == 2) co_return after_term::stop;
                if (how == failing::by_another_lock) throw system_error(errc::lock_lost);
                if (how == failing::in_two_lines)
                    throw std::runtime_error("first line\nsecond line");
                try {
                    co_await sleep_until_cancelled(executor);
                } catch (const system_error&) {
                    throw std::runtime_error("cannot clean up");
                }
                co_return after_term::stop;
            });
        });
        if (how == failing::after_the_loss) {
            co_await eventually([&] { return terms == 1; });
            s.direct.remove(s.path + '/' + s.queue().at(0));
        }
        co_await ended(t);
        CHECK_FALSE(t->error());
        REQUIRE(log.size() == (how == failing::after_the_loss ? 2 : 1));
        CHECK(log.back().starts_with("the work of the leader at " + s.path + " failed: "));
        CHECK(log.back().ends_with("; it campaigns again"));
        const auto* const text = how == failing::in_two_lines     ? "first line\\x0asecond line"
                                 : how == failing::after_the_loss ? "cannot clean up"
                                                                  : "the lock is not held any more";
        CHECK(log.back().find(text) != std::string::npos);
    }
}

CO_TEST("a cancellation ends lead() while it campaigns, leads, or pauses") {
    scene s(executor);
    const election votes(s.zk, s.path);
    enum class during { campaign, term, pause };
    for (const auto& round :
         test.each(std::vector{during::campaign, during::term, during::pause})) {
        const auto when = std::get<during>(round);
        guard before;
        if (when == during::campaign) before = co_await votes.campaign();
        int terms = 0;
        const auto t = spawn(executor, [&]() -> no_work {
            co_await votes.lead([&]() -> no_work {
                ++terms;
                if (when == during::term) co_await sleep_until_cancelled(executor);
            });
        });
        if (when == during::campaign)
            co_await s.until_queue(2);
        else if (when == during::term)
            co_await eventually([&] { return terms == 1; });
        else
            co_await eventually([&] { return terms == 4; }); // its pause is 400 to 800 ms
        if (when == during::pause) co_await s.until_queue(0);
        t->stop.emit(asio::cancellation_type::terminal);
        co_await ended(t);
        CHECK(t->error() == asio::error::operation_aborted);
        if (before) co_await before.unlock();
        co_await s.until_queue(0);
    }
}

CO_TEST("lead() ends when the client closes, also in a pause") {
    scene s(executor);
    const election votes(s.zk, s.path);
    int terms = 0;
    const auto t = spawn(executor, [&]() -> no_work {
        co_await votes.lead([&]() -> no_work {
            ++terms;
            co_return;
        });
    });
    co_await eventually([&] { return terms == 2; });
    co_await s.until_queue(0);
    co_await s.zk.close();
    co_await ended(t);
    CHECK(t->error() == errc::closed);
}

CO_TEST("lead() without a callable is refused, and nothing is sent") {
    scene s(executor);
    co_await s.zk.connect();
    const auto before = s.requests().size();
    const election votes(s.zk, s.path);
    const std::function<no_work(guard&)> nothing;
    error_code why;
    try {
        co_await votes.lead(nothing);
    } catch (const system_error& e) {
        why = e.code();
    }
    CHECK(why == errc::bad_argument);
    CHECK(s.requests().size() == before);
}

CO_TEST("a leader changes its id while it leads") {
    scene s(executor);
    election_options options;
    options.id = "starting";
    const election votes(s.zk, s.path, options);
    guard leadership = co_await votes.campaign();
    auto now = co_await votes.leader();
    REQUIRE(now);
    CHECK(now->data == "starting");
    co_await votes.set_id(leadership, "ready");
    now = co_await votes.leader();
    REQUIRE(now);
    CHECK(now->data == "ready");
    CHECK(now->token == leadership.fencing_token());
    CHECK(leadership.valid());

    const auto refused = [&](const election& where, const guard& g,
                             std::string id) -> asio::awaitable<error_code> {
        const auto [why] =
            co_await where.set_id(g, std::move(id), asio::as_tuple(asio::use_awaitable));
        co_return why;
    };
    const election others(s.zk, s.path + "-other");
    const guard none;
    error_code why = co_await refused(others, leadership, "x");
    CHECK(why == errc::bad_argument);
    why = co_await refused(votes, none, "x");
    CHECK(why == errc::bad_argument);
    election gone(s.zk, s.path);
    const election kept(std::move(gone));
    why = co_await refused(gone, leadership, "x");
    CHECK(why == errc::bad_argument);
    why = co_await refused(votes, leadership, "\xff");
    CHECK(why == errc::bad_argument);
    why = co_await refused(votes, leadership, std::string(16 * 1024 + 1, 'x'));
    CHECK(why == errc::bad_argument);
    s.direct.remove(std::string(leadership.path()));
    why = co_await refused(votes, leadership, "late");
    CHECK(why == errc::lock_lost);
    CHECK_FALSE(leadership.valid());
}
