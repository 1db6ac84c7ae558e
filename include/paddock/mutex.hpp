#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>
#include <paddock/ticket.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct line_lock;
}

/// A fair lock over all processes that use the same ensemble, path and name: contenders get it in
/// the order of their sequence numbers. Not reentrant. Node names are those of Curator's
/// InterProcessMutex, so both exclude each other at one path.
///
/// Completions come on the handler's associated executor, by default on the client's.
/// Lifetime: the mutex and its client may be destroyed while operations are pending and guards are
/// held; operations of a destroyed client complete with `errc::closed`.
/// Thread safety: operations may be called from any thread at any time.
class mutex {
public:
    /// Does no I/O. `path` is the lock's directory, below the client's root; missing parents are
    /// created when they are needed. Throws `system_error` with `errc::bad_argument` for a path,
    /// name or label that is not acceptable.
    mutex(const client& zk, std::string_view path, mutex_options options);
    /// With the default options.
    mutex(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Waits for the lock.
    ///
    /// Completion signature: `void(error_code, guard)`.
    /// Errors: the `zk_errc` with which the ensemble refused (`no_auth` above all);
    /// `errc::sequence_exhausted`; `errc::session_expired` and `errc::over_budget` if the options
    /// say so; `errc::closed`; `errc::auth_failed`. A lost connection is not an error: the
    /// contender keeps its place and waits. An expired session is not one either: the contender
    /// queues again in the next.
    /// Cancellation safety: total and terminal; completes with `asio::error::operation_aborted` at
    /// once, and its node is deleted in the background. A guard that was granted first is
    /// delivered. With `||` the loser is cancelled, and a guard delivered too late releases itself;
    /// but `||` waits for one *success*, so a `lock()` that fails waits for its rival: for a time
    /// limit use try_lock_for.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_);
    }

    /// Takes the lock if it is free; else completes with an empty guard. When the lock is taken
    /// nothing is written: one listing, or none if this client itself holds it or waits for it.
    /// What is found may be old by a moment, see mutex_options::sync_first.
    ///
    /// Completion signature: `void(error_code, guard)`. Errors: those of lock(), and
    /// `errc::not_connected` at once when the client is not connected.
    /// Cancellation safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_);
    }

    /// Waits for the lock, at most this long; then completes with an empty guard. The limit bounds
    /// everything: connecting, retries, waiting. With zero or less it is a try_lock() that does not
    /// mind not being connected.
    ///
    /// Completion signature, errors and cancellation safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(std::chrono::nanoseconds limit, Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_for, impl_, limit);
    }

    /// As try_lock_for, with a point in time.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(std::chrono::steady_clock::time_point deadline,
                                      Token&& token = {}) {
        return try_lock_for(deadline - std::chrono::steady_clock::now(),
                            std::forward<Token>(token));
    }

    /// Who holds and who waits, in order, with what they wrote into their nodes. One burst of
    /// reads; contenders that go meanwhile are left out.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`. A directory that does not
    /// exist has no contenders. Errors: `zk_errc`, `errc::closed`. Cancellation safety: total and
    /// terminal.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// Takes a place in the line, and returns before the lock is to be had: see ticket.
    ///
    /// Completion signature: `void(error_code, ticket)`, once the place is known. Errors and
    /// cancellation safety: as lock().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(Token&& token = {}) {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue, impl_);
    }

    /// Asks a contender to give the lock back, as Curator's Revoker does: see
    /// guard::revoke_requested and mutex_options::revocable. Its own data is overwritten.
    ///
    /// Completion signature: `void(error_code)`. Errors: `errc::bad_argument` when the contender is
    /// none of this lock; `zk_errc::no_node` when it has gone; other `zk_errc`, `errc::closed`.
    /// Cancellation safety: total and terminal; a request that was sent is executed all the same.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender whom, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(whom));
    }

    /// Deletes a contender's node, by force. A waiter queues again; a holder's guard is lost as
    /// soon as it hears of it, and until then works on: its fencing token is what stops it.
    ///
    /// Completion signature, errors and cancellation safety: as revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender whom, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(whom));
    }

    /// For the locks of this library.
    const std::shared_ptr<const detail::line_lock>& impl() const noexcept { return impl_; }

private:
    using impl_ptr = std::shared_ptr<const detail::line_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);
    static void start_enqueue(detail::handler<void(error_code, ticket)>, impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
