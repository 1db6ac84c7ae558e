#pragma once

#include <paddock/detail/run.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>
#include <utility>
#include <variant>

namespace paddock {

/// Awaits two coroutines at once, and ends as the first of them does: returns its result, in the
/// variant's place for it, or throws what it has thrown. The other one is cancelled and waited for;
/// its result, or what it throws, is dropped. So a caller leaves the queue of a lock when something
/// else has happened:
///
///     const auto first = co_await first_of(articles.lock("plums"), hung_up(socket));
///     if (first.index() == 1) co_return; // the client has gone
///
/// Asio's `||` (asio::experimental::awaitable_operators) waits for the first *success* instead:
/// when `lock()` fails, with `no_auth` for example, `lock() || hung_up()` goes on to wait for the
/// client. For a time limit use `try_lock_for`.
///
/// A guard that is granted although the other one was first is dropped, and so releases itself. The
/// place of `void` is a `std::monostate`. Any operation takes part with `use_awaitable`, such as
/// `timer.async_wait(asio::use_awaitable)`, and more than two in `first_of(a, first_of(b, c))`.
/// Work that ignores its cancellation is waited for all the same.
///
/// Errors: those of the one that ends first.
///
/// Cancellation safety: terminal (total too, if the caller lets it through); cancels both, and
/// ends as the first of them does then.
///
/// Executor: that of the coroutine that awaits it. With several threads use a strand.
///
/// Thread safety: as any coroutine.
template <typename A, typename B>
[[nodiscard]] asio::awaitable<std::variant<detail::stored<A>, detail::stored<B>>>
first_of(asio::awaitable<A> a, asio::awaitable<B> b) {
    using both = std::variant<detail::stored<A>, detail::stored<B>>;
    std::optional<detail::stored<A>> of_a;
    std::optional<detail::stored<B>> of_b;
    const auto executor = co_await asio::this_coro::executor;
    auto group = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, detail::store_result(std::move(a), of_a), asio::deferred),
        asio::co_spawn(executor, detail::store_result(std::move(b), of_b), asio::deferred));
    const auto [order, failed_a, failed_b] =
        co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    const bool a_is_first = order[0] == 0;
    if (const auto failure = a_is_first ? failed_a : failed_b) std::rethrow_exception(failure);
    if (a_is_first) co_return both(std::in_place_index<0>, std::move(*of_a));
    co_return both(std::in_place_index<1>, std::move(*of_b));
}

} // namespace paddock
