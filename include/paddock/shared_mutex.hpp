#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>
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
/// The lock is not reentrant. Node names are those of Curator's InterProcessReadWriteLock, so a
/// shared_mutex and a Curator lock exclude each other at one path; a plain mutex at that path is
/// another lock. guard::downgrade turns an exclusive hold into a shared one. Fencing tokens grow
/// with every exclusive hold; those of shared holds order nothing, because shared holds overlap.
///
/// **Operations**: lock(), try_lock(), try_lock_for(), try_lock_until(), with(), try_with(),
/// try_with_for() and try_with_until() for the exclusive lock, lock_shared(), with_shared() and so
/// on for the shared one, all of which shared_lockable describes (with a warning for g++ 12); and
/// enqueue(), enqueue_shared(), contenders(), revoke() and kick(). Errors, and what try_lock()
/// costs: as mutex, with the shared_mutex_options.
class shared_mutex : public shared_lockable<shared_mutex> {
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
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;
    using handler = detail::handler<void(error_code, guard)>;

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
