#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>
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
/// **Operations**, each with the owner as its first argument, such as
/// `try_lock_for(by, limit)`: lock(), try_lock(), try_lock_for(), try_lock_until(), with(),
/// try_with(), try_with_for() and try_with_until(), all of which lockable describes; and
/// contenders(), revoke() and kick(), without an owner.
///
/// lock() takes the lock once more if its owner holds it; otherwise it waits. Several lock() calls
/// of one owner that wait at the same time share one position in the queue, and are granted
/// together; the contender leaves the queue when no call of this owner waits any more.
/// guard::unlock() of a guard that is not the owner's last completes at once.
///
/// try_lock() takes the lock once more if its owner holds it, or takes it if it is free. Otherwise
/// the guard is empty, also when another lock() of the same owner waits, or old guards of the owner
/// keep its node.
///
/// Errors of lock(): those of mutex, and `errc::would_deadlock` at once when the owner has guards
/// of a hold that has lapsed or was revoked: unlock them first.
class recursive_mutex : public lockable<recursive_mutex, owner> {
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

    /// As mutex::contenders().
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// As mutex::revoke(); all guards of the owner get the request.
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
    using impl_ptr = std::shared_ptr<detail::recursive_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr, owner,
                                   std::chrono::nanoseconds);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
