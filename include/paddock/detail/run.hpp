#pragma once

#include <paddock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace paddock::detail {

template <typename Returned>
struct awaited {
    static constexpr bool is_coroutine = false;
    using type = void;
};
template <typename Result>
struct awaited<asio::awaitable<Result>> {
    static constexpr bool is_coroutine = true;
    using type = Result;
};

/// What the coroutine `work(arguments…)` returns.
template <typename Work, typename... Arguments>
struct result_of_work {
    static_assert(std::is_invocable_v<Work&, Arguments...>,
                  "work takes no argument (or, in with(), a reference to the guard)");
    using returned = typename std::conditional_t<std::is_invocable_v<Work&, Arguments...>,
                                                 std::invoke_result<Work&, Arguments...>,
                                                 std::type_identity<asio::awaitable<void>>>::type;
    static_assert(awaited<returned>::is_coroutine,
                  "work is a coroutine: it returns boost::asio::awaitable<T>");
    using type = typename awaited<returned>::type;
};

template <typename Work>
using work_result = typename result_of_work<Work>::type;

/// Refuses an empty function before anything is sent.
template <typename Work>
void check_work(const Work& work) {
    constexpr bool may_be_empty = std::is_pointer_v<Work> || requires {
        typename Work::result_type;
        !work;
    };
    if constexpr (may_be_empty)
        if (!work) throw bad_argument_error("work is an empty function");
}

/// Where a result is stored; `void` has none.
template <typename Result>
using stored = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;

/// Stores the result: co_spawn would need a default-constructible one, and would enable terminal
/// cancellation only.
template <typename Result>
asio::awaitable<void> store_result(asio::awaitable<Result> from,
                                   std::optional<stored<Result>>& to) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    if constexpr (std::is_void_v<Result>) {
        co_await std::move(from);
        to.emplace();
    } else {
        to.emplace(co_await std::move(from));
    }
}

/// What the coroutine that waits, the work, and the listener for the loss share.
struct run_signals {
    asio::cancellation_signal work, listener;
    bool lost = false;
    error_code reason; ///< of the loss
};

/// Nests the exception that work threw after the loss: either the result of the cancellation, or an
/// error of its own.
[[noreturn]] inline void throw_lock_lost(const std::exception_ptr& failure, error_code reason) {
    try {
        std::rethrow_exception(failure);
    } catch (...) {
        std::throw_with_nested(lock_lost_error(reason));
    }
}

/// What run() returns for an empty guard.
template <typename Work>
asio::awaitable<work_result<Work>> refuse_work() {
    throw bad_argument_error("guard is empty: there is no hold to work under");
    co_await asio::this_coro::executor; // makes this a coroutine
}

/// Whether a release of the lock while the work runs ends the work as a loss does.
enum class on_release { cancel_work, go_on };

/// Does nothing after the work of run_until_lost().
struct no_epilogue {
    void operator()(error_code) const noexcept {}
};

/// Runs `work` until it ends, and cancels it when `lost` completes. Calls `ended`, after the work
/// has ended, with the reason of the loss if there was one.
template <typename Work, typename Lost, typename Ended = no_epilogue>
asio::awaitable<work_result<Work>> run_until_lost(Lost lost, Work work,
                                                  on_release released = on_release::cancel_work,
                                                  Ended ended = {}) {
    using result_type = work_result<Work>;
    check_work(work);
    const auto executor = co_await asio::this_coro::executor;
    const auto signals = std::make_shared<run_signals>();
    std::optional<stored<result_type>> result;
    const auto listener = [signals, released](error_code cancelled, error_code reason) {
        if (cancelled || (released == on_release::go_on && reason == errc::released)) return;
        signals->lost = true;
        signals->reason = reason;
        signals->work.emit(asio::cancellation_type::all);
    };
    const auto begin = [&](auto handler) {
        if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
            slot.assign([signals](asio::cancellation_type how) { signals->work.emit(how); });
        lost(asio::bind_executor(executor,
                                 asio::bind_cancellation_slot(signals->listener.slot(), listener)));
        asio::co_spawn(
            executor, [&] { return store_result(work(), result); },
            asio::bind_cancellation_slot(signals->work.slot(), std::move(handler)));
    };
    asio::as_tuple_t<asio::use_awaitable_t<>> token;
    const auto [failure] =
        co_await asio::async_initiate<decltype(token), void(std::exception_ptr)>(begin, token);
    auto state = co_await asio::this_coro::cancellation_state;
    state.slot().clear();
    signals->listener.emit(asio::cancellation_type::all);
    ended(signals->reason);
    if (failure && signals->lost) throw_lock_lost(failure, signals->reason);
    if (failure) std::rethrow_exception(failure);
    if constexpr (!std::is_void_v<result_type>) co_return std::move(*result);
}

} // namespace paddock::detail
