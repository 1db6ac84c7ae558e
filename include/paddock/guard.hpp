#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/run.hpp>
#include <paddock/error.hpp>
#include <paddock/znode.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
class guarded_run;
class hold;
} // namespace detail

/// The handle of a hold: as long as it lives, and valid() says so, the lock is held. Move-only. An
/// empty guard (default constructed, moved from, or from a `try_lock` that found the lock taken)
/// holds nothing; its waiting operations throw `system_error` with `errc::bad_argument`.
///
/// Thread safety: the const members may be called from any thread at the same time; a
/// guard may be moved, unlocked and destroyed on any thread, by one at a time.
/// Lifetime: may outlive its mutex and client (the hold ends with the client) and the execution
/// context.
class [[nodiscard]] guard {
public:
    guard() noexcept = default;
    guard(guard&&) noexcept = default;
    /// Releases what this guard held, as the destructor does.
    guard& operator=(guard&&) noexcept;
    /// Releases the lock in the background. Never throws, blocks or allocates. The delete of the
    /// lock's node is repeated until it is done or the session is over.
    ~guard();

    /// Whether there is a hold, lost or not.
    explicit operator bool() const noexcept { return hold_ != nullptr; }

    /// Whether the lock is certainly held: until the lease ends, unless the session is known to be
    /// over or the node to be deleted by somebody else before that. Once false, it is false for
    /// ever. Compares the clock with one atomic: it needs no event, so it is right also while the
    /// event loop is blocked, or after the process or the machine was suspended.
    bool valid() const noexcept;

    /// Until when the lock is certainly held if nothing more is heard from the ensemble; usually
    /// more than half of the session timeout ahead, and moved on while the ensemble answers. The
    /// epoch of the clock for an empty guard, and when the hold is over.
    boot_clock::time_point valid_until() const noexcept;

    /// The path of the lock's node, without the client's root; empty for an empty guard.
    std::string_view path() const noexcept;

    /// Grows with every hold of this lock, over processes and sessions; zero for an empty guard.
    paddock::fencing_token fencing_token() const noexcept;

    /// Waits until the hold is over, and says why.
    ///
    /// Completion signature: `void(error_code)`; the code is the reason: `errc::session_expired`,
    /// `errc::lease_lapsed`, `errc::node_deleted`, `errc::revoked`, `errc::closed`, or
    /// `errc::released` when the guard has given it back. A lost connection is no reason: if there
    /// is a new one before the lease ends, the hold goes on. A lapse is told when the timer fires
    /// (late, after the machine was suspended; valid() knows at once), or lease_options::margin
    /// earlier.
    /// After any reason but `session_expired` and `node_deleted` the lock's node stays until the
    /// guard goes, because the caller's code may still be at work.
    /// Because every reason is an error code, `co_await guard.lost()` always throws; use
    /// `as_tuple(use_awaitable)` or `redirect_error` where that is not wanted.
    /// Cancellation safety: total and terminal; nothing else happens. Executor: the handler's, by
    /// default the client's.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto lost(Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_lost, hold_);
    }

    /// Runs a coroutine under the lock: `co_await guard.run([&]() -> asio::awaitable<int> {…})`.
    /// When the hold is lost the work is cancelled (all cancellation types), and when it has ended,
    /// however it ends, `system_error` with `errc::lock_lost` is thrown. Otherwise gives the work's
    /// result, or throws its exception. To be told while the lock is still certainly held, set
    /// lease_options::margin.
    ///
    /// The work runs on the executor of the coroutine that awaits it: with several threads, let
    /// that be a strand, as for everything that is cancelled. Cancellation safety: passed on to the
    /// work, every time, and the loss is so even behind a cancellation that the work has ignored.
    /// Lifetime: the callable is kept until the work has ended.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::work_result<Work>> run(Work work) const {
        return detail::run_until_lost(
            [hold = hold_, executor = executor()](auto token) {
                return detail::initiate<void(error_code)>(executor, std::move(token), &start_lost,
                                                          hold);
            },
            std::move(work));
    }

    /// Waits until somebody asks for the lock back (`mutex::revoke`, Curator's Revoker). With
    /// `mutex_options::revocable` such a request also ends the hold: lost() says `errc::revoked`.
    /// A request is heard at the latest 100 ms and a round trip after it was made.
    ///
    /// Completion signature: `void(error_code)`: no error when somebody has asked, or what lost()
    /// says when the hold is over first. Cancellation safety and executor: as lost().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke_requested(Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_revoke_requested, hold_);
    }

    /// Turns the exclusive hold of a shared_mutex into a shared one, without a moment in between in
    /// which another could have the lock exclusively. The new node has the old one's place (the
    /// form of Curator 5.5 and later), and its path is path() from then on. Do not run a
    /// transaction() meanwhile.
    ///
    /// Completion signature: `void(error_code)`. Errors: `errc::lock_lost` and what lost() says;
    /// `errc::bad_argument` for a hold that is not a shared_mutex's exclusive one. There is no way
    /// back up, see upgrade().
    /// Cancellation safety: total and terminal; ends the waiting, not the downgrade.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto downgrade(Token&& token = {}) {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_downgrade, hold_);
    }

    /// There is no upgrade: two shared holds that wanted it would wait for each other. Completes
    /// with `errc::would_deadlock` for a shared hold, at once. Give it back, and use lock().
    ///
    /// Completion signature: `void(error_code)`; never without an error.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto upgrade(Token&& token = {}) {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_upgrade, hold_);
    }

    /// Releases the lock and waits until its node is gone. The guard is empty from the call on.
    ///
    /// Completion signature: `void(error_code)`.
    /// Errors: `errc::lock_lost` when the hold was lost before; `errc::outcome_unknown` after two
    /// session timeouts without contact to the ensemble. The delete goes on in any case, until it
    /// is done or the session is over.
    /// Cancellation safety: total and terminal; ends the waiting, never the delete.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto unlock(Token&& token = {}) {
        // The guard itself goes along: if the operation is never started, it releases all the same.
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_unlock, std::move(*this));
    }

    /// Asks the ensemble whether the lock's node exists, by a write that a quorum must agree to.
    ///
    /// Completion signature: `void(error_code)`. Errors: `errc::lock_lost`; repeated across
    /// reconnects, so bound it with cancellation. Cancellation safety: total and terminal.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto verify(Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_verify, hold_);
    }

    /// Executes all steps, or none, and only if the lock's node still exists at that moment: the
    /// protection of data that lives in ZooKeeper.
    ///
    /// Completion signature: `void(error_code, std::vector<operation_result>)`, a result for each
    /// of the steps. Errors: `errc::lock_lost` (nothing was done), the `zk_errc` of the first step
    /// that was refused, `errc::outcome_unknown`, `errc::bad_argument`. Cancellation safety: total
    /// and terminal; a transaction that was sent is executed all the same.
    template <asio::completion_token_for<void(error_code, std::vector<operation_result>)> Token =
                  default_token>
    [[nodiscard]] auto transaction(std::vector<operation> steps, Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<operation_result>)>(
            executor(), std::forward<Token>(token), &start_transaction, hold_, std::move(steps));
    }

    /// For the locks of this library.
    explicit guard(std::shared_ptr<detail::hold> hold) noexcept;
    const std::shared_ptr<detail::hold>& hold() const noexcept { return hold_; }

private:
    friend class detail::guarded_run;
    using hold_ptr = std::shared_ptr<detail::hold>;

    asio::any_io_executor executor() const;
    static void start_lost(detail::handler<void(error_code)>, hold_ptr);
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
