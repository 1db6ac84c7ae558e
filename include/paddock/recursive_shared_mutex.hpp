#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>
#include <paddock/options.hpp>
#include <paddock/recursive_mutex.hpp>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

class [[gnu::visibility("default")]] recursive_shared_mutex;

/// A reentrant read-write lock. An owner that holds it exclusively can lock it again, exclusively
/// or shared, and an owner that shares it can share it again, always at once and without a request,
/// even while others wait. There is no upgrade: a lock() of an owner that shares the lock would
/// wait for itself, and fails. Different owners, also those of one process, queue as the contenders
/// of a shared_mutex do. Node names are those of shared_mutex, so a recursive_shared_mutex, a
/// shared_mutex and Curator's InterProcessReadWriteLock (which is reentrant as well) exclude each
/// other at one path.
///
/// This object and its copies know what an owner holds. Two recursive_shared_mutex objects that a
/// program has made separately know nothing of each other: an owner that holds one waits for the
/// other.
///
/// **The hold of an owner.** An owner has one contender, so one node, for all its guards. The hold
/// is exclusive while one of them is. When the owner releases its last exclusive guard, but still
/// has shared ones, the hold becomes shared, so that other readers can enter; at no moment in
/// between can another contender hold the lock exclusively. The order of the releases is free.
///
/// This downgrade replaces the node by one with the same position (in the form of Curator 5.5 and
/// later): guard::path() of the shared guards is its path from then on. guard::unlock() of that
/// last exclusive guard waits for the downgrade: await it before a guard::transaction() or
/// guard::verify() of a shared guard, which otherwise may ask for the old node, and report
/// `errc::lock_lost` although nothing was lost. The client repeats the downgrade across reconnects.
/// If the ensemble refuses it (no right to create or delete below the lock's path), unlock() fails
/// with the `zk_errc`, and other readers wait until the owner's last guard is released. In any case
/// the owner only shares the lock from that release on: its next lock() is refused.
/// guard::downgrade() of all these guards is refused with `errc::bad_argument`.
///
/// All guards of a hold are lost together, for ever. The exclusive ones have the same fencing
/// token, the shared ones have none. After `errc::lease_lapsed`, `errc::revoked` and
/// `errc::hold_expired` the node stays until the last of the guards is unlocked or destroyed, and
/// until then the owner's next call would wait behind that node: it completes with
/// `errc::would_deadlock`. Once the node is deleted or its session is over, that call queues again,
/// even if the old guards still exist.
///
/// **Operations**, each with the owner as its first argument, such as `lock_shared(by)`: lock(),
/// try_lock(), try_lock_for(), try_lock_until(), with(), try_with(), try_with_for() and
/// try_with_until() for the exclusive lock, lock_shared(), with_shared() and so on for the shared
/// one, all of which shared_lockable describes (with a warning for g++ 12); and contenders(),
/// revoke() and kick(), without an owner.
///
/// lock() takes the exclusive lock once more if its owner holds it exclusively, lock_shared()
/// shares the lock once more if its owner holds it in any way; otherwise they wait. Several calls
/// of one owner that wait at the same time share one position in the queue, and are granted
/// together: a lock_shared() is part of the contender of a lock() of its owner that waits.
/// guard::unlock() of a guard that is not the owner's last completes at once, but for the downgrade
/// above. The contender leaves the queue when no call of the owner waits any more. If only
/// lock_shared() calls are left, they queue again, at the end, because they need not wait for
/// readers.
///
/// try_lock() and try_lock_shared() take the lock once more where lock() and lock_shared() would,
/// or take it if it is free. Otherwise the guard is empty, also when the owner itself shares the
/// lock that it wants exclusively, when another call of the owner waits, or when old guards of the
/// owner keep its node.
///
/// Errors of lock() and lock_shared(): those of mutex, and `errc::would_deadlock` at once when the
/// owner has guards of a hold that has lapsed or was revoked: unlock them first. Of lock() also
/// when the owner shares the lock, and when a lock_shared() or try_lock_shared() of the owner is
/// under way that no lock() has preceded.
class recursive_shared_mutex : public shared_lockable<recursive_shared_mutex, owner> {
public:
    /// As the constructor of shared_mutex.
    recursive_shared_mutex(const client& zk, std::string_view path, shared_mutex_options options);
    /// As above, with the default options.
    recursive_shared_mutex(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    recursive_shared_mutex(const client&&, std::string_view, shared_mutex_options) = delete;
    recursive_shared_mutex(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// As mutex::contenders(); contender::shared is true for readers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_);
    }

    /// As mutex::revoke(); all guards of the owner get the request, shared ones too.
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
    using handler = detail::handler<void(error_code, guard)>;

    static void start_lock(handler, impl_ptr, owner);
    static void start_try_lock(handler, impl_ptr, owner);
    static void start_try_lock_for(handler, impl_ptr, owner, std::chrono::nanoseconds);
    static void start_lock_shared(handler, impl_ptr, owner);
    static void start_try_lock_shared(handler, impl_ptr, owner);
    static void start_try_lock_shared_for(handler, impl_ptr, owner, std::chrono::nanoseconds);
    static void start_contenders(detail::handler<void(error_code, std::vector<contender>)>,
                                 impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
