#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
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
struct fair_lock;
}

class [[gnu::visibility("default")]] mutex;

/// A fair lock over all processes that use the same ensemble, path and name. Each contender has an
/// ephemeral sequential node in the queue, and the contenders are granted the lock in the order of
/// their sequence numbers. A release wakes one waiter, so there is no herd effect.
///
/// The lock is not reentrant: a caller that holds it and locks it again waits for ever, and the
/// client's log says so after a session timeout (client_options::log). See recursive_mutex. Node
/// names are those of Curator's InterProcessMutex, so a mutex and a Curator lock exclude each other
/// at one path. mutex_options::max_local_handoffs and linger make it sticky: it can stay with a
/// client whose callers want it again, which is an exception to the order.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the mutex and its client while operations are pending and guards
/// hold the lock. The operations of a destroyed client complete with `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class mutex {
public:
    /// Creates the object; does no I/O. `path` is the lock's directory, below the client's root,
    /// with at most 512 bytes; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, name, label or access
    /// control list that is not acceptable.
    mutex(const client& zk, std::string_view path, mutex_options options);
    /// As above, with the default options.
    mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    mutex(const client&&, std::string_view, mutex_options) = delete;
    mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for the lock. A lost connection is not an error: the contender keeps its position in
    /// the queue and waits. An expired session is not an error either, unless the options say so:
    /// the contender queues again in the next session.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: the `zk_errc` of the ensemble's refusal (`no_auth` above all);
    /// `errc::sequence_exhausted`; `errc::session_expired` if mutex_options::on_expiry says so;
    /// `errc::over_budget` if mutex_options::on_over_budget says so, and for a node that is larger
    /// than the whole budget; `errc::closed`; `errc::auth_failed`; `errc::bad_argument` while this
    /// client uses a lock of another kind at the path, which would not exclude this one.
    ///
    /// Cancellation safety: total and terminal. The operation completes with
    /// `asio::error::operation_aborted` at once, and the client deletes the contender's node in the
    /// background. If the grant came first, the operation delivers the guard. Asio's `||` cancels
    /// the loser, and a guard that arrives too late releases itself; but `||` waits for one
    /// *success*, so after a failure of lock() it waits for the other operation. For a time limit
    /// use try_lock_for().
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_);
    }

    /// Takes the lock if it is free; otherwise completes with an empty guard. If the lock is
    /// taken, the client writes nothing: it sends one listing, or no request if one of its own
    /// contenders holds the lock or waits for it. (A sticky lock's try_lock() may queue for a tenth
    /// of a second: mutex_options::linger.) The answer may be stale by a moment, see
    /// mutex_options::sync_first.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected` at once when the client is not connected:
    /// a new client connects with its first operation, so `co_await zk.connect_for(5s)` before.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_);
    }

    /// Waits for the lock for at most `limit`. Then the operation completes with an empty guard. If
    /// the client is not connected, it completes with `errc::not_connected`, unless the client has
    /// seen that the lock is taken, and its lease has not lapsed since. The limit includes
    /// connecting, retries and waiting. Every duration is valid; one that is too long for a clock
    /// means no limit. With zero or less the operation is a try_lock().
    ///
    /// The result is also empty if the servers have not answered in time that the lock is free. A
    /// call that gives up costs them a node, too: where a thousand calls are under way at once,
    /// limits that are near to the time of an answer, and callers who repeat the call at once, can
    /// leave all of them without a lock.
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

    /// Waits for the lock, runs a coroutine under it, releases the lock, and waits for that as
    /// guard::unlock() does: the first choice for most programs, because a destructor cannot wait.
    ///
    ///     const auto work = [&](paddock::guard& held) -> asio::awaitable<int> { … };
    ///     const int left = co_await mutex.with(work);
    ///
    /// Name the work first: g++ 12 destroys a temporary lambda with captures twice when the same
    /// expression contains a co_await, without a warning.
    ///
    /// `work` gets the guard if it takes an argument; it may unlock it. It runs as in guard::run(),
    /// and with() returns its result, also when the client could not confirm the release: the
    /// client repeats the delete in the background. A result does not say that the caller held the
    /// lock to the end: work that can outlast a loss takes the guard, and asks valid() last.
    ///
    /// Errors: those of lock(); those of guard::run(), after the release; `errc::bad_argument` for
    /// an empty function. (Asio's `||` waits for a success: in `with(work) || timer` it swallows
    /// them.)
    ///
    /// Cancellation safety: as lock() before the grant; as guard::run() while the work runs, and
    /// with() then waits for the release all the same; a later cancellation ends that wait. (A
    /// coroutine of `co_spawn` lets only terminal cancellation through, by Asio's default; total
    /// too, if it resets its cancellation state with `asio::enable_total_cancellation`.)
    ///
    /// Executor: that of the coroutine that awaits with(), for the work, too. With several threads
    /// use a strand.
    ///
    /// Lifetime: with() keeps the callable; see the class. Thread safety: see the class.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(Work work) const {
        return detail::with<guard>([self = *this] { return self.lock(); }, std::move(work));
    }

    /// As with(), if the lock is free: see try_lock(); it does not wait for a connection either.
    /// Otherwise the work does not run, and the result is empty (an `std::optional` of the work's
    /// result: also of a bool), or false if the work returns nothing.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>> try_with(Work work) const {
        return detail::try_with<guard>([self = *this] { return self.try_lock(); }, std::move(work));
    }

    /// As try_with(), but waits for the lock for at most `limit`: see try_lock_for(). The release
    /// is waited for as well, however long it takes.
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

    /// Lists the contenders, holder first, in the order of the queue, with the metadata in their
    /// nodes. One burst of reads; the result omits contenders that leave the queue meanwhile. A
    /// directory that does not exist has no contenders.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// Joins the queue, and completes as soon as the client knows the contender's position, before
    /// the lock is free: see ticket.
    ///
    /// Completion signature: `void(error_code, ticket)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue, impl_);
    }

    /// Requests that a contender release the lock, as Curator's Revoker does: see
    /// guard::revoke_requested and mutex_options::revocable. The request overwrites the data of the
    /// contender's node.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::bad_argument` for a contender of another lock; `zk_errc::no_node` when the
    /// contender has left the queue; `errc::outcome_unknown` when the connection is lost before the
    /// answer; other `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal; the ensemble still executes a request that the
    /// client has sent.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// Deletes a contender's node by force. A waiter queues again. A holder loses the lock, and
    /// works on until its client learns of that: only its fencing token stops it.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    friend struct detail::access;
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;

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
