#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>

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
public:
    /// Creates the object; does no I/O. `path` is the lock's directory, below the client's root;
    /// the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, label or access control
    /// list that is not acceptable.
    shared_mutex(const client& zk, std::string_view path, shared_mutex_options options);
    /// As above, with the default options.
    shared_mutex(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Waits for the exclusive lock. A caller with a shared guard of the same lock would wait for
    /// itself: unlock that guard first, for there is no upgrade.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors and cancellation safety: as mutex::lock().
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) {
        return initiate(&start_lock, std::forward<Token>(token));
    }

    /// Takes the exclusive lock if it is free; otherwise completes with an empty guard, and the
    /// client has written nothing.
    ///
    /// Everything else: as mutex::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) {
        return initiate(&start_try_lock, std::forward<Token>(token));
    }

    /// Waits for the exclusive lock for at most `limit`.
    ///
    /// Everything else: as mutex::try_lock_for().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) {
        return initiate(&start_try_lock_for, std::forward<Token>(token), detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock. A later change of that clock's time
    /// has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) {
        return try_lock_for(detail::limit_until(deadline), std::forward<Token>(token));
    }

    /// Waits until no exclusive contender is before the caller, and shares the lock with other
    /// readers.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock_shared(Token&& token = {}) {
        return initiate(&start_lock_shared, std::forward<Token>(token));
    }

    /// Shares the lock if no exclusive contender holds it or waits for it; otherwise completes with
    /// an empty guard.
    ///
    /// Everything else: as mutex::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared(Token&& token = {}) {
        return initiate(&start_try_lock_shared, std::forward<Token>(token));
    }

    /// Waits for a shared hold for at most `limit`.
    ///
    /// Everything else: as mutex::try_lock_for().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_for(const std::chrono::duration<Rep, Period>& limit,
                                           Token&& token = {}) {
        return initiate(&start_try_lock_shared_for, std::forward<Token>(token),
                        detail::limit_of(limit));
    }

    /// As try_lock_shared_for(), with a point in time of any clock. A later change of that clock's
    /// time has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto
    try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& deadline,
                          Token&& token = {}) {
        return try_lock_shared_for(detail::limit_until(deadline), std::forward<Token>(token));
    }

    /// As mutex::contenders(); contender::shared is true for readers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// As mutex::revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// As mutex::kick().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;
    using handler = detail::handler<void(error_code, guard)>;

    template <typename Start, typename Token, typename... Args>
    auto initiate(Start start, Token&& token, Args... args) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         start, impl_, args...);
    }

    static void start_lock(handler, impl_ptr);
    static void start_try_lock(handler, impl_ptr);
    static void start_try_lock_for(handler, impl_ptr, std::chrono::nanoseconds);
    static void start_lock_shared(handler, impl_ptr);
    static void start_try_lock_shared(handler, impl_ptr);
    static void start_try_lock_shared_for(handler, impl_ptr, std::chrono::nanoseconds);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
