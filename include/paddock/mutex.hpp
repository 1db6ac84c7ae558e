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
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct fair_lock;
}

class [[gnu::visibility("default")]] mutex;

/// A fair lock over all processes that use the same ensemble, path and name. Each contender has an
/// ephemeral sequential node in the queue, and the contenders are granted the lock in the order of
/// their sequence numbers. A release wakes one waiter, so there is no herd effect.
///
/// The lock is not reentrant: a caller that holds it and locks it again waits for ever, and the
/// client's log says so after a session timeout (client_options::log). See recursive_mutex. Node
/// names are those of Curator's InterProcessMutex, so a mutex and a Curator lock exclude each other
/// at one path. mutex_options::max_local_handoffs and linger make it sticky: it can stay with a
/// client whose callers want it again, which is an exception to the order.
///
/// **Operations**: lock(), try_lock(), try_lock_for(), try_lock_until(), with(), try_with(),
/// try_with_for() and try_with_until(), all of which lockable describes; and contenders(),
/// enqueue(), revoke() and kick().
///
/// Errors of lock(): the `zk_errc` of the ensemble's refusal (`no_auth` above all);
/// `errc::sequence_exhausted`; `errc::session_expired` if mutex_options::on_expiry says so;
/// `errc::over_budget` if mutex_options::on_over_budget says so, and for a node that is larger than
/// the whole budget; `errc::closed`; `errc::auth_failed`; `errc::bad_argument` while this client
/// uses a lock of another kind at the path, which would not exclude this one.
///
/// try_lock() writes nothing if the lock is taken: it sends one listing, or no request if one of
/// the client's own contenders holds the lock or waits for it (but that of a sticky lock may queue
/// for a tenth of a second: mutex_options::linger). How stale its answer may be depends on
/// mutex_options::sync_first. A try_lock_for() that gives up costs the servers a node, too: where a
/// thousand calls are under way at once, limits that are near to the time of an answer, and callers
/// who repeat the call at once, can leave all of them without a lock.
class mutex : public lockable<mutex> {
public:
    /// Creates the object; does no I/O. `path` is the lock's directory, below the client's root,
    /// with at most 512 bytes; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, name, label or access
    /// control list that is not acceptable.
    mutex(const client& zk, std::string_view path, mutex_options options);
    /// As above, with the default options.
    mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    mutex(const client&&, std::string_view, mutex_options) = delete;
    mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Lists the contenders, holder first, in the order of the queue, with the metadata in their
    /// nodes. One burst of reads; the result omits contenders that leave the queue meanwhile. A
    /// directory that does not exist has no contenders.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see lockable.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// Joins the queue, and completes as soon as the client knows the contender's position, before
    /// the lock is free: see ticket.
    ///
    /// Completion signature: `void(error_code, ticket)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue, impl_);
    }

    /// Requests that a contender release the lock, as Curator's Revoker does: see
    /// guard::revoke_requested and mutex_options::revocable. The request overwrites the data of the
    /// contender's node. Its client writes the data back, with the time of the first request
    /// (contender::revoke_requested), unless the node is deleted first: one write and two reads for
    /// each request. A client that stands still does so when it goes on. (A request that meets a
    /// guard::downgrade() can be lost: if contenders() shows no revoke_requested, ask again.)
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::bad_argument` for a contender of another lock; `zk_errc::no_node` when the
    /// contender has left the queue; `errc::outcome_unknown` when the connection is lost before the
    /// answer; other `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal; the ensemble still executes a request that the
    /// client has sent.
    ///
    /// Executor, lifetime, thread safety: see lockable.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// Deletes a contender's node by force. A waiter queues again. A holder loses the lock, and
    /// works on until its client learns of that: only its fencing token stops it.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    friend struct detail::access;
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);
    static void start_enqueue(detail::handler<void(error_code, ticket)>, impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
