#pragma once

#include <paddock/client.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>

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

/// One contender in the line of a lock, as the ensemble has it.
struct contender {
    std::string path{};             ///< of its node, without the client's root
    std::int32_t sequence = 0;      ///< its place in the order
    bool holder = false;            ///< the first in the line
    std::int64_t session = 0;       ///< the session that owns the node
    paddock::fencing_token token{}; ///< what its guard has, or will have
    std::string data{};             ///< of the node, as its owner wrote it
    std::string host{};             ///< from the data, if a paddock program wrote it; else empty
    std::int64_t pid = 0;           ///< likewise
    std::string label{};            ///< likewise: mutex_options::label
    std::chrono::system_clock::time_point since{}; ///< likewise: when it asked for the lock
};

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

    /// For the locks of this library.
    const std::shared_ptr<const detail::line_lock>& impl() const noexcept { return impl_; }

private:
    using impl_ptr = std::shared_ptr<const detail::line_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
