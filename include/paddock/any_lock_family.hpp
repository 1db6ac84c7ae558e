#pragma once

#include <paddock/any_mutex.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

class lock_family;

namespace detail {
class any_family;
}

class [[gnu::visibility("default")]] any_lock_family;

/// One mutex for each key, in any system: what code takes that does not care which system has the
/// locks. A redis::lock_family is one; a paddock::lock_family converts to one. any_mutex says what
/// differs, and lock_family what a key is.
///
/// **For all operations**
///
/// Errors: those of the same operation of the mutex, and `errc::bad_argument` for a key that is
/// empty or has more than 4096 bytes; then the client has sent nothing.
///
/// Executor, lifetime, thread safety: see any_mutex.
class any_lock_family {
    using impl_ptr = std::shared_ptr<const detail::any_family>;
    using handler = detail::handler<void(error_code, guard)>;

    /// With a copy of the key: a lazy token starts the operation later.
    template <typename Start, typename Token, typename... Args>
    auto initiate(Start start, Token&& token, std::string_view key, Args... args) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         start, impl_, std::string(key), args...);
    }

public:
    any_lock_family(const lock_family& locks);

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for the lock of this key.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, executor, lifetime, thread safety: see the class.
    ///
    /// Cancellation safety: as any_mutex::lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(std::string_view key, Token&& token = {}) const {
        return initiate(&start_lock, std::forward<Token>(token), key);
    }

    /// Takes the lock of this key if it is free; otherwise completes with an empty guard.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, executor, lifetime, thread safety: see the class.
    ///
    /// Cancellation safety: as any_mutex::lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(std::string_view key, Token&& token = {}) const {
        return initiate(&start_try_lock, std::forward<Token>(token), key);
    }

    /// Waits for the lock of this key for at most `limit`, as any_mutex::try_lock_for().
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, executor, lifetime, thread safety: see the class.
    ///
    /// Cancellation safety: as any_mutex::lock().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(std::string_view key,
                                    const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) const {
        return initiate(&start_try_lock_for, std::forward<Token>(token), key,
                        detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(std::string_view key,
                                      const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) const {
        return initiate(&start_try_lock_for, std::forward<Token>(token), key,
                        detail::until{deadline});
    }

    /// Waits for the lock of this key, runs a coroutine under it, releases the lock, and waits for
    /// the release.
    ///
    /// Everything else: as mutex::with(), with the errors of lock().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(std::string_view key,
                                                                         Work work) const {
        return detail::with<guard>(
            [self = *this, key = std::string(key)] { return self.lock(key); }, std::move(work));
    }

    /// As with(), if the lock of this key is free: see try_lock(). Otherwise as mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with(std::string_view key, Work work) const {
        return detail::try_with<guard>(
            [self = *this, key = std::string(key)] { return self.try_lock(key); }, std::move(work));
    }

    /// As try_with(), but waits for at most `limit`: see try_lock_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_for(std::string_view key, const std::chrono::duration<Rep, Period>& limit,
                 Work work) const {
        return detail::try_with<guard>(
            [self = *this, key = std::string(key), limit] { return self.try_lock_for(key, limit); },
            std::move(work));
    }

    /// As try_with_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_until(std::string_view key, const std::chrono::time_point<Clock, Duration>& deadline,
                   Work work) const {
        return detail::try_with<guard>([self = *this, key = std::string(key),
                                        deadline] { return self.try_lock_until(key, deadline); },
                                       std::move(work));
    }

protected:
    explicit any_lock_family(impl_ptr impl) noexcept;

private:
    static void start_lock(handler, impl_ptr, std::string key);
    static void start_try_lock(handler, impl_ptr, std::string key);
    static void start_try_lock_for(handler, impl_ptr, std::string key, std::chrono::nanoseconds);

    impl_ptr impl_;
};

} // namespace paddock
