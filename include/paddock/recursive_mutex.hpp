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
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct recursive_lock;
}

class [[gnu::visibility("default")]] owner;

/// The owner on whose behalf a coroutine locks a recursive_mutex. A coroutine has no thread
/// identity, so it passes its owner to the coroutines that it calls. A copy is the same owner.
/// Unique within this process.
///
/// Thread safety: any thread may use it at any time.
class owner {
public:
    /// Makes a new owner.
    owner() noexcept;

    std::uint64_t id() const noexcept { return id_; }
    friend auto operator<=>(const owner&, const owner&) = default;

private:
    std::uint64_t id_;
};

class [[gnu::visibility("default")]] recursive_mutex;

/// A reentrant mutex: its owner can lock it again while holding it, at once and without a request.
/// The lock is released with the last guard of the owner, whatever the order of the releases.
/// Different owners, also those of one process, queue like any contenders. Node names are those of
/// mutex, so a recursive_mutex and a mutex (and Curator's InterProcessMutex, which is reentrant as
/// well) exclude each other at one path.
///
/// This object and its copies know what an owner holds. Two recursive_mutex objects that a program
/// has made separately know nothing of each other: an owner that holds one waits for the other.
///
/// All guards of an owner have the same path and fencing token, and are lost together, for ever.
/// After `errc::lease_lapsed` and `errc::revoked` the node stays until the last of the guards is
/// unlocked or destroyed, and until then the owner's next lock() would wait behind that node: it
/// completes with `errc::would_deadlock`. Once the node is deleted or its session is over, that
/// lock() queues again, even if the old guards still exist.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the recursive_mutex and its client while operations are pending
/// and guards hold the lock. The operations of a destroyed client complete with `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class recursive_mutex {
public:
    /// As the constructor of mutex.
    recursive_mutex(const client& zk, std::string_view path, mutex_options options);
    /// As above, with the default options.
    recursive_mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    recursive_mutex(const client&&, std::string_view, mutex_options) = delete;
    recursive_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Takes the lock once more if `by` holds it; otherwise waits for it. Several lock() calls of
    /// one owner that wait at the same time share one position in the queue, and are granted
    /// together. guard::unlock() of a guard that is not the owner's last completes at once.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::lock(), and `errc::would_deadlock` at once when the owner has guards
    /// of a hold that has lapsed or was revoked: unlock them first.
    ///
    /// Cancellation safety: total and terminal. The operation completes with
    /// `asio::error::operation_aborted` at once. The contender leaves the queue when no call of
    /// this owner waits any more.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(owner by, Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_, by);
    }

    /// Takes the lock once more if `by` holds it, or takes it if it is free. Otherwise the
    /// operation completes with an empty guard, also when another lock() of the same owner waits,
    /// or old guards of the owner keep its node.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::try_lock().
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(owner by, Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_, by);
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
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_for, impl_, by,
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

    /// Waits for the lock, runs a coroutine under it, releases it, and waits for the release.
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

    /// As mutex::contenders().
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

private:
    using impl_ptr = std::shared_ptr<detail::recursive_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr, owner,
                                   std::chrono::nanoseconds);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
