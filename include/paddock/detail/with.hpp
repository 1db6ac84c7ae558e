#pragma once

#include <paddock/detail/run.hpp>
#include <paddock/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace paddock::detail {

/// Calls `work(held)`, or `work()` if it takes no argument.
template <typename Work, typename Held>
auto call_with(Work& work, Held& held) {
    if constexpr (std::is_invocable_v<Work&, Held&>)
        return work(held);
    else
        return work();
}

/// The result of the coroutine that such a call starts.
template <typename Work, typename Held>
using with_result =
    typename std::conditional_t<std::is_invocable_v<Work&, Held&>, result_of_work<Work, Held&>,
                                result_of_work<Work>>::type;

/// The result of `try_with`: whether the work ran, and its result if it has one.
template <typename Work, typename Held>
using try_with_result = std::conditional_t<std::is_void_v<with_result<Work, Held>>, bool,
                                           std::optional<with_result<Work, Held>>>;

template <typename Held, typename Work>
asio::awaitable<with_result<Work, Held>> run_and_release(Held held, Work& work) {
    using result_type = with_result<Work, Held>;
    constexpr bool no_result = std::is_void_v<result_type>;
    std::optional<std::conditional_t<no_result, bool, result_type>> result;
    std::exception_ptr failure;
    try {
        auto running = run_until_lost([&](auto token) { return held.lost(std::move(token)); },
                                      [&] { return call_with(work, held); }, on_release::go_on);
        if constexpr (no_result)
            co_await std::move(running);
        else
            result.emplace(co_await std::move(running));
    } catch (...) {
        failure = std::current_exception();
    }
    // Also after a cancellation that ended the work. The result of the work counts, whatever the
    // release reports.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    asio::as_tuple_t<asio::use_awaitable_t<>> token;
    if (held) co_await held.unlock(token);
    co_await asio::this_coro::throw_if_cancelled(throws);
    if (failure) std::rethrow_exception(failure);
    if constexpr (!no_result) co_return std::move(*result);
}

/// `lock()` starts to wait for a Held.
template <typename Held, typename Lock, typename Work>
asio::awaitable<with_result<Work, Held>> with(Lock lock, Work work) {
    check_work(work);
    Held held = co_await lock();
    co_return co_await run_and_release(std::move(held), work);
}

/// As with(), but an empty Held means that the work does not run.
template <typename Held, typename Lock, typename Work>
asio::awaitable<try_with_result<Work, Held>> try_with(Lock lock, Work work) {
    check_work(work);
    Held held = co_await lock();
    if (!held) co_return try_with_result<Work, Held>();
    if constexpr (std::is_void_v<with_result<Work, Held>>) {
        co_await run_and_release(std::move(held), work);
        co_return true;
    } else {
        co_return co_await run_and_release(std::move(held), work);
    }
}

} // namespace paddock::detail
