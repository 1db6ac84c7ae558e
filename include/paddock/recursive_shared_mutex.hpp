#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>
#include <paddock/recursive_mutex.hpp>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

class [[gnu::visibility("default")]] recursive_shared_mutex;

/// A reentrant read-write lock. An owner that holds it exclusively can lock it again, exclusively
/// or shared, and an owner that shares it can share it again, always at once and without a request,
/// even while others wait. There is no upgrade: a lock() of an owner that shares the lock would
/// wait for itself, and fails. Different owners, also those of one process, queue as the contenders
/// of a shared_mutex do. Node names are those of shared_mutex, so a recursive_shared_mutex, a
/// shared_mutex and Curator's InterProcessReadWriteLock (which is reentrant as well) exclude each
/// other at one path.
///
/// **With g++ 12 choose between the two kinds by `if` and `else`.** It miscompiles
/// `co_await (write ? m.lock(me) : m.lock_shared(me))`, without a warning: the program
/// crashes, or its heap is damaged.
///
/// This object and its copies know what an owner holds. Two recursive_shared_mutex objects that a
/// program has made separately know nothing of each other: an owner that holds one waits for the
/// other.
///
/// **The hold of an owner.** An owner has one contender, so one node, for all its guards. The hold
/// is exclusive while one of them is. When the owner releases its last exclusive guard, but still
/// has shared ones, the hold becomes shared, so that other readers can enter; at no moment in
/// between can another contender hold the lock exclusively. The order of the releases is free.
///
/// This downgrade replaces the node by one with the same position (in the form of Curator 5.5 and
/// later): guard::path() of the shared guards is its path from then on. guard::unlock() of that
/// last exclusive guard waits for the downgrade: await it before a guard::transaction() or
/// guard::verify() of a shared guard, which otherwise may ask for the old node, and report
/// `errc::lock_lost` although nothing was lost. The client repeats the downgrade across reconnects.
/// If the ensemble refuses it (no right to create or delete below the lock's path), unlock() fails
/// with the `zk_errc`, and other readers wait until the owner's last guard is released. In any case
/// the owner only shares the lock from that release on: its next lock() is refused.
/// guard::downgrade() of all these guards is refused with `errc::bad_argument`.
///
/// All guards of a hold are lost together, for ever. The exclusive ones have the same fencing
/// token, the shared ones have none. After `errc::lease_lapsed`, `errc::revoked` and
/// `errc::hold_expired` the node stays until the last of the guards is unlocked or destroyed, and
/// until then the owner's next call would wait behind that node: it completes with
/// `errc::would_deadlock`. Once the node is deleted or its session is over, that call queues again,
/// even if the old guards still exist.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the recursive_shared_mutex and its client while operations are
/// pending and guards hold the lock. The operations of a destroyed client complete with
/// `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class recursive_shared_mutex {
    using impl_ptr = std::shared_ptr<detail::recursive_lock>;
    using handler = detail::handler<void(error_code, guard)>;

    template <typename Start, typename Token, typename... Args>
    auto initiate(Start start, Token&& token, Args... args) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         start, impl_, args...);
    }

public:
    /// As the constructor of shared_mutex.
    recursive_shared_mutex(const client& zk, std::string_view path, shared_mutex_options options);
    /// As above, with the default options.
    recursive_shared_mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    recursive_shared_mutex(const client&&, std::string_view, shared_mutex_options) = delete;
    recursive_shared_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Takes the exclusive lock once more if `by` holds it exclusively; otherwise waits for it.
    /// Several calls of one owner that wait at the same time share one position in the queue, and
    /// are granted together. guard::unlock() of a guard that is not the owner's last completes at
    /// once, but for the downgrade that the class describes.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::lock(), and `errc::would_deadlock` at once when the owner shares the
    /// lock, when a lock_shared() or try_lock_shared() of the owner is under way that no lock() has
    /// preceded, and when the owner has guards of a hold that has lapsed or was revoked: unlock
    /// them first.
    ///
    /// Cancellation safety: total and terminal. The operation completes with
    /// `asio::error::operation_aborted` at once. The contender leaves the queue when no call of
    /// this owner waits any more. If only lock_shared() calls of the owner are left, they queue
    /// again, at the end, because they need not wait for readers.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(owner by, Token&& token = {}) const {
        return initiate(&start_lock, std::forward<Token>(token), by);
    }

    /// Takes the exclusive lock once more if `by` holds it exclusively, or takes it if it is free.
    /// Otherwise the operation completes with an empty guard, also when the owner itself shares the
    /// lock, when another call of the owner waits, or when old guards of the owner keep its node.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::try_lock().
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(owner by, Token&& token = {}) const {
        return initiate(&start_try_lock, std::forward<Token>(token), by);
    }

    /// As lock(), but waits for at most `limit`, and then completes as mutex::try_lock_for(). With
    /// zero or less it is a try_lock().
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(owner by, const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) const {
        return initiate(&start_try_lock_for, std::forward<Token>(token), by,
                        detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock. A later change of that clock's time
    /// has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(owner by,
                                      const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_for, impl_, by,
                                                         detail::until{deadline});
    }

    /// Shares the lock once more if `by` holds it in any way; otherwise waits until no exclusive
    /// contender is before the caller. While a lock() of the same owner waits, the call is part of
    /// that contender, and both are granted together.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::lock(), and `errc::would_deadlock` at once when the owner has guards
    /// of a hold that has lapsed or was revoked: unlock them first.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock_shared(owner by, Token&& token = {}) const {
        return initiate(&start_lock_shared, std::forward<Token>(token), by);
    }

    /// Shares the lock once more if `by` holds it in any way, or if no exclusive contender holds it
    /// or waits for it. Otherwise the operation completes with an empty guard, also when another
    /// call of the owner waits, or when old guards of the owner keep its node.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::try_lock().
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared(owner by, Token&& token = {}) const {
        return initiate(&start_try_lock_shared, std::forward<Token>(token), by);
    }

    /// As lock_shared(), but waits for at most `limit`, and then completes as
    /// mutex::try_lock_for(). With zero or less it is a try_lock_shared().
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock_shared(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_for(owner by,
                                           const std::chrono::duration<Rep, Period>& limit,
                                           Token&& token = {}) const {
        return initiate(&start_try_lock_shared_for, std::forward<Token>(token), by,
                        detail::limit_of(limit));
    }

    /// As try_lock_shared_for(), with a point in time of any clock. A later change of that clock's
    /// time has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto
    try_lock_shared_until(owner by, const std::chrono::time_point<Clock, Duration>& deadline,
                          Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_shared_for, impl_, by,
                                                         detail::until{deadline});
    }

    /// Waits for the exclusive lock, runs a coroutine under it, releases it, and waits for the
    /// release.
    ///
    /// Everything else: as mutex::with(), with the errors of lock().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(owner by,
                                                                         Work work) const {
        return detail::with<guard>([self = *this, by] { return self.lock(by); }, std::move(work));
    }

    /// As with(), if `by` holds it or it is free: see try_lock(). Otherwise as mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>> try_with(owner by,
                                                                                 Work work) const {
        return detail::try_with<guard>([self = *this, by] { return self.try_lock(by); },
                                       std::move(work));
    }

    /// As try_with(), but waits for at most `limit`: see try_lock_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_for(owner by, const std::chrono::duration<Rep, Period>& limit, Work work) const {
        return detail::try_with<guard>(
            [self = *this, by, limit] { return self.try_lock_for(by, limit); }, std::move(work));
    }

    /// As try_with_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_until(owner by, const std::chrono::time_point<Clock, Duration>& deadline,
                   Work work) const {
        return detail::try_with<guard>(
            [self = *this, by, deadline] { return self.try_lock_until(by, deadline); },
            std::move(work));
    }

    /// Waits for the shared lock, runs a coroutine under it, releases it, and waits for the
    /// release.
    ///
    /// Everything else: as mutex::with(), with the errors of lock_shared().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with_shared(owner by,
                                                                                Work work) const {
        return detail::with<guard>([self = *this, by] { return self.lock_shared(by); },
                                   std::move(work));
    }

    /// As with_shared(), if `by` holds it, or no exclusive contender holds it or waits: see
    /// try_lock_shared(). Otherwise as mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared(owner by, Work work) const {
        return detail::try_with<guard>([self = *this, by] { return self.try_lock_shared(by); },
                                       std::move(work));
    }

    /// As try_with_shared(), but waits for at most `limit`: see try_lock_shared_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_for(owner by, const std::chrono::duration<Rep, Period>& limit,
                        Work work) const {
        return detail::try_with<guard>(
            [self = *this, by, limit] { return self.try_lock_shared_for(by, limit); },
            std::move(work));
    }

    /// As try_with_shared_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_until(owner by, const std::chrono::time_point<Clock, Duration>& deadline,
                          Work work) const {
        return detail::try_with<guard>(
            [self = *this, by, deadline] { return self.try_lock_shared_until(by, deadline); },
            std::move(work));
    }

    /// As mutex::contenders(); contender::shared is true for readers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

private:
    static void start_lock(handler, impl_ptr, owner);
    static void start_try_lock(handler, impl_ptr, owner);
    static void start_try_lock_for(handler, impl_ptr, owner, std::chrono::nanoseconds);
    static void start_lock_shared(handler, impl_ptr, owner);
    static void start_try_lock_shared(handler, impl_ptr, owner);
    static void start_try_lock_shared_for(handler, impl_ptr, owner, std::chrono::nanoseconds);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
