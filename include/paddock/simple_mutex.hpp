#pragma once

#include <paddock/client.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/mutex.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

namespace paddock {

namespace detail {
class simple_lock;
}

/// An exclusive lock that is one node: whoever creates it holds the lock, the others watch it, and
/// race again when it goes. There is no directory to list and no line to look at; in return
/// - it is unfair: whoever comes first after a release has it, and somebody may never come first;
/// - it is a herd: a release wakes every client that waits, and all but one of them race in vain.
///   Nine clients that wait: 9 are woken, and send 9 writes; of a mutex's line, 1 and none.
/// Use mutex unless the path of the lock's node must be known beforehand.
///
/// Beside the node, in the same directory, stands its marker, `_c_<id>-<name>-marker`, with a name
/// that nobody uses again. Both are made and deleted together, so a delete that comes late, or
/// twice, hits no stranger's lock. Who deletes the lock's node by hand takes the lock from its
/// holder, and should delete the marker as well (its id is in the node's data): a holder that is
/// just giving the lock back, or is cut off, cannot know, and would delete the next one's node
/// with its marker. Not the marker alone: then the node stays until the holder's session ends.
/// Do not put a simple_mutex into the directory of another lock.
///
/// Those who wait for one object or its copies race one at a time, in the order of their coming.
/// Completions come on the handler's associated executor, by default on the client's.
/// Lifetime: the mutex and its client may be destroyed while operations are pending and guards are
/// held; operations of a destroyed client complete with `errc::closed`.
/// Thread safety: operations may be called from any thread at any time.
class simple_mutex {
public:
    /// Does no I/O. `path` is that of the lock's node, below the client's root; missing parents are
    /// created when they are needed. Throws `system_error` with `errc::bad_argument` for a path or
    /// label that is not acceptable.
    simple_mutex(const client& zk, std::string_view path, simple_mutex_options options);
    /// With the default options.
    simple_mutex(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Waits for the lock.
    ///
    /// Completion signature: `void(error_code, guard)`; guard::path() is the path of the lock's
    /// node, and guard::transaction() checks the marker, too.
    /// Errors: the `zk_errc` with which the ensemble refused (`no_auth` above all);
    /// `errc::session_expired` and `errc::over_budget` if the options say so; `errc::closed`;
    /// `errc::auth_failed`. Neither a lost connection nor an expired session is an error: it races
    /// on when there is a new one.
    /// Cancellation safety: total and terminal; completes with `asio::error::operation_aborted` at
    /// once, and what it may have created is deleted in the background.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_);
    }

    /// Takes the lock if it is free; else completes with an empty guard. When the lock is taken
    /// nothing is written: one read, or none if this object itself holds it or waits for it.
    ///
    /// Completion signature: `void(error_code, guard)`. Errors: those of lock(), and
    /// `errc::not_connected` at once when the client is not connected, or is no longer.
    /// Cancellation safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_);
    }

    /// Waits for the lock, at most this long; then completes with an empty guard. With zero or less
    /// it is a try_lock() that does not mind not being connected.
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

    /// Who holds the lock, and what the holder wrote into its node. Who waits cannot be seen.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`, nothing when nobody
    /// does. Errors: `zk_errc`, `errc::closed`. Cancellation safety: total and terminal.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto holder(Token&& token = {}) {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_holder, impl_);
    }

private:
    using impl_ptr = std::shared_ptr<detail::simple_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);
    static void start_holder(detail::handler<void(error_code, std::optional<contender>)>, impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
