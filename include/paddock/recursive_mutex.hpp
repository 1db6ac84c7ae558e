#pragma once

#include <paddock/client.hpp>
#include <paddock/detail/initiate.hpp>
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

/// On whose behalf a coroutine takes a recursive_mutex. A coroutine has no thread identity, so it
/// passes its owner down to whom it calls; copies are the same owner. Unique within this process.
/// May be used from any thread.
class owner {
public:
    /// A new one.
    owner() noexcept;

    std::uint64_t id() const noexcept { return id_; }
    friend auto operator<=>(const owner&, const owner&) = default;

private:
    std::uint64_t id_;
};

/// A mutex that its owner can take again while holding it: at once, without a request. It is given
/// back when the last guard of the owner goes, in whatever order they go. Different owners, also
/// those of one process, queue like any contenders. Node names are those of mutex, so a
/// recursive_mutex and a mutex (and Curator's InterProcessMutex, which is reentrant, too) exclude
/// each other at one path.
///
/// What an owner holds is known to this object and its copies. Two recursive_mutex that were made
/// separately know nothing of each other: an owner that holds the one waits for the other.
///
/// All guards of an owner have the same path and fencing token, and are lost together. What was
/// lost stays lost: the owner's next lock() queues anew, whether or not the old guards are still
/// there. After `errc::revoked` the node stays until the last of them goes, and that next lock()
/// waits behind it: give them back first.
///
/// Completions come on the handler's associated executor, by default on the client's.
/// Lifetime: the mutex and its client may be destroyed while operations are pending and guards are
/// held; operations of a destroyed client complete with `errc::closed`.
/// Thread safety: operations may be called from any thread at any time.
class recursive_mutex {
public:
    /// As mutex's.
    recursive_mutex(const client& zk, std::string_view path, mutex_options options);
    /// With the default options.
    recursive_mutex(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Takes the lock once more if `who` holds it, else waits for it. Several lock() of one owner
    /// that wait at the same time share one place in the line, and are granted together.
    ///
    /// Completion signature: `void(error_code, guard)`. `guard::unlock` of a guard that is not the
    /// owner's last completes at once.
    /// Errors: those of mutex::lock().
    /// Cancellation safety: total and terminal; completes with `asio::error::operation_aborted` at
    /// once. The place in the line is given up when nobody of this owner waits for it any more.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(owner who, Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_lock, impl_, who);
    }

    /// Takes the lock once more if `who` holds it, or takes it if it is free; else completes with
    /// an empty guard, also when another lock() of the same owner waits for it.
    ///
    /// Completion signature: `void(error_code, guard)`. Errors and cancellation safety: as
    /// mutex::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(owner who, Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock, impl_, who);
    }

    /// As lock(), but waits at most this long; then completes with an empty guard. With zero or
    /// less it is a try_lock() that does not mind not being connected.
    ///
    /// Completion signature, errors and cancellation safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(owner who, std::chrono::nanoseconds limit, Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_lock_for, impl_, who, limit);
    }

    /// As try_lock_for, with a point in time.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(owner who, std::chrono::steady_clock::time_point deadline,
                                      Token&& token = {}) {
        return try_lock_for(who, deadline - std::chrono::steady_clock::now(),
                            std::forward<Token>(token));
    }

    /// Who holds and who waits, as mutex::contenders().
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) {
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
