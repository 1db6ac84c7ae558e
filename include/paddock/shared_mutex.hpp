#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct line_lock;
}

/// A fair read-write lock over all processes that use the same ensemble and path: one holds it
/// exclusively, or any number share it. Everybody is served in the order of the sequence numbers: a
/// reader waits for the writers before it, a writer for everybody before it, so neither starves.
/// Not reentrant. Node names are those of Curator's InterProcessReadWriteLock, so both exclude each
/// other at one path; a plain mutex at that path is another lock.
///
/// The guard of an exclusive hold can be downgraded, see guard::downgrade. Fencing tokens grow with
/// every exclusive hold; those of shared holds overlap, and order nothing.
///
/// Completions come on the handler's associated executor, by default on the client's.
/// Lifetime and thread safety: as mutex.
class shared_mutex {
public:
    /// Does no I/O. `path` is the lock's directory, below the client's root; missing parents are
    /// created when they are needed. Throws `system_error` with `errc::bad_argument` for a path or
    /// label that is not acceptable.
    shared_mutex(const client& zk, std::string_view path, shared_mutex_options options);
    /// With the default options.
    shared_mutex(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Waits for the exclusive lock. Who has a shared guard at the same time waits for itself: give
    /// that back first, for there is no upgrade.
    ///
    /// Completion signature: `void(error_code, guard)`. Errors and cancellation safety: as
    /// mutex::lock.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Token&& token = {}) {
        return initiate(&start_lock, std::forward<Token>(token));
    }

    /// Takes the exclusive lock if it is free; else completes with an empty guard, without having
    /// written anything. Otherwise as mutex::try_lock.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Token&& token = {}) {
        return initiate(&start_try_lock, std::forward<Token>(token));
    }

    /// As mutex::try_lock_for.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(std::chrono::nanoseconds limit, Token&& token = {}) {
        return initiate(&start_try_lock_for, std::forward<Token>(token), limit);
    }

    /// As try_lock_for, with a point in time.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(std::chrono::steady_clock::time_point deadline,
                                      Token&& token = {}) {
        return try_lock_for(deadline - std::chrono::steady_clock::now(),
                            std::forward<Token>(token));
    }

    /// Waits until no exclusive contender is before it, and shares the lock with others.
    ///
    /// Completion signature, errors and cancellation safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock_shared(Token&& token = {}) {
        return initiate(&start_lock_shared, std::forward<Token>(token));
    }

    /// Shares the lock if no exclusive contender holds it or waits for it.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared(Token&& token = {}) {
        return initiate(&start_try_lock_shared, std::forward<Token>(token));
    }

    /// As try_lock_for, for a shared hold.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_for(std::chrono::nanoseconds limit, Token&& token = {}) {
        return initiate(&start_try_lock_shared_for, std::forward<Token>(token), limit);
    }

    /// As try_lock_shared_for, with a point in time.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_until(std::chrono::steady_clock::time_point deadline,
                                             Token&& token = {}) {
        return try_lock_shared_for(deadline - std::chrono::steady_clock::now(),
                                   std::forward<Token>(token));
    }

    /// As mutex::contenders; `contender::shared` tells readers from writers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// As mutex::revoke.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender whom, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(whom));
    }

    /// As mutex::kick.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender whom, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(whom));
    }

private:
    using impl_ptr = std::shared_ptr<const detail::line_lock>;
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
