#pragma once

#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace paddock {

class mutex;

namespace detail {
class any_lock;
}

class [[gnu::visibility("default")]] any_mutex;

/// A mutex of any system: what code takes that does not care which system has the lock. A
/// redis::mutex is one; a paddock::mutex converts to one.
///
/// What differs:
///
///                      paddock::mutex                   redis::mutex
///     order            of arrival, over all processes   of arrival within one client only
///     a dead holder    session timeout                  the time to live of its key
///     guard::valid()   while the session's lease lasts  while a quorum certainly has the key
///     what keeps it    a quorum of the ensemble, also   one server, or more than half of several
///                      when servers fail                masters; not through a failover to a
///                                                       replica, and only while clocks run evenly
///     fencing tokens   grow for as long as the          grow while no server loses its data; after
///                      ensemble keeps its data          that, as long as their clocks agree
///     transaction()    yes                              errc::not_supported
///     name             a path                           a key: any bytes
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
class any_mutex {
public:
    any_mutex(const mutex& lock);

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for the lock.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of the mutex's own class.
    ///
    /// Cancellation safety: total and terminal. The operation completes with
    /// `asio::error::operation_aborted` at once. If the grant came first, the operation delivers
    /// the guard.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_);
    }

    /// Takes the lock if it is free; otherwise completes with an empty guard.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_);
    }

    /// Waits for the lock for at most `limit`. Then the operation completes with an empty guard, or
    /// with `errc::not_connected` if the client is not connected, and has not seen that the lock is
    /// taken. Every duration is valid; with zero or less the operation is a try_lock().
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

    /// Waits for the lock, runs a coroutine under it, releases the lock, and waits for the release.
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

    /// As try_with(), but waits for the lock for at most `limit`: see try_lock_for().
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

protected:
    using impl_ptr = std::shared_ptr<const detail::any_lock>;

    explicit any_mutex(impl_ptr impl) noexcept;

private:
    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);

    impl_ptr impl_;
};

} // namespace paddock
