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

namespace paddock::detail {

template <typename Work>
using work_result = typename std::invoke_result_t<Work&>::value_type;

/// Runs the work and stores its result: co_spawn would need a default-constructible result, and
/// would enable terminal cancellation only.
template <typename Work, typename Result>
asio::awaitable<void> put_result(Work& work, std::optional<Result>& result) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    if constexpr (std::is_void_v<work_result<Work>>)
        co_await work();
    else
        result.emplace(co_await work());
}

/// What the coroutine that waits, the work, and the listener for the loss share.
struct run_signals {
    asio::cancellation_signal work, listener;
    bool lost = false;
};

/// Nests the exception that work threw after the loss: either the result of the cancellation, or an
/// error of its own.
[[noreturn]] inline void throw_lock_lost(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (...) {
        std::throw_with_nested(system_error(errc::lock_lost));
    }
}

/// Runs `work` until it ends, and cancels it when `lost` completes.
template <typename Work, typename Lost>
asio::awaitable<work_result<Work>> run_until_lost(Lost lost, Work work) {
    using result_type = work_result<Work>;
    constexpr bool no_result = std::is_void_v<result_type>;
    const auto executor = co_await asio::this_coro::executor;
    const auto signals = std::make_shared<run_signals>();
    std::optional<std::conditional_t<no_result, bool, result_type>> result;
    const auto listener = [signals](error_code cancelled, error_code) {
        if (cancelled) return;
        signals->lost = true;
        signals->work.emit(asio::cancellation_type::all);
    };
    const auto begin = [&](auto handler) {
        if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
            slot.assign([signals](asio::cancellation_type how) { signals->work.emit(how); });
        lost(asio::bind_executor(executor,
                                 asio::bind_cancellation_slot(signals->listener.slot(), listener)));
        asio::co_spawn(
            executor, [&] { return put_result(work, result); },
            asio::bind_cancellation_slot(signals->work.slot(), std::move(handler)));
    };
    asio::as_tuple_t<asio::use_awaitable_t<>> token;
    const auto [failure] =
        co_await asio::async_initiate<decltype(token), void(std::exception_ptr)>(begin, token);
    auto state = co_await asio::this_coro::cancellation_state;
    state.slot().clear();
    signals->listener.emit(asio::cancellation_type::all);
    if (failure && signals->lost) throw_lock_lost(failure);
    if (failure) std::rethrow_exception(failure);
    if constexpr (!no_result) co_return std::move(*result);
}

} // namespace paddock::detail
