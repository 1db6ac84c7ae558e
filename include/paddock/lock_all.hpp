#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lock_request.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace paddock {

namespace detail {
class hold_set;
struct lock_all_plan;
} // namespace detail

class [[gnu::visibility("default")]] guard_set;

/// The handle of several holds that lock_all() has taken together. Move-only. An empty set (default
/// constructed, moved from, or the result of a try_lock_all() that found a lock taken) holds
/// nothing; its operations complete with `errc::bad_argument`, as those of an empty guard.
///
/// **For all operations**
///
/// Executor, lifetime, thread safety: as those of guard; the default executor is that of the client
/// whose lock was taken first.
class [[nodiscard]] guard_set {
public:
    guard_set() noexcept = default;
    guard_set(guard_set&&) noexcept = default;
    /// Releases all locks of this set, as the destructor does.
    guard_set& operator=(guard_set&&) noexcept;
    /// Releases all locks in the background, the last taken first.
    ~guard_set();

    /// Whether the set has holds, lost or not.
    explicit operator bool() const noexcept { return !guards_.empty(); }

    /// Whether guard::valid() is true of all holds; false for an empty set.
    bool valid() const noexcept;

    /// The earliest guard::valid_until() of the holds; the epoch of the clock for an empty set.
    boot_clock::time_point valid_until() const noexcept;

    /// The number of holds.
    std::size_t size() const noexcept { return guards_.size(); }
    /// The guard of the lock that was argument number `i`, which must be less than size(). It has a
    /// fencing token if its hold is exclusive. A transaction() of one guard checks that guard's
    /// node; for all of them add `op::check{guards[1].path()}`, and so on, to its steps.
    const guard& operator[](std::size_t i) const { return guards_[positions_[i]]; }

    /// Waits until the first of the holds is over, and returns the reason. The other holds continue
    /// until the set is released.
    ///
    /// Completion signature: `void(error_code, error_code reason)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as guard::lost().
    template <asio::completion_token_for<void(error_code, error_code)> Token = default_token>
    [[nodiscard]] auto lost(Token&& token = {}) const {
        return detail::initiate<void(error_code, error_code)>(
            executor(), std::forward<Token>(token), &start_lost, holds_);
    }

    /// Runs a coroutine under the locks, as guard::run() does: cancels it when the first of the
    /// holds is lost. When the longest time of a hold has ended (hold_limit), it releases that lock
    /// once the work has ended.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as guard::run().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::work_result<Work>> run(Work work) const {
        if (!holds_) return detail::refuse_work<Work>();
        return detail::run_until_lost(
            [holds = holds_, executor = executor()](auto token) {
                return detail::initiate<void(error_code, error_code)>(executor, std::move(token),
                                                                      &start_lost, holds);
            },
            std::move(work), detail::on_release::cancel_work, after_run());
    }

    /// Releases all locks, the last taken first, and waits until all their nodes are deleted. The
    /// set is empty from the call on.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: those of guard::unlock(); `errc::lock_lost` if any of the holds was lost.
    ///
    /// Cancellation safety: total and terminal; ends the wait, never the deletes.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto unlock(Token&& token = {}) {
        // The operation owns the set: if it never starts, the set still releases the locks.
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_unlock, std::move(*this));
    }

private:
    friend struct detail::access;
    using hold_set_ptr = std::shared_ptr<detail::hold_set>;

    /// `guards` are in the order in which they were taken; `positions[i]` is the index among them
    /// of the guard of argument `i`.
    guard_set(hold_set_ptr holds, std::vector<guard> guards,
              std::vector<std::size_t> positions) noexcept;

    asio::any_io_executor executor() const noexcept;
    /// What run() does after the work, with the reason of a loss.
    std::function<void(error_code)> after_run() const;
    static void start_lost(detail::handler<void(error_code, error_code)>, hold_set_ptr);
    static void start_unlock(detail::handler<void(error_code)>, guard_set);

    hold_set_ptr holds_;
    std::vector<guard> guards_;
    std::vector<std::size_t> positions_;
};

namespace detail {
using plan_ptr = std::shared_ptr<const lock_all_plan>;
[[gnu::visibility("default")]] plan_ptr plan_lock_all(const lock_requests& locks);
[[gnu::visibility("default")]] asio::any_io_executor executor_of(const plan_ptr& plan);
[[gnu::visibility("default")]] void start_lock_all(handler<void(error_code, guard_set)>, plan_ptr);
[[gnu::visibility("default")]] void start_try_lock_all_for(handler<void(error_code, guard_set)>,
                                                           plan_ptr, std::chrono::nanoseconds);
} // namespace detail

/// Waits until it has all of the locks: mutexes, shared mutexes in either mode, permits of
/// semaphores.
///
///     const std::vector<lock_request> needed{account, shared(rates), permits(workers, 2)};
///     guard_set all = co_await lock_all(needed);
///
/// It takes them one after the other, in the order of their full paths (the client's root, the
/// lock's path, its name), whatever the order of the arguments: so processes that take several
/// locks in this way cannot deadlock. The locks may belong to different clients, also of different
/// ensembles. The servers' names decide the order of equal paths of different ensembles, so use the
/// same names in all programs.
///
/// Before it takes the first lock, it reserves room for all nodes in the clients' budgets: a
/// contender that holds some of the locks never waits for room.
///
/// All or nothing: if one of the locks is lost while it waits for the next, it releases all of them
/// and begins again. It also does so when a session expires while it waits for permits, and the
/// client's budget has no room at that moment.
///
/// With g++ 12 give the vector a name before you await: the compiler destroys braced temporaries in
/// the wrong place when the same expression contains a co_await.
///
/// Completion signature: `void(error_code, guard_set)`.
///
/// Errors: those of mutex::lock() and semaphore::acquire(), the first that any of the locks
/// reports; `errc::over_budget` when the nodes exceed a whole budget; `errc::hold_expired` when the
/// longest time of a hold (hold_limit) is over before the operation has all locks;
/// `errc::session_expired` if the options of one of the locks say so. The call throws
/// `system_error` with `errc::bad_argument` when there is no lock, and when two of the requests are
/// for the same lock, in whatever mode, because the operation would wait for itself.
///
/// Cancellation safety: total and terminal. The operation completes with
/// `asio::error::operation_aborted` at once, and the clients release the locks that it has taken in
/// the background.
///
/// Executor: the handler's associated executor, by default that of the client whose lock is the
/// first to be taken.
///
/// Lifetime and thread safety: see lockable.
template <asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto lock_all(const lock_requests& locks, Token&& token = {}) {
    auto plan = detail::plan_lock_all(locks);
    auto executor = detail::executor_of(plan);
    return detail::initiate<void(error_code, guard_set)>(
        std::move(executor), std::forward<Token>(token), &detail::start_lock_all, std::move(plan));
}

/// As lock_all(), but waits for at most `limit` for all locks together. Then it completes with an
/// empty set or with `errc::not_connected`, by the rule of lockable::try_lock_for() for the lock
/// that it waits for. With zero or less it is a try_lock_all().
///
/// Completion signature: `void(error_code, guard_set)`.
///
/// Errors: those of lock_all(), and `errc::not_connected`.
///
/// Cancellation safety, executor, lifetime, thread safety: as lock_all().
template <typename Rep, typename Period,
          asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto try_lock_all_for(const lock_requests& locks,
                                    const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) {
    auto plan = detail::plan_lock_all(locks);
    auto executor = detail::executor_of(plan);
    return detail::initiate<void(error_code, guard_set)>(
        std::move(executor), std::forward<Token>(token), &detail::start_try_lock_all_for,
        std::move(plan), detail::limit_of(limit));
}

/// As try_lock_all_for(), with a point in time of any clock. A later change of that clock's time
/// has no effect.
template <typename Clock, typename Duration,
          asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto try_lock_all_until(const lock_requests& locks,
                                      const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) {
    auto plan = detail::plan_lock_all(locks);
    auto executor = detail::executor_of(plan);
    return detail::initiate<void(error_code, guard_set)>(
        std::move(executor), std::forward<Token>(token), &detail::start_try_lock_all_for,
        std::move(plan), detail::until{deadline});
}

/// Takes the locks if all of them are free, one after the other in the order of lock_all();
/// otherwise completes with an empty set, after it has released those that it has taken.
///
/// Completion signature: `void(error_code, guard_set)`.
///
/// Errors: those of lock_all(), and `errc::not_connected` at once while there is no connection.
///
/// Cancellation safety, executor, lifetime, thread safety: as lock_all().
template <asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto try_lock_all(const lock_requests& locks, Token&& token = {}) {
    return try_lock_all_for(locks, std::chrono::nanoseconds::zero(), std::forward<Token>(token));
}

/// Waits until it has all of the locks, runs a coroutine under them, releases them, and waits for
/// the release. `work` gets the set, `work(guard_set&)`, if it takes an argument.
///
/// Errors: those of lock_all(), when with_all() is awaited, and those of guard::run().
///
/// Everything else: as lockable::with().
template <typename Work>
[[nodiscard]] asio::awaitable<detail::with_result<Work, guard_set>> with_all(lock_requests locks,
                                                                             Work work) {
    return detail::with<guard_set>([locks = std::move(locks)] { return lock_all(locks); },
                                   std::move(work));
}

/// As with_all(), if all of the locks are free: see try_lock_all(). Otherwise as
/// lockable::try_with().
template <typename Work>
[[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard_set>>
try_with_all(lock_requests locks, Work work) {
    return detail::try_with<guard_set>([locks = std::move(locks)] { return try_lock_all(locks); },
                                       std::move(work));
}

/// As try_with_all(), but waits for at most `limit` for all locks together: see try_lock_all_for().
template <typename Rep, typename Period, typename Work>
[[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard_set>>
try_with_all_for(lock_requests locks, const std::chrono::duration<Rep, Period>& limit, Work work) {
    return detail::try_with<guard_set>(
        [locks = std::move(locks), limit] { return try_lock_all_for(locks, limit); },
        std::move(work));
}

/// As try_with_all_for(), with a point in time of any clock.
template <typename Clock, typename Duration, typename Work>
[[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard_set>>
try_with_all_until(lock_requests locks, const std::chrono::time_point<Clock, Duration>& deadline,
                   Work work) {
    return detail::try_with<guard_set>(
        [locks = std::move(locks), deadline] { return try_lock_all_until(locks, deadline); },
        std::move(work));
}

} // namespace paddock
