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
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

namespace detail {
struct semaphore_lock;
}

/// The users of a semaphore, as the ensemble knows them.
struct semaphore_state {
    std::int32_t permits = 0;         ///< the number of permits
    std::vector<contender> holders{}; ///< one for each permit that is held
    std::vector<contender> waiters{}; ///< contenders that wait for permits, in order
};

class [[gnu::visibility("default")]] semaphore;

/// A semaphore over all processes that use the same ensemble and path: at no time do its users hold
/// more permits than there are. Contenders are granted permits in the order of their arrival, even
/// if the first wants more than the next. Node names are those of Curator's
/// InterProcessSemaphoreV2, so both share the permits of one path; with one permit it is Curator's
/// InterProcessSemaphoreMutex. (Curator calls a permit's node a lease; this library's lease is that
/// of the session.)
///
/// A contender takes several permits all or none. Curator takes them one by one: programs that take
/// several permits with Curator can wait for each other, and for a contender of this class, until
/// their time limits pass.
///
/// A guard holds all permits of its acquire(), and releases them together. The guard is lost when
/// one of its permit nodes is deleted. The holds of one semaphore overlap, so there is no order in
/// which a fencing token could grow: guard::fencing_token() is zero.
///
/// **Operations**: acquire(), try_acquire(), try_acquire_for() and try_acquire_until() for the
/// lock(), try_lock() and so on of a lock, with(), try_with(), try_with_for() and try_with_until(),
/// all of them for one permit or with the number of permits as their first argument; and enqueue(),
/// set_permits(), state(), contenders(), revoke() and kick().
///
/// Executor, lifetime, thread safety of all operations: see lockable.
class semaphore {
public:
    /// Creates the object; does no I/O. The semaphore uses the nodes `locks` and `leases` below
    /// `path`, which is below the client's root and has at most 512 bytes; the first operation that
    /// needs missing nodes creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, number (less than one)
    /// or option that is not acceptable.
    semaphore(const client& zk, std::string_view path, std::int32_t permits,
              semaphore_options options);
    /// As above, with the default options: the number of permits is fixed.
    semaphore(const client& zk, std::string_view path, std::int32_t permits);
    /// A temporary client would close at the end of the expression.
    semaphore(const client&&, std::string_view, std::int32_t, semaphore_options) = delete;
    semaphore(const client&&, std::string_view, std::int32_t) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for one permit. A lost connection is not an error, nor is an expired session, unless
    /// the options say so: the contender keeps its position in the queue, or queues again.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: the `zk_errc` of the ensemble's refusal (`no_auth` above all; `data_inconsistency`
    /// when the counter node contains no counter); `errc::sequence_exhausted`;
    /// `errc::session_expired` if semaphore_options::on_expiry says so; `errc::over_budget` if
    /// semaphore_options::on_over_budget says so, and for more permits than a client can ever hold;
    /// `errc::closed`; `errc::draining`; `errc::auth_failed`; `errc::bad_argument` while this
    /// client uses a lock of another kind at the path.
    ///
    /// Cancellation safety: as lockable::lock().
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto acquire(Token&& token = {}) const {
        return acquire(1, std::forward<Token>(token));
    }

    /// Waits for `count` permits, all or none; one guard holds them. With a counter the operation
    /// waits until that many permits exist, and all contenders behind it wait as well.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of acquire(). The call throws `system_error` with `errc::bad_argument` when
    /// `count` is less than one, or greater than a fixed number of permits.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as acquire().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto acquire(std::int32_t count, Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_acquire, impl_, count);
    }

    /// Takes the permits if they are free and no contender waits; otherwise completes with an empty
    /// guard, and the client has written nothing. The answer may be stale by a moment, see
    /// semaphore_options::sync_first.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of acquire(), and `errc::not_connected` at once when the client is not
    /// connected. The call throws as acquire(count).
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as acquire().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire(std::int32_t count, Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_try_acquire, impl_, count);
    }

    /// As above, for one permit.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire(Token&& token = {}) const {
        return try_acquire(1, std::forward<Token>(token));
    }

    /// Waits for the permits for at most `limit`. Then the operation completes as
    /// lockable::try_lock_for() does, without any of the permits. With zero or less it is a
    /// try_acquire().
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of acquire(), and `errc::not_connected`. The call throws as acquire(count).
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as acquire().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire_for(std::int32_t count,
                                       const std::chrono::duration<Rep, Period>& limit,
                                       Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_try_acquire_for, impl_, count,
            detail::limit_of(limit));
    }

    /// As above, for one permit.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire_for(const std::chrono::duration<Rep, Period>& limit,
                                       Token&& token = {}) const {
        return try_acquire_for(1, limit, std::forward<Token>(token));
    }

    /// As try_acquire_for(), with a point in time of any clock. A later change of that clock's time
    /// has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire_until(std::int32_t count,
                                         const std::chrono::time_point<Clock, Duration>& deadline,
                                         Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_try_acquire_for, impl_, count,
            detail::until{deadline});
    }

    /// As above, for one permit.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                         Token&& token = {}) const {
        return try_acquire_until(1, deadline, std::forward<Token>(token));
    }

    /// Joins the queue for `count` permits, and completes as soon as the client knows the
    /// contender's position, before the permits are free: see ticket.
    ///
    /// Completion signature: `void(error_code, ticket)`.
    ///
    /// Errors: those of acquire(). The call throws as acquire(count).
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as acquire().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(std::int32_t count, Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            executor_for(count), std::forward<Token>(token), &start_enqueue, impl_, count);
    }

    /// As above, for one permit.
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(Token&& token = {}) const {
        return enqueue(1, std::forward<Token>(token));
    }

    /// Waits for `count` permits, runs a coroutine while it holds them, releases them, and waits
    /// for the release.
    ///
    /// Everything else: as lockable::with(), with the errors of acquire().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(std::int32_t count,
                                                                         Work work) const {
        return detail::with<guard>([self = *this, count] { return self.acquire(count); },
                                   std::move(work));
    }
    /// As above, for one permit.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(Work work) const {
        return with(1, std::move(work));
    }

    /// As with(), if the permits are free: see try_acquire(). Otherwise as lockable::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>> try_with(std::int32_t count,
                                                                                 Work work) const {
        return detail::try_with<guard>([self = *this, count] { return self.try_acquire(count); },
                                       std::move(work));
    }
    /// As above, for one permit.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>> try_with(Work work) const {
        return try_with(1, std::move(work));
    }

    /// As try_with(), but waits for at most `limit`: see try_acquire_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_for(std::int32_t count, const std::chrono::duration<Rep, Period>& limit,
                 Work work) const {
        return detail::try_with<guard>(
            [self = *this, count, limit] { return self.try_acquire_for(count, limit); },
            std::move(work));
    }
    /// As above, for one permit.
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_for(const std::chrono::duration<Rep, Period>& limit, Work work) const {
        return try_with_for(1, limit, std::move(work));
    }

    /// As try_with_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_until(std::int32_t count, const std::chrono::time_point<Clock, Duration>& deadline,
                   Work work) const {
        return detail::try_with<guard>(
            [self = *this, count, deadline] { return self.try_acquire_until(count, deadline); },
            std::move(work));
    }
    /// As above, for one permit.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_until(const std::chrono::time_point<Clock, Duration>& deadline, Work work) const {
        return try_with_until(1, deadline, std::move(work));
    }

    /// Sets the counter, and creates its node if it is missing. A greater number wakes the
    /// contenders that wait for it. A smaller one revokes no permit, but no contender gets a permit
    /// before enough permits are released; with zero no contender gets one.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: the `zk_errc` of the ensemble's refusal, `errc::outcome_unknown`, `errc::closed`,
    /// `errc::auth_failed`. The call throws `system_error` with `errc::bad_argument` for a negative
    /// number, and when the number of permits is fixed.
    ///
    /// Cancellation safety: total and terminal; the ensemble still executes a change that the
    /// client has sent.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto set_permits(std::int32_t permits, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor_for_setting(permits),
                                                  std::forward<Token>(token), &start_set_permits,
                                                  impl_, permits);
    }

    /// Reads the number of permits, the holders, and the contenders that wait, with the metadata in
    /// their nodes. The first contender that waits may hold some of its permits already. One burst
    /// of reads; the result omits contenders that leave meanwhile.
    ///
    /// Completion signature: `void(error_code, semaphore_state)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, semaphore_state)> Token = default_token>
    [[nodiscard]] auto state(Token&& token = {}) const {
        return detail::initiate<void(error_code, semaphore_state)>(
            get_executor(), std::forward<Token>(token), &start_state, impl_);
    }

    /// The permit nodes, with contender::holder, and behind them the waiters in the queue. A guard
    /// that holds several permits has as many contenders here. The first waiter can have permit
    /// nodes as well, before it is granted: then there are more of them than permits.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as state().
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// Requests that a contender release its permits: see mutex::revoke() and
    /// semaphore_options::revocable. Of a guard that holds several, one of its contenders suffices.
    ///
    /// Everything else: as mutex::revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// Deletes the node of one permit, or of a contender that waits, by force. A waiter queues
    /// again. A guard that held the permit is lost, with all its permits; the nodes of the others
    /// stay until it is unlocked or destroyed, or are kicked as well.
    ///
    /// Everything else: as mutex::kick().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    friend struct detail::access;
    using impl_ptr = std::shared_ptr<const detail::semaphore_lock>;

    asio::any_io_executor executor_for(std::int32_t count) const;
    asio::any_io_executor executor_for_setting(std::int32_t permits) const;
    static void start_acquire(detail::handler<void(error_code, guard)>, impl_ptr, std::int32_t);
    static void start_try_acquire(detail::handler<void(error_code, guard)>, impl_ptr, std::int32_t);
    static void start_try_acquire_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                      std::int32_t, std::chrono::nanoseconds);
    static void start_enqueue(detail::handler<void(error_code, ticket)>, impl_ptr, std::int32_t);
    static void start_set_permits(detail::handler<void(error_code)>, impl_ptr, std::int32_t);
    static void start_state(detail::handler<void(error_code, semaphore_state)>, impl_ptr);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
