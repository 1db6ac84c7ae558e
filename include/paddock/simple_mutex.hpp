#pragma once

#include <paddock/client.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
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

class [[gnu::visibility("default")]] simple_mutex;

/// An exclusive lock that is one node: the contender that creates the node holds the lock; the
/// others watch the node, and race again when it is deleted. There is no directory to list and no
/// queue to read. In return
///
/// - the lock is unfair: the first contender to arrive after a release gets it, and a contender
///   may wait for ever;
/// - the lock has the herd effect: a release wakes every client that waits, and all but one of them
///   race in vain. With nine clients that wait, a release wakes 9, which send 9 writes; in a
///   mutex's queue it wakes 1, which sends none.
///
/// Use mutex, unless other programs must know the path of the lock's node beforehand.
///
/// Beside the node, in the same directory, stands its marker, `_c_<id>-<name>-marker`, with a name
/// that no client uses again. The client creates and deletes both nodes together, so that a late or
/// repeated delete never deletes the node of another contender. An administrator that deletes the
/// lock's node by hand takes the lock from its holder, and should delete the marker as well (its id
/// is in the node's data): a holder that is about to release the lock, or is cut off, does not know
/// of the delete, and would delete its marker together with the node of the next holder. Do not
/// delete the marker alone: then the node stays until the holder's session ends. Do not put a
/// simple_mutex into the directory of another lock.
///
/// The contenders of one object and its copies race one at a time, in the order of their calls.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the simple_mutex and its client while operations are pending and
/// guards hold the lock. The operations of a destroyed client complete with `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class simple_mutex {
public:
    /// Creates the object; does no I/O. `path` is that of the lock's node, below the client's root,
    /// with at most 512 bytes; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, label or access control
    /// list that is not acceptable.
    simple_mutex(const client& zk, std::string_view path, simple_mutex_options options);
    /// As above, with the default options.
    simple_mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    simple_mutex(const client&&, std::string_view, simple_mutex_options) = delete;
    simple_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for the lock. Neither a lost connection nor an expired session is an error, unless the
    /// options say so: the contender races again once the client is connected. guard::path() is the
    /// path of the lock's node; guard::transaction() checks the marker as well.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: the `zk_errc` of the ensemble's refusal (`no_auth` above all);
    /// `errc::session_expired` if simple_mutex_options::on_expiry says so; `errc::over_budget` if
    /// simple_mutex_options::on_over_budget says so, and for nodes that are larger than the whole
    /// budget; `errc::closed`; `errc::auth_failed`; `errc::bad_argument` while this client uses a
    /// lock of another kind at the path.
    ///
    /// Cancellation safety: total and terminal. The operation completes with
    /// `asio::error::operation_aborted` at once, and the client deletes in the background the nodes
    /// that it may have created.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_);
    }

    /// Takes the lock if it is free; otherwise completes with an empty guard. If another contender
    /// holds the lock, the client writes nothing: it sends one read, or no request if this object
    /// holds the lock itself or waits for it.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected` at once when the client is not connected,
    /// or loses its connection.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_);
    }

    /// Waits for the lock for at most `limit`, and then completes as mutex::try_lock_for(). With
    /// zero or less it is a try_lock().
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_for, impl_,
                                                         detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock. A later change of that clock's time
    /// has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_for, impl_,
                                                         detail::until{deadline});
    }

    /// Waits for the lock, runs a coroutine under it, releases it, and waits for the release.
    ///
    /// Everything else: as mutex::with(), with the errors of lock().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(Work work) const {
        return detail::with<guard>([self = *this] { return self.lock(); }, std::move(work));
    }

    /// As with(), if the lock is free: see try_lock(). Otherwise as mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>> try_with(Work work) const {
        return detail::try_with<guard>([self = *this] { return self.try_lock(); }, std::move(work));
    }

    /// As try_with(), but waits for at most `limit`: see try_lock_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_for(const std::chrono::duration<Rep, Period>& limit, Work work) const {
        return detail::try_with<guard>([self = *this, limit] { return self.try_lock_for(limit); },
                                       std::move(work));
    }

    /// As try_with_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_until(const std::chrono::time_point<Clock, Duration>& deadline, Work work) const {
        return detail::try_with<guard>(
            [self = *this, deadline] { return self.try_lock_until(deadline); }, std::move(work));
    }

    /// Reads which contender holds the lock, with the metadata in its node; nothing if the lock is
    /// free. The contenders that wait have no nodes, and no operation lists them.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto holder(Token&& token = {}) const {
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
