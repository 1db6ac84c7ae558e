#pragma once

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

/// What became of a guarded operation.
enum class guarded_outcome {
    /// The lock was lost, record failed, or somebody cancelled, before operate had begun.
    nothing_done,
    /// The commit was executed, under the lock.
    committed,
    /// There was no commit, and restore has put everything back.
    restored,
    /// There was no commit, and restore has failed: see guarded_result::restore_failure.
    restore_failed,
    /// The commit may have been executed, or not, so restore was not called.
    unknown,
};

/// How a guarded operation ended.
struct [[nodiscard]] guarded_result {
    guarded_outcome outcome = guarded_outcome::nothing_done;
    /// Why it is not known to be committed: `system_error` with `errc::lock_lost` or
    /// `asio::error::operation_aborted`, or what a step threw. None if it is committed.
    std::exception_ptr reason{};
    /// What restore threw, for guarded_outcome::restore_failed.
    std::exception_ptr restore_failure{};

    explicit operator bool() const noexcept { return outcome == guarded_outcome::committed; }

    /// Throws the reason, if there is one.
    void rethrow() const {
        if (reason) std::rethrow_exception(reason);
    }
};

/// How a guarded operation is committed, which a late one must not be. Made of a callable, in one
/// of two forms:
///
/// - `std::vector<operation>(State&)`: what it returns is executed as guard::transaction() does.
/// - `asio::awaitable<void>(State&, fencing_token)`: a coroutine that hands the token to a store
///   which refuses whoever comes with a smaller one, and throws when it was refused.
template <typename State>
class guarded_commit {
public:
    using transaction = std::function<std::vector<operation>(State&)>;
    using with_token = std::function<asio::awaitable<void>(State&, fencing_token)>;

    guarded_commit() = default;

    template <typename Callable>
    requires std::is_invocable_r_v<std::vector<operation>, Callable&, State&>
    guarded_commit(Callable how) : how_(transaction(std::move(how))) {}

    template <typename Callable>
    requires std::is_invocable_r_v<asio::awaitable<void>, Callable&, State&, fencing_token>
    guarded_commit(Callable how) : how_(with_token(std::move(how))) {}

    /// For guarded().
    std::variant<std::monostate, transaction, with_token>& how() noexcept { return how_; }

private:
    std::variant<std::monostate, transaction, with_token> how_{};
};

/// The steps of a guarded operation. `State`, any type that can be moved, is what record finds and
/// the other steps share: how things were, and where the work is that is not committed yet.
template <typename State>
struct guarded_steps {
    /// Looks at what there is, and changes nothing.
    std::function<asio::awaitable<State>()> record{};
    /// Does the work, where nobody else sees it.
    std::function<asio::awaitable<void>(State&)> operate{};
    /// Makes the work visible, all at once, and only under the lock.
    guarded_commit<State> commit{};
    /// Puts back what operate has done, or only a part of it.
    std::function<asio::awaitable<void>(State&)> restore{};
};

namespace detail {

/// The steps without the type of their state; one of `transaction` and `commit`.
struct guarded_plan {
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
    if (all->steps.record)
        plan.record = [all]() -> asio::awaitable<void> {
            all->state.emplace(co_await all->steps.record());
        };
    if (all->steps.operate)
        plan.operate = [all]() -> asio::awaitable<void> {
            co_await all->steps.operate(*all->state);
        };
    auto& how = all->steps.commit.how();
    if (auto* const make = std::get_if<1>(&how); make && *make)
        plan.transaction = [all, make] { return (*make)(*all->state); };
    if (auto* const commit = std::get_if<2>(&how); commit && *commit)
        plan.commit = [all, commit](fencing_token token) -> asio::awaitable<void> {
            co_await (*commit)(*all->state, token);
        };
    if (all->steps.restore)
        plan.restore = [all]() -> asio::awaitable<void> {
            co_await all->steps.restore(*all->state);
        };
    return plan;
}

asio::awaitable<guarded_result> run_guarded(const guard& held, guarded_plan plan);

} // namespace detail

/// Changes something under a lock so that it is changed as a whole or not at all, also when the
/// lock is lost in the middle of it:
///
///     record → valid? → operate → valid? → commit
///                          └────────┴─────────┴──→ restore
///
/// If the lock is lost before operate, nothing is done. If it is lost during operate or before the
/// commit, operate is cancelled (all cancellation types), restore is called with what record found
/// once operate has ended, and commit is not called. If operate or commit throws, restore is called
/// as well. The checks only spare work in vain: what protects the data is that the commit is fenced
/// (guarded_commit), because the lock may be lost between the last check and the commit.
///
/// **What restore may touch.** When restore runs the lock may be somebody else's, who has changed
/// the shared data already: to write back what record had found would destroy that. So operate and
/// restore touch only what nobody else sees (memory, a file whose name has the fencing token in
/// it), or they are fenced themselves, with the token or a transaction.
///
/// **Unknown outcome.** When the commit ends with `errc::outcome_unknown`, `errc::closed`,
/// `errc::auth_failed` (the client has closed itself) or `asio::error::operation_aborted`, it may
/// have been executed: the outcome is `unknown`, and restore is not called, for it would undo what
/// others may already have seen. A commit of your own that does not know throws
/// `errc::outcome_unknown`. Whoever has the lock next finds out by looking: once the node of this
/// hold is gone, its transaction will not be executed any more.
///
/// Result: what happened, and why; the steps' exceptions are in there and not thrown. Throws
/// `system_error` with `errc::bad_argument`, at the call, for an empty guard or a missing step.
/// Cancellation safety: before the commit, cancellation of any type cancels record or operate (all
/// types), and what was begun is restored. The commit is not cancelled when the lock is lost, its
/// fence decides; it heeds terminal cancellation only, which leaves its outcome `unknown`. Restore
/// heeds none. A program that ends in the middle restores nothing. Executor: the steps run on that
/// of the coroutine that awaits it; with several threads, let that be a strand. Lifetime: the steps
/// are kept until it has ended; the guard may go before, which counts as a lost lock. Thread
/// safety: as guard's const members.
template <typename State>
[[nodiscard]] asio::awaitable<guarded_result> guarded(const guard& held,
                                                      guarded_steps<State> steps) {
    return detail::run_guarded(held, detail::erase_state(std::move(steps)));
}

} // namespace paddock
