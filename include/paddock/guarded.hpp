#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/znode.hpp>

#include <boost/asio/awaitable.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace paddock {

/// The outcome of a guarded operation.
enum class guarded_outcome {
    /// The lock was lost before operate began, the store refused the claim, claim or record failed,
    /// or the caller cancelled.
    nothing_done,
    /// The store executed the commit under the lock.
    committed,
    /// There was no commit, and restore has undone the work.
    restored,
    /// There was no commit, and restore has failed: see guarded_result::restore_failure.
    restore_failed,
    /// The store may have executed the commit, or not, so guarded() has not called restore.
    unknown,
};

/// The result of a guarded operation.
struct [[nodiscard]] guarded_result {
    guarded_outcome outcome = guarded_outcome::nothing_done;
    /// The reason why the operation is not known to be committed: `system_error` with
    /// `errc::lock_lost` (with the exception of a step that threw after the loss nested in it; a
    /// refused claim is a lost lock) or `asio::error::operation_aborted`, or the exception of a
    /// step. Null after a commit.
    std::exception_ptr reason{};
    /// The exception of restore, for guarded_outcome::restore_failed.
    std::exception_ptr restore_failure{};

    /// Whether the operation was committed.
    explicit operator bool() const noexcept { return outcome == guarded_outcome::committed; }

    /// Throws the reason, if there is one.
    void rethrow() const {
        if (reason) std::rethrow_exception(reason);
    }
};

/// The commit of a guarded operation, which a fence must refuse once the lock is lost. It is made
/// of a callable in one of two forms:
///
/// - `std::vector<operation>(State&)`: guarded() executes the returned steps as
///   guard::transaction() does, for data in the lock's own ensemble. The ensemble refuses them once
///   the lock's node is deleted, and no other contender is granted the lock before that. Give
///   op::set and op::remove the version that record has read, or add an op::check of that version:
///   then the ensemble also refuses the steps when record has not read the newest data (another
///   client may read from a server that lags) or when a client writes without the lock.
/// - `asio::awaitable<void>(State&, fencing_token)`: a coroutine that writes to any other store. In
///   one step of the store it writes only where the stored token equals this one, which
///   guarded_steps::claim has written there; it throws (`errc::lock_lost`) when it has written
///   nothing.
template <typename State>
class guarded_commit {
public:
    using transaction = std::function<std::vector<operation>(State&)>;
    using with_token = std::function<asio::awaitable<void>(State&, fencing_token)>;

    guarded_commit() = default;

    template <typename Callable>
    requires std::is_invocable_r_v<std::vector<operation>, Callable&, State&>
    guarded_commit(Callable form) : form_(transaction(std::move(form))) {}

    template <typename Callable>
    requires std::is_invocable_r_v<asio::awaitable<void>, Callable&, State&, fencing_token>
    guarded_commit(Callable form) : form_(with_token(std::move(form))) {}

private:
    friend struct detail::access;

    std::variant<std::monostate, transaction, with_token> form_{};
};

/// The steps of a guarded operation. `State`, any type that can be moved, is what record returns
/// and the other steps share: the original data, and where the uncommitted work is.
template <typename State>
struct guarded_steps {
    /// Raises the token in the store to this one, unless the stored token is larger, in one step of
    /// the store. Returns whether it has done so; false means that a later hold has been there, so
    /// the lock is lost. The form of commit with a token requires it, transactions do not.
    ///
    /// Claim, then read: a commit that the store refuses only for a larger token would not stop a
    /// holder that has read, was paused, and writes after its successor has read and before its
    /// successor has written. Both would sell the last article.
    std::function<asio::awaitable<bool>(fencing_token)> claim{};
    /// Reads the data, and changes nothing.
    std::function<asio::awaitable<State>()> record{};
    /// Does the work where no other process sees it.
    std::function<asio::awaitable<void>(State&)> operate{};
    /// Makes the work visible, as a whole, and only under the lock.
    guarded_commit<State> commit{};
    /// Undoes the work of operate, or of only a part of it.
    std::function<asio::awaitable<void>(State&)> restore{};
};

namespace detail {

/// The steps without the type of their state; one of `transaction` and `commit` is set.
struct guarded_plan {
    std::function<asio::awaitable<bool>(fencing_token)> claim{};
    std::function<asio::awaitable<void>()> record{};
    std::function<asio::awaitable<void>()> operate{};
    std::function<std::vector<operation>()> transaction{};
    std::function<asio::awaitable<void>(fencing_token)> commit{};
    std::function<asio::awaitable<void>()> restore{};
};

template <typename State>
guarded_plan erase_state(guarded_steps<State> steps) {
    struct whole {
        guarded_steps<State> steps{};
        std::optional<State> state{};
    };
    const auto all = std::make_shared<whole>();
    all->steps = std::move(steps);
    guarded_plan plan;
    plan.claim = std::move(all->steps.claim);
    if (all->steps.record)
        plan.record = [all]() -> asio::awaitable<void> {
            all->state.emplace(co_await all->steps.record());
        };
    if (all->steps.operate)
        plan.operate = [all]() -> asio::awaitable<void> {
            co_await all->steps.operate(*all->state);
        };
    auto& form = access::form_of(all->steps.commit);
    if (auto* const make = std::get_if<1>(&form); make && *make)
        plan.transaction = [all, make] { return (*make)(*all->state); };
    if (auto* const commit = std::get_if<2>(&form); commit && *commit)
        plan.commit = [all, commit](fencing_token token) -> asio::awaitable<void> {
            co_await (*commit)(*all->state, token);
        };
    if (all->steps.restore)
        plan.restore = [all]() -> asio::awaitable<void> {
            co_await all->steps.restore(*all->state);
        };
    return plan;
}

[[gnu::visibility("default")]] asio::awaitable<guarded_result> run_guarded(const guard& held,
                                                                           guarded_plan plan);

} // namespace detail

/// Changes data under a lock so that the change happens as a whole or not at all, even if the lock
/// is lost in the middle:
///
///     claim → record → valid? → operate → valid? → commit
///                                  └────────┴─────────┴──→ restore
///
/// If the lock is lost before operate, guarded() does nothing. It does not undo a claim, which is
/// no obstacle: the next holder's token is larger. If the lock is lost during operate, guarded()
/// cancels operate (all cancellation types). If operate throws, or valid() is false once it has
/// ended, guarded() does not call commit, and calls restore with the result of record. It commits
/// an operate that ends well between the early warning (lease_options::margin) and the end of the
/// lease. If commit throws, guarded() calls restore as well. The checks of valid() only save
/// useless work. The fence of the commit (guarded_commit) protects the data, because the lock may
/// be lost between the last check and the commit.
///
/// **What restore may touch.** When restore runs, another contender may hold the lock and may have
/// changed the shared data already; writing back the recorded data would destroy that change. So
/// operate and restore touch only what no other process sees (memory, a file with the fencing token
/// in its name), or they are fenced themselves, as a commit is.
///
/// **Unknown outcome.** When the commit ends with `errc::outcome_unknown`, `errc::closed`,
/// `errc::auth_failed` (the client has closed itself) or `asio::error::operation_aborted`, the
/// store may have executed it: the outcome is `unknown`, and guarded() does not call restore, which
/// would undo what other processes may already have seen. A commit coroutine that does not know its
/// outcome throws `errc::outcome_unknown`. The next holder finds the outcome by reading: once the
/// node of this hold is deleted, the ensemble does not execute its transaction any more; once the
/// next holder has claimed the store, the store refuses every write of this hold.
///
/// Result: the outcome and the reason. guarded() returns the exceptions of the steps in the result
/// and does not throw them.
///
/// Errors: throws `system_error` with `errc::bad_argument`, at the call, for an empty guard or a
/// missing step; if commit returns operations, also for a guard of a lock on Redis; if commit has
/// the form with a token, also for a missing claim and for a guard without a fencing token
/// (guard::has_token()).
///
/// Cancellation safety: before the commit, a cancellation of any type cancels claim, record or
/// operate (all types), and restore undoes the work that has begun. A loss of the lock does not
/// cancel the commit, because its fence decides; only terminal cancellation does, and leaves the
/// outcome `unknown`. Nothing cancels restore. A program that ends in the middle restores nothing.
///
/// Executor: the steps run on the executor of the coroutine that awaits guarded(). With several
/// threads use a strand.
///
/// Lifetime: guarded() keeps the steps until it has ended. A program may destroy the guard before,
/// which counts as a lost lock.
///
/// Thread safety: as the const members of guard.
template <typename State>
[[nodiscard]] asio::awaitable<guarded_result> guarded(const guard& held,
                                                      guarded_steps<State> steps) {
    return detail::run_guarded(held, detail::erase_state(std::move(steps)));
}

} // namespace paddock
