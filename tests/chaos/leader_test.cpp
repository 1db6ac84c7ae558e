// An old leader that is cut off from its followers, and has not noticed: its client must have lost
// its hold before the new leader grants the lock to another client.

#include "measured.hpp"
#include "support/lock_harness.hpp"
#include "support/zk_ensemble.hpp"

#include <doctest/doctest.h>

#include <iomanip>
#include <sstream>

using namespace paddock;
using namespace paddock::test;

namespace {

client_options leased(std::chrono::milliseconds timeout) {
    client_options options;
    options.session_timeout = timeout;
    options.lease.tick_time = timeout / 5;
    return options;
}

void report(const char* how, boot_clock::duration timeout, boot_clock::duration over,
            boot_clock::duration granted) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << how << ", T = " << in_seconds(timeout)
         << " s: the guard is over at +" << in_seconds(over) << " s, the next is granted at +"
         << in_seconds(granted) << " s: " << in_seconds(granted - over) << " s between";
    MESSAGE(text.str());
}

/// A holder at the leader and a waiter at a follower; neither can reach another server.
asio::awaitable<void> cut_off_leader(asio::any_io_executor executor, std::chrono::milliseconds T,
                                     severance how, const char* called) {
    zk_ensemble ensemble({.tick_time = T / 5});
    const auto old = ensemble.await_leader();
    client holder(executor, ensemble.server(old).address(), leased(T));
    client waiter(executor, ensemble.server((old + 1) % 3).address(), leased(T));
    mutex here(holder, "/lock"), there(waiter, "/lock");
    const guard hold = co_await here.lock();
    REQUIRE(holder.session_timeout() == T);
    boot_clock::time_point granted_at;
    const auto next = ask(there, [&] { granted_at = boot_clock::now(); });
    const auto left = co_await validity_left(hold, 2 * T);
    MESSAGE("T = " << in_seconds(T) << " s: at least " << 100 * left.front() / T
                   << " % of it are left, and half of the time " << 100 * left[left.size() / 2] / T
                   << " %");
    CHECK(left[left.size() / 2] > T / 2); // a busy machine answers late now and then
    CHECK_FALSE(next->done());

    const auto begin = boot_clock::now();
    ensemble.cut_off(old, how);
    const auto over = co_await end_of_validity(hold);
    CHECK_FALSE(next->done());
    CHECK(boot_clock::now() >= over);
    // Servers need more than one election at times, each up to initLimit ticks.
    co_await eventually([&] { return next->done(); }, 60s);
    CHECK_MESSAGE(!next->error, next->error.message());
    CHECK(held(next).valid());
    CHECK(held(next).fencing_token() > hold.fencing_token());
    CHECK(granted_at > over);
    report(called, T, over - begin, granted_at - begin);
}

} // namespace

CO_TEST("a cut-off leader's client is out before the next is in, T = 4 s") {
    test.time_limit(100s);
    co_await cut_off_leader(executor, 4s, severance::half, "the followers are reset");
}

CO_TEST("a cut-off leader's client is out before the next is in, T = 10 s") {
    test.time_limit(120s);
    co_await cut_off_leader(executor, 10s, severance::half, "the followers are reset");
}

CO_TEST("when leader and followers lose each other in silence, the old holder is out first") {
    test.time_limit(100s);
    co_await cut_off_leader(executor, 4s, severance::silence, "silence");
}

CO_TEST("when the leader's connections are reset, the old holder is out first") {
    test.time_limit(100s);
    co_await cut_off_leader(executor, 4s, severance::reset, "all are reset");
}
