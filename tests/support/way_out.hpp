#pragma once

#include "lock_harness.hpp"

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

namespace paddock::test {

/// How a waiter leaves.
enum class way_out { total, terminal, time_limit };
inline constexpr way_out ways_out[] = {way_out::total, way_out::terminal, way_out::time_limit};
inline constexpr auto brief_limit = 200ms; ///< of waiters that leave by it

/// Waits for the state in which a waiter is to leave. A busy machine can take longer to get there
/// than a time limit lasts: then that waiter leaves earlier, which must do no harm either.
template <class Predicate>
asio::awaitable<void> before_leaving(lock_call a, way_out how, Predicate reached) {
    const bool may_be_gone = how == way_out::time_limit;
    co_await eventually([&] { return (may_be_gone && a->done()) || reached(); });
    if (!may_be_gone) CHECK_FALSE(a->done());
}

/// Makes the call leave, and waits for its completion. A call that leaves by its time limit was
/// started with one.
inline asio::awaitable<void> leave(lock_call a, way_out how, error_code at_limit = {}) {
    if (how == way_out::total) a->cancel(asio::cancellation_type::total);
    if (how == way_out::terminal) a->cancel(asio::cancellation_type::terminal);
    co_await finished(a);
    CHECK_FALSE(held(a));
    if (how == way_out::time_limit) {
        CHECK_MESSAGE(a->error == at_limit, a->error.message());
        CHECK(a->ended - a->begun >= brief_limit); // until then it has waited
    } else {
        CHECK(a->error == asio::error::operation_aborted);
    }
}

} // namespace paddock::test
