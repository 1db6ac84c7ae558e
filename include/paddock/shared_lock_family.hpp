#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>
#include <paddock/ticket.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct fair_lock;
}

class [[gnu::visibility("default")]] shared_lock_family;

/// One fair read-write lock for each key, for any number of keys. The lock of a key is the
/// shared_mutex in the directory `<path of the family>/<name of the key>`; lock_family says what a
/// key is, which name it has, and what becomes of its directory. A shared_mutex with the same
/// options at path_of() is the same lock.
///
/// **With g++ 12 choose between the two kinds by `if` and `else`.** It miscompiles
/// `co_await (write ? f.lock(key) : f.lock_shared(key))`, without a warning: the program
/// crashes, or its heap is damaged.
///
/// A lock_family at the same path does not exclude it, as a mutex does not exclude a shared_mutex.
///
/// **For all operations**
///
/// Errors: those of the same operation of shared_mutex, and `errc::bad_argument` for a key that is
/// empty or has more than 4096 bytes; then the client has sent nothing.
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the shared_lock_family and its client while operations are
/// pending and guards hold locks. The operations of a destroyed client complete with
/// `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class shared_lock_family {
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;
    template <typename Result>
    using handler = detail::handler<void(error_code, Result)>;

    /// With a copy of the key: a lazy token starts the operation later.
    template <typename Result, typename Start, typename Token, typename... Args>
    auto initiate(Start start, Token&& token, std::string_view key, Args... args) const {
        return detail::initiate<void(error_code, Result)>(
            get_executor(), std::forward<Token>(token), start, impl_, std::string(key), args...);
    }

public:
    /// Creates the object; does no I/O. `path` is the directory of the locks' directories, below
    /// the client's root, with at most 311 bytes; the first operation that needs missing parents
    /// creates them. The options are those of all locks.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, label or access control
    /// list that is not acceptable.
    shared_lock_family(const client& zk, std::string_view path, shared_mutex_options options);
    /// As above, with the default options.
    shared_lock_family(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    shared_lock_family(const client&&, std::string_view, shared_mutex_options) = delete;
    shared_lock_family(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// As lock_family::path_of().
    std::string path_of(std::string_view key) const;

    /// Waits for the exclusive lock of this key.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, executor, lifetime, thread safety: see the class.
    ///
    /// Cancellation safety: as mutex::lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(std::string_view key, Token&& token = {}) const {
        return initiate<guard>(&start_lock, std::forward<Token>(token), key);
    }

    /// Takes the exclusive lock of this key if it is free; otherwise completes with an empty guard.
    ///
    /// Everything else: as shared_mutex::try_lock(); errors: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(std::string_view key, Token&& token = {}) const {
        return initiate<guard>(&start_try_lock, std::forward<Token>(token), key);
    }

    /// Waits for the exclusive lock of this key for at most `limit`.
    ///
    /// Everything else: as shared_mutex::try_lock_for(); errors: see the class.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(std::string_view key,
                                    const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) const {
        return initiate<guard>(&start_try_lock_for, std::forward<Token>(token), key,
                               detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock. A later change of that clock's time
    /// has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(std::string_view key,
                                      const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) const {
        return initiate<guard>(&start_try_lock_for, std::forward<Token>(token), key,
                               detail::until{deadline});
    }

    /// Waits for the exclusive lock of this key, runs a coroutine under it, and releases it.
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

    /// Waits until no exclusive contender for the lock of this key is before the caller, and shares
    /// the lock with other readers.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock_shared(std::string_view key, Token&& token = {}) const {
        return initiate<guard>(&start_lock_shared, std::forward<Token>(token), key);
    }

    /// Shares the lock of this key if no exclusive contender holds it or waits for it; otherwise
    /// completes with an empty guard.
    ///
    /// Everything else: as shared_mutex::try_lock_shared(); errors: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared(std::string_view key, Token&& token = {}) const {
        return initiate<guard>(&start_try_lock_shared, std::forward<Token>(token), key);
    }

    /// Waits for a shared hold for at most `limit`.
    ///
    /// Everything else: as shared_mutex::try_lock_shared_for(); errors: see the class.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_for(std::string_view key,
                                           const std::chrono::duration<Rep, Period>& limit,
                                           Token&& token = {}) const {
        return initiate<guard>(&start_try_lock_shared_for, std::forward<Token>(token), key,
                               detail::limit_of(limit));
    }

    /// As try_lock_shared_for(), with a point in time of any clock. A later change of that clock's
    /// time has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto
    try_lock_shared_until(std::string_view key,
                          const std::chrono::time_point<Clock, Duration>& deadline,
                          Token&& token = {}) const {
        return initiate<guard>(&start_try_lock_shared_for, std::forward<Token>(token), key,
                               detail::until{deadline});
    }

    /// Waits for a shared hold of this key, runs a coroutine under it, and releases it.
    ///
    /// Everything else: as mutex::with(), with the errors of lock_shared().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>>
    with_shared(std::string_view key, Work work) const {
        return detail::with<guard>(
            [self = *this, key = std::string(key)] { return self.lock_shared(key); },
            std::move(work));
    }

    /// As with_shared(), if no exclusive contender for this key holds it or waits: see
    /// try_lock_shared(). Otherwise as mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared(std::string_view key, Work work) const {
        return detail::try_with<guard>(
            [self = *this, key = std::string(key)] { return self.try_lock_shared(key); },
            std::move(work));
    }

    /// As try_with_shared(), but waits for at most `limit`: see try_lock_shared_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_for(std::string_view key, const std::chrono::duration<Rep, Period>& limit,
                        Work work) const {
        return detail::try_with<guard>([self = *this, key = std::string(key),
                                        limit] { return self.try_lock_shared_for(key, limit); },
                                       std::move(work));
    }

    /// As try_with_shared_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_until(std::string_view key,
                          const std::chrono::time_point<Clock, Duration>& deadline,
                          Work work) const {
        return detail::try_with<guard>(
            [self = *this, key = std::string(key), deadline] {
                return self.try_lock_shared_until(key, deadline);
            },
            std::move(work));
    }

    /// Joins the queue for the exclusive lock of this key: see mutex::enqueue().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(std::string_view key, Token&& token = {}) const {
        return initiate<ticket>(&start_enqueue, std::forward<Token>(token), key);
    }

    /// Joins the queue for the shared lock of this key: see shared_mutex::enqueue_shared().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue_shared(std::string_view key, Token&& token = {}) const {
        return initiate<ticket>(&start_enqueue_shared, std::forward<Token>(token), key);
    }

    /// As lock_family::contenders(); contender::shared is true for readers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(std::string_view key, Token&& token = {}) const {
        return initiate<std::vector<contender>>(&start_contenders, std::forward<Token>(token), key);
    }

private:
    static void start_lock(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock_for(handler<guard>, impl_ptr, std::string key,
                                   std::chrono::nanoseconds);
    static void start_lock_shared(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock_shared(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock_shared_for(handler<guard>, impl_ptr, std::string key,
                                          std::chrono::nanoseconds);
    static void start_enqueue(handler<ticket>, impl_ptr, std::string key);
    static void start_enqueue_shared(handler<ticket>, impl_ptr, std::string key);
    static void start_contenders(handler<std::vector<contender>>, impl_ptr, std::string key);

    impl_ptr impl_; ///< a lock at the family's path, which nothing uses as such
};

} // namespace paddock
