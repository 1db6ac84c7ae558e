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
#include <memory>
#include <optional>
#include <string_view>

namespace paddock {

namespace detail {
class simple_lock;
}

class [[gnu::visibility("default")]] simple_mutex;

/// An exclusive lock that is one node: the contender that creates the node holds the lock; the
/// others watch the node, and race again when it is deleted. There is no directory to list and no
/// queue to read. In return
///
/// - the lock is unfair: the first contender to arrive after a release gets it, and a contender
///   may wait for ever;
/// - the lock has the herd effect: a release wakes every client that waits, and all but one of them
///   race in vain. With nine clients that wait, a release wakes 9, which send 9 writes; in a
///   mutex's queue it wakes 1, which sends none.
///
/// Use mutex, unless other programs must know the path of the lock's node beforehand.
///
/// Beside the node, in the same directory, stands its marker, `_c_<id>-<name>-marker`, with a name
/// that no client uses again. The client creates and deletes both nodes together, so that a late or
/// repeated delete never deletes the node of another contender. An administrator that deletes the
/// lock's node by hand takes the lock from its holder, and should delete the marker as well (its id
/// is in the node's data), as kick() does: a holder that is about to release the lock, or is cut
/// off, does not know of the delete, and would delete its marker together with the node of the next
/// holder. Do not delete the marker alone: then the node stays until the holder's session ends. Do
/// not put a simple_mutex into the directory of another lock.
///
/// The contenders of one object and its copies race one at a time, in the order of their calls.
///
/// **Operations**: lock(), try_lock(), try_lock_for(), try_lock_until(), with(), try_with(),
/// try_with_for() and try_with_until(), all of which lockable describes; and holder(), revoke() and
/// kick(). After a lost
/// connection or an expired session a contender has no position to keep: it races again once the
/// client is connected. guard::path() is the path of the lock's node; guard::transaction() checks
/// the marker as well.
///
/// Errors of lock(): the `zk_errc` of the ensemble's refusal (`no_auth` above all);
/// `errc::session_expired` if simple_mutex_options::on_expiry says so; `errc::over_budget` if
/// simple_mutex_options::on_over_budget says so, and for nodes that are larger than the whole
/// budget; `errc::closed`; `errc::auth_failed`; `errc::bad_argument` while this client uses a lock
/// of another kind at the path.
///
/// try_lock() writes nothing if another contender holds the lock: it sends one read, or no request
/// if this object holds the lock itself or waits for it. It also completes with
/// `errc::not_connected` when the client loses its connection meanwhile.
class simple_mutex : public lockable<simple_mutex> {
public:
    /// Creates the object; does no I/O. `path` is that of the lock's node, below the client's root,
    /// with at most 512 bytes; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, label or access control
    /// list that is not acceptable.
    simple_mutex(const client& zk, std::string_view path, simple_mutex_options options);
    /// As above, with the default options.
    simple_mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    simple_mutex(const client&&, std::string_view, simple_mutex_options) = delete;
    simple_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Reads which contender holds the lock, with the metadata in its node; nothing if the lock is
    /// free. The contenders that wait have no nodes, and no operation lists them.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see lockable.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto holder(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_holder, impl_);
    }

    /// Requests that the holder, as holder() has returned it, release the lock: see mutex::revoke()
    /// and simple_mutex_options::revocable. Two bursts of reads find the marker of this hold, so
    /// that a write never meets the next one; they need the right to list the directory.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `zk_errc::no_node` when this holder has left; otherwise those of mutex::revoke().
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as mutex::revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// Deletes the holder's node and its marker by force, together: see mutex::kick().
    ///
    /// Everything else: as revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    friend struct detail::access;
    using impl_ptr = std::shared_ptr<detail::simple_lock>;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);
    static void start_holder(detail::handler<void(error_code, std::optional<contender>)>, impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
