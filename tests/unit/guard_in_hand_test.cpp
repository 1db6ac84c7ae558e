// A guard for the unit tests of users.

#include "support/co_test.hpp"

#include <paddock/testing.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <optional>
#include <thread>
#include <utility>

using namespace paddock;
using namespace paddock::test;
using testing::guard_in_hand;

namespace {

/// What a user might have: writes what it got, unless the lock is lost.
asio::awaitable<bool> save(guard& lock, std::string text) {
    if (!lock.valid()) co_return false;
    std::vector<operation> steps{op::create{"/data/" + to_string(lock.fencing_token()), text}};
    co_await lock.transaction(std::move(steps));
    co_return true;
}

asio::awaitable<void> until_ended(asio::steady_timer& never) {
    co_await never.async_wait(asio::use_awaitable);
}

constexpr errc losses[] = {errc::session_expired, errc::node_deleted, errc::lease_lapsed,
                           errc::revoked};

} // namespace

CO_TEST("a function that takes a guard is tested without an ensemble") {
    guard_in_hand hand(executor, "/locks/a/lock-0000000007", {42, 7});
    CHECK(hand.get().valid());
    CHECK(hand.get().path() == "/locks/a/lock-0000000007");
    const bool saved = co_await save(hand.get(), "plums");
    CHECK(saved);
    REQUIRE(hand.steps().size() == 1);
    CHECK(std::get<op::create>(hand.steps()[0]).data == "plums");
    hand.lose();
    const bool again = co_await save(hand.get(), "pears");
    CHECK_FALSE(again);
    CHECK(hand.steps().size() == 1);
    CHECK_FALSE(hand.release_seen());
}

CO_TEST("a guard in hand is lost for the reason that the test gives, at once") {
    for (const error_code why : losses) {
        CAPTURE(why.message());
        guard_in_hand hand(executor);
        hand.lose(why);
        CHECK_FALSE(hand.get().valid());
        const auto reason = co_await hand.get().lost();
        CHECK(reason == why);
        error_code refused;
        co_await hand.get().verify(asio::redirect_error(asio::use_awaitable, refused));
        CHECK(refused == errc::lock_lost);
        std::vector<operation> none;
        co_await hand.get().transaction(none, asio::redirect_error(asio::use_awaitable, refused));
        CHECK(refused == errc::lock_lost);
        hand.lose(errc::closed);
        const auto first = co_await hand.get().lost();
        CHECK(first == why);
    }
    guard_in_hand hand(executor);
    CHECK_THROWS_AS(hand.lose(error_code()), bad_argument_error);
    CHECK_THROWS_AS(hand.lose(errc::released), bad_argument_error);
    CHECK(hand.get().valid());
    CHECK_THROWS_AS(guard_in_hand{asio::any_io_executor()}, bad_argument_error);
}

CO_TEST("a guard in hand cancels work that loses it, and tells of requests to release it") {
    guard_in_hand hand(executor);
    hand.request_revoke();
    co_await hand.get().revoke_requested();
    CHECK(hand.get().valid());
    asio::steady_timer never(executor, 1h);
    const auto work = [&] {
        hand.lose(errc::node_deleted);
        return until_ended(never);
    };
    std::optional<error_code> reason;
    try {
        co_await hand.get().run(work);
    } catch (const lock_lost_error& lost) {
        reason = lost.reason();
    }
    CHECK(reason == errc::node_deleted);
}

CO_TEST("a test sees the release of a guard in hand, by unlock() or by the destructor") {
    {
        guard_in_hand hand(executor);
        co_await hand.get().unlock();
        CHECK(hand.release_seen());
        CHECK_FALSE(hand.get());
    }
    guard_in_hand hand(executor);
    {
        const guard taken = std::move(hand.get());
        CHECK(taken.valid());
        co_await taken.verify();
        CHECK_FALSE(hand.release_seen());
    }
    co_await eventually([&] { return hand.release_seen(); });
}

CO_TEST("a guard in hand that is released and then lost has one of the two reasons") {
    guard_in_hand hand(executor);
    error_code reason;
    hand.get().lost([&](error_code, error_code why) { reason = why; });
    co_await asio::post(executor, asio::use_awaitable);
    hand.get().unlock([](error_code) {});
    hand.lose(errc::revoked);
    co_await eventually([&] { return reason.failed(); });
    CHECK(reason == errc::revoked);
}

TEST_CASE("a guard in hand that was moved from says so") {
    asio::io_context io;
    guard_in_hand hand(io.get_executor());
    const auto other = std::move(hand);
    CHECK_FALSE(hand.release_seen());
    CHECK(hand.steps().empty());
    CHECK_THROWS_AS(hand.lose(), bad_argument_error);
    CHECK_THROWS_AS(hand.request_revoke(), bad_argument_error);
    CHECK_FALSE(hand.get());
}

TEST_CASE("a guard in hand keeps no event loop running") {
    asio::io_context io;
    guard_in_hand hand(io.get_executor());
    bool saved = false;
    asio::co_spawn(io, save(hand.get(), "plums"),
                   [&](std::exception_ptr, bool done) { saved = done; });
    io.run();
    CHECK(saved);
    hand.get() = guard();
    io.restart();
    io.run();
    CHECK(hand.release_seen());
}

TEST_CASE("a guard in hand may outlive its execution context, and be lost from any thread") {
    std::optional<guard_in_hand> hand;
    {
        asio::io_context io;
        hand.emplace(io.get_executor());
        std::thread other([&] { hand->lose(errc::node_deleted); });
        other.join();
        CHECK_FALSE(hand->get().valid());
        io.run();
        CHECK_FALSE(hand->release_seen());
    }
    hand->lose();
    hand->request_revoke();
    CHECK_FALSE(hand->get().valid());
    CHECK_FALSE(hand->release_seen());
    auto moved = std::move(*hand);
    hand.reset();
    CHECK_FALSE(moved.get().valid());
}
