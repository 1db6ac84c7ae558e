#pragma once

#include <paddock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace paddock::detail {

template <typename Work>
using work_result = typename std::invoke_result_t<Work&>::value_type;

/// The work, with its result, if it has one, put where co_spawn does not have to make an empty one
/// first. A spawned coroutine by itself would heed terminal cancellation only, whatever its parent
/// lets through.
template <typename Work, typename Result>
asio::awaitable<void> put_result(Work& work, std::optional<Result>& result) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    if constexpr (std::is_void_v<work_result<Work>>)
        co_await work();
    else
        result.emplace(co_await work());
}

/// Runs `work` until it ends, and cancels it when `lost` completes with a reason.
template <typename Work, typename Lost>
asio::awaitable<work_result<Work>> run_until_lost(Lost lost, Work work) {
    using result_type = work_result<Work>;
    constexpr bool no_result = std::is_void_v<result_type>;
    const auto executor = co_await asio::this_coro::executor;
    std::optional<std::conditional_t<no_result, bool, result_type>> result;
    auto ends = [&] { return put_result(work, result); };
    auto first = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, std::move(ends), asio::deferred),
        lost(asio::bind_executor(executor, asio::deferred)));
    const auto [order, failure, reason] = co_await std::move(first).async_wait(
        asio::experimental::wait_for_one(), asio::use_awaitable);
    if (order[0] == 1 && reason != asio::error::operation_aborted)
        throw system_error(errc::lock_lost);
    if (failure) std::rethrow_exception(failure);
    if constexpr (!no_result) co_return std::move(*result);
}

} // namespace paddock::detail
