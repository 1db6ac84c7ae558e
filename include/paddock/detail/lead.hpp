#pragma once

#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace paddock {

/// What election::lead() does after a term.
enum class after_term { campaign, stop };

namespace detail {

/// Determines the pauses between the terms of one lead().
class lead_pace;
using pace_ptr = std::shared_ptr<lead_pace>;
[[gnu::visibility("default")]] void begin_term(const pace_ptr& pace, const guard& leadership);
/// Waits for the pause after the term. `failure` is the exception that ended its work, if any.
[[gnu::visibility("default")]] asio::awaitable<void> end_term(const pace_ptr& pace,
                                                              std::exception_ptr failure);

/// One term of leadership: runs the work, and resigns.
template <typename Work>
asio::awaitable<after_term> lead_once(guard leadership, Work& work) {
    using result = with_result<Work, guard>;
    if constexpr (std::is_void_v<result>) {
        co_await run_and_release(std::move(leadership), work);
        co_return after_term::campaign;
    } else {
        static_assert(std::is_same_v<result, after_term>,
                      "the work of lead() returns nothing or an after_term");
        co_return co_await run_and_release(std::move(leadership), work);
    }
}

template <typename Election, typename Work>
asio::awaitable<void> lead(Election votes, pace_ptr pace, Work work) {
    check_work(work);
    for (;;) {
        guard leadership = co_await votes.campaign();
        begin_term(pace, leadership);
        std::exception_ptr failure;
        auto next = after_term::campaign;
        try {
            next = co_await lead_once(std::move(leadership), work);
        } catch (...) {
            failure = std::current_exception();
        }
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) {
            if (failure) std::rethrow_exception(failure);
            throw system_error(asio::error::operation_aborted);
        }
        if (next == after_term::stop) co_return;
        co_await end_term(pace, failure);
    }
}

} // namespace detail
} // namespace paddock
