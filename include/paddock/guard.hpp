#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/run.hpp>
#include <paddock/error.hpp>
#include <paddock/fencing_token.hpp>
#include <paddock/znode.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
class hold;
}

class [[gnu::visibility("default")]] guard;

/// The handle of a hold: while the guard lives and valid() is true, the caller holds the lock.
/// Move-only. An empty guard (default constructed, moved from, or the result of a `try_lock` that
/// found the lock taken, or of a form with a time limit that was over) holds nothing; its
/// operations complete with `errc::bad_argument`, on the handler's associated executor (by default
/// Asio's system executor).
///
/// g++ 12 does not warn when a program discards a guard (`co_await mutex.lock();`), which releases
/// the lock at once: always name it, `paddock::guard held = co_await mutex.lock();`, or use with().
///
/// The comments say how it is on ZooKeeper. On Redis, read a quorum of the servers for the
/// ensemble, and the lock's key for its node: the lease is the time for which a quorum has
/// confirmed the key, and there is no session that could expire. redis::mutex says what else
/// differs.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a guard may outlive its mutex, its client (the hold ends with the client) and the
/// execution context. In the child of a fork the guard is not valid: the lock stays with the
/// parent.
///
/// Thread safety: any number of threads may call the const members at the same time. Any thread may
/// move, unlock and destroy a guard, but only one thread at a time.
class [[nodiscard]] guard {
public:
    guard() noexcept = default;
    guard(guard&&) noexcept = default;
    /// Releases the lock that this guard holds, as the destructor does.
    guard& operator=(guard&&) noexcept;
    /// Releases the lock in the background. Never throws, blocks or allocates. The client repeats
    /// the delete of the lock's node until it is done or the session has ended.
    ~guard();

    /// Whether the guard has a hold, lost or not.
    explicit operator bool() const noexcept { return hold_ != nullptr; }

    /// Whether the caller certainly holds the lock: true until the lease ends, unless the client
    /// learns before that the session has ended or that another client has deleted the node, or the
    /// hold ends otherwise. Once false, it stays false. The function compares the clock with one
    /// atomic and needs no event: the answer is right while the event loop is blocked, and after a
    /// suspension of the process or the machine.
    bool valid() const noexcept;

    /// Until when the caller certainly holds the lock if the client receives no further answer of
    /// the ensemble. The time is usually more than half of the session timeout ahead, and it
    /// advances while the ensemble answers. For an empty guard, and after the end of the hold, it
    /// is the epoch of the clock.
    boot_clock::time_point valid_until() const noexcept;

    /// The path of the lock's node, without the client's root; empty for an empty guard.
    std::string_view path() const noexcept;

    /// The fencing token, which grows with every exclusive hold of this lock, over all processes
    /// and sessions. The type's comment says how a store uses it: claim, then read; and that both
    /// of its numbers count. Zero without a token.
    paddock::fencing_token fencing_token() const noexcept;

    /// Whether there is a fencing token: not for an empty guard, nor for shared holds and permits,
    /// which overlap. A hold that was downgraded keeps its token.
    bool has_token() const noexcept;

    /// Waits until the hold has ended, and returns the reason:
    /// `const error_code why = co_await guard.lost();`. After `lease_lapsed`,
    /// `revoked` and `hold_expired` the lock's node stays until the guard is unlocked or destroyed,
    /// because the caller's code may still be at work.
    ///
    /// The reason is a result, not a failure of the wait: `co_await first_of(work(), guard.lost())`
    /// ends with the work or with the loss, whichever comes first, and cancels the other; run()
    /// does that with a loss as an error. (Asio's `||` waits for a success: if the work throws, it
    /// continues to wait for the loss, and the guard holds the lock meanwhile.)
    ///
    /// Completion signature: `void(error_code, error_code reason)`.
    ///
    /// The reason is `errc::session_expired`, `errc::lease_lapsed`, `errc::node_deleted`,
    /// `errc::revoked`, `errc::hold_expired` (hold_limit), `errc::closed`, `errc::auth_failed` (the
    /// client has closed itself), or `errc::released` after unlock() or the destructor; the first
    /// reason stays. A lost connection is no reason: if the client reconnects before the lease
    /// ends, the hold continues. The operation reports a lapse when its timer fires (late after a
    /// suspension of the machine, while valid() knows at once), or lease_options::margin earlier.
    ///
    /// Errors: the first code is `asio::error::operation_aborted` after a cancellation, and then
    /// there is no reason; or `errc::bad_argument` for an empty guard. (`redirect_error` redirects
    /// only that code: with it `co_await` throws the reason.)
    ///
    /// Cancellation safety: total and terminal; the hold continues.
    ///
    /// Executor: see the class.
    ///
    /// Lifetime: a program may destroy or unlock the guard meanwhile; the reason is then
    /// `errc::released`. If the execution context ends first, it destroys the handler without a
    /// call.
    ///
    /// Thread safety: as any const member.
    template <asio::completion_token_for<void(error_code, error_code)> Token = default_token>
    [[nodiscard]] auto lost(Token&& token = {}) const {
        return detail::initiate<void(error_code, error_code)>(
            executor(), std::forward<Token>(token), &start_lost, hold_);
    }

    /// Runs a coroutine under the lock, and returns its result:
    ///
    ///     const auto work = [&]() -> asio::awaitable<int> { … }; // named: see lockable::with()
    ///     const int left = co_await guard.run(work);
    ///
    /// When the hold is lost, run() cancels the work (all cancellation
    /// types). If the work still ends with a result, run() returns that result and never discards
    /// it: valid() and lost() tell that the hold was lost meanwhile. To learn of the end while the
    /// caller still certainly holds the lock, set lease_options::margin. When the loss was the end
    /// of the longest time (hold_limit), run() releases the lock once the work has ended.
    ///
    /// Errors: if the work throws after the loss, run() throws `lock_lost_error`
    /// (`errc::lock_lost`, and the reason), with the work's own exception nested in it
    /// (`std::rethrow_if_nested`); otherwise it throws the work's exception; `errc::bad_argument`
    /// for an empty function. (With others use first_of(): in `run(work) || other` a loss is a
    /// failure, and Asio's `||` continues to wait for the other.)
    ///
    /// Cancellation safety: run() passes every cancellation on to the work, and the cancellation of
    /// a loss too, even after a cancellation that the work has ignored.
    ///
    /// Executor: the work runs on the executor of the coroutine that awaits it. With several
    /// threads use a strand, as for everything that a program cancels.
    ///
    /// Lifetime: run() keeps the callable until the work has ended.
    ///
    /// Thread safety: as any const member.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::work_result<Work>> run(Work work) const {
        if (!hold_) return detail::refuse_work<Work>();
        return detail::run_until_lost(
            [hold = hold_, executor = executor()](auto token) {
                return detail::initiate<void(error_code, error_code)>(executor, std::move(token),
                                                                      &start_lost, hold);
            },
            std::move(work), detail::on_release::cancel_work,
            [hold = hold_](error_code reason) {
                if (reason == errc::hold_expired) release(hold);
            });
    }

    /// Waits until a client requests that the holder release the lock (`mutex::revoke`, Curator's
    /// Revoker). With `mutex_options::revocable` such a request also ends the hold: lost() then
    /// returns `errc::revoked`. The client learns of a request at the latest 100 ms and a round
    /// trip after it.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: none after a request; the reason that lost() returns when the hold ends first.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lost().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke_requested(Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_revoke_requested, hold_);
    }

    /// Turns the exclusive hold of a shared_mutex into a shared one; at no moment in between can
    /// another contender hold the lock exclusively. The new node has the position of the old one
    /// (in the form of Curator 5.5 and later), and path() is its path from then on. Do not run a
    /// transaction() at the same time. There is no way back, see upgrade().
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::lock_lost` and the reasons of lost(); the `zk_errc` of a refusal (no right to
    /// create or delete below the lock's path), after which the hold is exclusive as before;
    /// `errc::bad_argument` for a hold that is not the exclusive one of a shared_mutex.
    ///
    /// Cancellation safety: total and terminal; ends the wait, not the downgrade.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto downgrade(Token&& token = {}) {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_downgrade, hold_);
    }

    /// Refuses: there is no upgrade of a shared hold, because two shared holds that want it would
    /// wait for each other. Unlock the guard, and use lock().
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::would_deadlock`, always and at once.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as downgrade().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto upgrade(Token&& token = {}) {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_upgrade, hold_);
    }

    /// Releases the lock and waits until its node is deleted (of a sticky lock: until its client
    /// has it back). The guard is empty from the call on.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::lock_lost` when the hold was lost before (at once if its lease has ended);
    /// `errc::outcome_unknown` after two session timeouts without contact to the ensemble, counted
    /// from when the client notices, which takes up to two thirds of one; `zk_errc::no_auth`, at
    /// once, when the access control list of the lock's directory denies the right DELETE: then
    /// the node stays, others go on waiting, and the log names the path. In any case the client
    /// repeats the delete until it is done or the session has ended, without the right after
    /// pauses that grow from 1 s to a minute. `errc::closed` or
    /// `errc::auth_failed` when the client closes before: the locks end with its session.
    ///
    /// Cancellation safety: total and terminal; ends the wait, never the delete.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto unlock(Token&& token = {}) {
        // The operation owns the guard: if it never starts, the guard still releases the lock.
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_unlock, std::move(*this));
    }

    /// Asks the ensemble whether the lock's node exists, by a write that a quorum must confirm. The
    /// client repeats the request across reconnects: limit the wait.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::lock_lost`; `errc::bad_argument` when the hold has too many nodes for one
    /// request; `errc::closed`, `errc::auth_failed`; the `zk_errc` of a refusal.
    ///
    /// Cancellation safety: total and terminal; the hold continues.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto verify(Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_verify, hold_);
    }

    /// Executes all steps or none, and only if the lock's node still exists at that moment. This
    /// protects data in ZooKeeper. For data that the program has read before, give the steps its
    /// version as well: another client may have read from a server that lags, and a shared hold or
    /// a permit does not keep other contenders from writing.
    ///
    /// Completion signature: `void(error_code, std::vector<operation_result>)`, with one result for
    /// each of the steps.
    ///
    /// Errors: `errc::lock_lost` (the ensemble has executed nothing), the `zk_errc` of the first
    /// step that the ensemble refused, `errc::outcome_unknown`, `errc::bad_argument`,
    /// `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal; the ensemble still executes a transaction that the
    /// client has sent.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, std::vector<operation_result>)> Token =
                  default_token>
    [[nodiscard]] auto transaction(std::vector<operation> steps, Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<operation_result>)>(
            executor(), std::forward<Token>(token), &start_transaction, hold_, std::move(steps));
    }

private:
    friend struct detail::access;
    using hold_ptr = std::shared_ptr<detail::hold>;

    explicit guard(hold_ptr hold) noexcept;

    asio::any_io_executor executor() const noexcept;
    static void release(const hold_ptr& held);
    static void start_lost(detail::handler<void(error_code, error_code)>, hold_ptr);
    static void start_revoke_requested(detail::handler<void(error_code)>, hold_ptr);
    static void start_downgrade(detail::handler<void(error_code)>, hold_ptr);
    static void start_upgrade(detail::handler<void(error_code)>, hold_ptr);
    static void start_unlock(detail::handler<void(error_code)>, guard);
    static void start_verify(detail::handler<void(error_code)>, hold_ptr);
    static void start_transaction(detail::handler<void(error_code, std::vector<operation_result>)>,
                                  hold_ptr, std::vector<operation>);

    hold_ptr hold_;
};

} // namespace paddock
