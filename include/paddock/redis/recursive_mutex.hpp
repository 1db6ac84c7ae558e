#pragma once

#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/recursive_mutex.hpp>
#include <paddock/redis/mutex.hpp>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

namespace paddock::redis {

namespace detail {
struct line_lock;
}

class [[gnu::visibility("default")]] recursive_mutex;

/// A reentrant mutex on Redis: its owner can lock it again while holding it, at once and without a
/// request. The lock is released with the last guard of the owner, whatever the order of the
/// releases. A mutex and a recursive_mutex with the same name exclude each other. The client knows
/// what an owner holds: two objects with the same client and name are the same lock.
///
/// All guards of an owner have the same fencing token, and are lost together. Until all of them are
/// unlocked or destroyed, lock() of this owner completes with `errc::lock_lost`, and so does
/// try_lock(). (paddock::recursive_mutex refuses only while its node would block the call, and then
/// with `errc::would_deadlock`; its try_lock() finds the lock taken. Here, the lost key ends by
/// itself.)
///
/// Everything else: see mutex and any_mutex.
class recursive_mutex {
public:
    /// As the constructor of mutex.
    recursive_mutex(const client& servers, std::string_view name, mutex_options options);
    /// As above, with the default options.
    recursive_mutex(const client& servers, std::string_view name);
    /// A temporary client would close at the end of the expression.
    recursive_mutex(const client&&, std::string_view, mutex_options) = delete;
    recursive_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Takes the lock once more if `by` holds it; otherwise waits for it. All lock() calls of one
    /// owner that wait are granted together. guard::unlock() of a guard that is not the owner's
    /// last completes at once.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::lock(), and `errc::lock_lost` at once, see the class.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: see any_mutex.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(owner by, Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, guard)>(
            get_executor(), std::forward<Token>(token), &start_lock, impl_, by);
    }

    /// Takes the lock once more if `by` holds it, or takes it if it is free; otherwise completes
    /// with an empty guard.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(owner by, Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, guard)>(
            get_executor(), std::forward<Token>(token), &start_try_lock, impl_, by);
    }

    /// As lock(), but waits for at most `limit`, and then completes as any_mutex::try_lock_for().
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
        return paddock::detail::initiate<void(error_code, guard)>(
            get_executor(), std::forward<Token>(token), &start_try_lock_for, impl_, by,
            paddock::detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(owner by,
                                      const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, guard)>(
            get_executor(), std::forward<Token>(token), &start_try_lock_for, impl_, by,
            paddock::detail::until{deadline});
    }

    /// Waits for the lock, runs a coroutine under it, releases it, and waits for the release.
    ///
    /// Everything else: as paddock::mutex::with(), with the errors of lock().
    template <typename Work>
    [[nodiscard]] asio::awaitable<paddock::detail::with_result<Work, guard>> with(owner by,
                                                                                  Work work) const {
        return paddock::detail::with<guard>([self = *this, by] { return self.lock(by); },
                                            std::move(work));
    }

    /// As with(), if `by` holds it or it is free: see try_lock(). Otherwise as
    /// paddock::mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<paddock::detail::try_with_result<Work, guard>>
    try_with(owner by, Work work) const {
        return paddock::detail::try_with<guard>([self = *this, by] { return self.try_lock(by); },
                                                std::move(work));
    }

    /// As try_with(), but waits for at most `limit`: see try_lock_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<paddock::detail::try_with_result<Work, guard>>
    try_with_for(owner by, const std::chrono::duration<Rep, Period>& limit, Work work) const {
        return paddock::detail::try_with<guard>(
            [self = *this, by, limit] { return self.try_lock_for(by, limit); }, std::move(work));
    }

    /// As try_with_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<paddock::detail::try_with_result<Work, guard>>
    try_with_until(owner by, const std::chrono::time_point<Clock, Duration>& deadline,
                   Work work) const {
        return paddock::detail::try_with<guard>(
            [self = *this, by, deadline] { return self.try_lock_until(by, deadline); },
            std::move(work));
    }

private:
    using impl_ptr = std::shared_ptr<const detail::line_lock>;

    static void start_lock(paddock::detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock(paddock::detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock_for(paddock::detail::handler<void(error_code, guard)>, impl_ptr,
                                   owner, std::chrono::nanoseconds);

    impl_ptr impl_;
};

} // namespace paddock::redis
