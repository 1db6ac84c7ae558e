#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>
#include <paddock/recursive_mutex.hpp>
#include <paddock/redis/held_key.hpp>
#include <paddock/redis/mutex.hpp>

#include <chrono>
#include <memory>
#include <optional>
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
/// **Operations**, each with the owner as its first argument, such as
/// `try_lock_for(by, limit)`: lock(), try_lock(), try_lock_for(), try_lock_until(), with(),
/// try_with(), try_with_for() and try_with_until(), all of which lockable describes; and holder()
/// and kick(), without an owner. lock() takes
/// the lock once more if its owner holds it, and so does try_lock(). All lock() calls of one owner
/// that wait are granted together. guard::unlock() of a guard that is not the owner's last
/// completes at once. Errors of lock(): those of mutex, and `errc::lock_lost` as above.
///
/// Everything else: see mutex.
class recursive_mutex : public lockable<recursive_mutex, owner> {
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

    /// As mutex::holder().
    template <
        asio::completion_token_for<void(error_code, std::optional<held_key>)> Token = default_token>
    [[nodiscard]] auto holder(Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, std::optional<held_key>)>(
            get_executor(), std::forward<Token>(token), &start_holder, impl_);
    }

    /// As mutex::kick().
    template <asio::completion_token_for<void(error_code, bool)> Token = default_token>
    [[nodiscard]] auto kick(held_key target, Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, bool)>(
            get_executor(), std::forward<Token>(token), &start_kick, impl_, std::move(target));
    }

private:
    friend struct paddock::detail::access;
    using impl_ptr = std::shared_ptr<const detail::line_lock>;

    static void start_lock(paddock::detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock(paddock::detail::handler<void(error_code, guard)>, impl_ptr, owner);
    static void start_try_lock_for(paddock::detail::handler<void(error_code, guard)>, impl_ptr,
                                   owner, std::chrono::nanoseconds);
    static void start_holder(paddock::detail::handler<void(error_code, std::optional<held_key>)>,
                             impl_ptr);
    static void start_kick(paddock::detail::handler<void(error_code, bool)>, impl_ptr, held_key);

    impl_ptr impl_;
};

} // namespace paddock::redis
