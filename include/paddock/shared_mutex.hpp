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
#include <memory>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct fair_lock;
}

class [[gnu::visibility("default")]] shared_mutex;

/// A fair read-write lock over all processes that use the same ensemble and path: one contender
/// holds it exclusively, or any number share it. The contenders are granted the lock in the order
/// of their sequence numbers: a reader waits for the writers before it, a writer for all contenders
/// before it, so neither starves.
///
/// **With g++ 12 choose between the two kinds by `if` and `else`.** It miscompiles
/// `co_await (write ? m.lock() : m.lock_shared())`, without a warning: the program
/// crashes, or its heap is damaged.
///
/// The lock is not reentrant. Node names are those of Curator's InterProcessReadWriteLock, so a
/// shared_mutex and a Curator lock exclude each other at one path; a plain mutex at that path is
/// another lock. guard::downgrade turns an exclusive hold into a shared one. Fencing tokens grow
/// with every exclusive hold; those of shared holds order nothing, because shared holds overlap.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the shared_mutex and its client while operations are pending and
/// guards hold the lock. The operations of a destroyed client complete with `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class shared_mutex {
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;
    using handler = detail::handler<void(error_code, guard)>;

    template <typename Start, typename Token, typename... Args>
    auto initiate(Start start, Token&& token, Args... args) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         start, impl_, args...);
    }

public:
    /// Creates the object; does no I/O. `path` is the lock's directory, below the client's root,
    /// with at most 512 bytes; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, label or access control
    /// list that is not acceptable.
    shared_mutex(const client& zk, std::string_view path, shared_mutex_options options);
    /// As above, with the default options.
    shared_mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    shared_mutex(const client&&, std::string_view, shared_mutex_options) = delete;
    shared_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for the exclusive lock. A caller with a shared guard of the same lock would wait for
    /// itself: unlock that guard first, for there is no upgrade.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors and cancellation safety: as mutex::lock().
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) const {
        return initiate(&start_lock, std::forward<Token>(token));
    }

    /// Takes the exclusive lock if it is free; otherwise completes with an empty guard, and the
    /// client has written nothing.
    ///
    /// Everything else: as mutex::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) const {
        return initiate(&start_try_lock, std::forward<Token>(token));
    }

    /// Waits for the exclusive lock for at most `limit`.
    ///
    /// Everything else: as mutex::try_lock_for().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) const {
        return initiate(&start_try_lock_for, std::forward<Token>(token), detail::limit_of(limit));
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

    /// Waits for the exclusive lock, runs a coroutine under it, releases it, and waits for the
    /// release.
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

    /// Waits until no exclusive contender is before the caller, and shares the lock with other
    /// readers.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock_shared(Token&& token = {}) const {
        return initiate(&start_lock_shared, std::forward<Token>(token));
    }

    /// Shares the lock if no exclusive contender holds it or waits for it; otherwise completes with
    /// an empty guard.
    ///
    /// Everything else: as mutex::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared(Token&& token = {}) const {
        return initiate(&start_try_lock_shared, std::forward<Token>(token));
    }

    /// Waits for a shared hold for at most `limit`.
    ///
    /// Everything else: as mutex::try_lock_for().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_for(const std::chrono::duration<Rep, Period>& limit,
                                           Token&& token = {}) const {
        return initiate(&start_try_lock_shared_for, std::forward<Token>(token),
                        detail::limit_of(limit));
    }

    /// As try_lock_shared_for(), with a point in time of any clock. A later change of that clock's
    /// time has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto
    try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& deadline,
                          Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_shared_for, impl_,
                                                         detail::until{deadline});
    }

    /// Waits for the shared lock, runs a coroutine under it, releases it, and waits for the
    /// release.
    ///
    /// Everything else: as mutex::with(), with the errors of lock_shared().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with_shared(Work work) const {
        return detail::with<guard>([self = *this] { return self.lock_shared(); }, std::move(work));
    }

    /// As with_shared(), if no exclusive contender holds it or waits: see try_lock_shared().
    /// Otherwise as mutex::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared(Work work) const {
        return detail::try_with<guard>([self = *this] { return self.try_lock_shared(); },
                                       std::move(work));
    }

    /// As try_with_shared(), but waits for at most `limit`: see try_lock_shared_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_for(const std::chrono::duration<Rep, Period>& limit, Work work) const {
        return detail::try_with<guard>(
            [self = *this, limit] { return self.try_lock_shared_for(limit); }, std::move(work));
    }

    /// As try_with_shared_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_until(const std::chrono::time_point<Clock, Duration>& deadline,
                          Work work) const {
        return detail::try_with<guard>(
            [self = *this, deadline] { return self.try_lock_shared_until(deadline); },
            std::move(work));
    }

    /// Joins the queue for the exclusive lock: see mutex::enqueue().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue, impl_);
    }

    /// Joins the queue for the shared lock: see mutex::enqueue(). ticket::position() counts the
    /// contenders that it waits for: not the readers before it.
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue_shared(Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue_shared, impl_);
    }

    /// As mutex::contenders(); contender::shared is true for readers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// As mutex::revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// As mutex::kick().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    friend struct detail::access;

    static void start_lock(handler, impl_ptr);
    static void start_try_lock(handler, impl_ptr);
    static void start_try_lock_for(handler, impl_ptr, std::chrono::nanoseconds);
    static void start_lock_shared(handler, impl_ptr);
    static void start_try_lock_shared(handler, impl_ptr);
    static void start_try_lock_shared_for(handler, impl_ptr, std::chrono::nanoseconds);
    static void start_enqueue(detail::handler<void(error_code, ticket)>, impl_ptr);
    static void start_enqueue_shared(detail::handler<void(error_code, ticket)>, impl_ptr);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
