#include "client/hold.hpp"
#include "support/argument.hpp"

#include <paddock/guarded.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace paddock::detail {

/// One guarded operation. It runs in a coroutine of its own, so that it does not change the
/// caller's cancellation state.
class guarded_run {
public:
    guarded_run(std::shared_ptr<hold> held, guarded_plan plan)
        : held_(std::move(held)), plan_(std::move(plan)) {}

    asio::awaitable<guarded_result> run();

private:
    asio::awaitable<void> until_lost();
    asio::awaitable<void> up_to_operate();
    asio::awaitable<void> claim();
    asio::awaitable<void> operate();
    asio::awaitable<std::exception_ptr> commit_obstacle() const;
    asio::awaitable<void> commit();
    asio::awaitable<void> restore(guarded_result& result);
    void need_hold() const {
        if (!held_->valid()) throw system_error(errc::lock_lost);
    }

    std::shared_ptr<hold> held_;
    guarded_plan plan_;
    bool operating_ = false;
};

namespace {

/// The exception that `work` throws, or null.
asio::awaitable<std::exception_ptr> failure_of(asio::awaitable<void> work) {
    try {
        co_await std::move(work);
        co_return nullptr;
    } catch (...) {
        co_return std::current_exception();
    }
}

/// A cancellation of any type stops the steps that restore() can undo.
asio::cancellation_type as_every_type(asio::cancellation_type how) noexcept {
    return how == asio::cancellation_type::none ? how : asio::cancellation_type::all;
}

/// Whether a commit that failed with this error may still have been executed.
bool may_have_committed(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const system_error& error) {
        const auto code = error.code();
        return code == errc::outcome_unknown || code == errc::closed || code == errc::auth_failed ||
               code == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

} // namespace

asio::awaitable<guarded_result> guarded_run::run() {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(&as_every_type);
    guarded_result result;
    result.reason = co_await failure_of(until_lost());
    if (!result.reason) result.reason = co_await commit_obstacle();
    if (!operating_) co_return result;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    if (!result.reason) {
        // Spawned, so that commit() reacts only to terminal cancellation.
        const auto executor = co_await asio::this_coro::executor;
        result.reason =
            co_await failure_of(asio::co_spawn(executor, commit(), asio::use_awaitable));
        if (!result.reason) {
            result.outcome = guarded_outcome::committed;
            co_return result;
        }
        if (may_have_committed(result.reason)) {
            result.outcome = guarded_outcome::unknown;
            co_return result;
        }
    }
    co_await restore(result);
    co_return result;
}

asio::awaitable<void> guarded_run::until_lost() {
    auto lost = [this](auto token) {
        return initiate<void(error_code, error_code)>(held_->client()->get_executor(),
                                                      std::move(token),
                                                      access::start_lost_of<guard>(), held_);
    };
    auto work = [this] { return up_to_operate(); };
    co_await run_until_lost(std::move(lost), std::move(work));
}

/// After a cancellation the next co_await throws, even if the step before ignored it.
asio::awaitable<void> guarded_run::up_to_operate() {
    need_hold();
    if (plan_.claim) co_await claim();
    need_hold();
    co_await plan_.record();
    need_hold();
    co_await operate();
}

asio::awaitable<void> guarded_run::claim() {
    const bool ours = co_await plan_.claim(held_->token());
    if (!ours) throw system_error(errc::lock_lost);
}

asio::awaitable<void> guarded_run::operate() {
    operating_ = true;
    co_await plan_.operate();
}

/// The error that forbids the commit although operate was successful, or null.
asio::awaitable<std::exception_ptr> guarded_run::commit_obstacle() const {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return std::make_exception_ptr(system_error(asio::error::operation_aborted));
    if (!held_->valid()) co_return std::make_exception_ptr(system_error(errc::lock_lost));
    co_return nullptr;
}

asio::awaitable<void> guarded_run::commit() {
    if (plan_.commit) {
        co_await plan_.commit(held_->token());
        co_return;
    }
    auto steps = plan_.transaction();
    co_await initiate<void(error_code, std::vector<operation_result>)>(
        held_->client()->get_executor(), default_token(), access::start_transaction_of<guard>(),
        held_, std::move(steps));
}

asio::awaitable<void> guarded_run::restore(guarded_result& result) {
    const auto executor = co_await asio::this_coro::executor;
    auto uncancellable =
        asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable);
    result.restore_failure =
        co_await failure_of(asio::co_spawn(executor, plan_.restore(), std::move(uncancellable)));
    result.outcome =
        result.restore_failure ? guarded_outcome::restore_failed : guarded_outcome::restored;
}

namespace {

asio::awaitable<guarded_result> run_by_itself(std::shared_ptr<hold> held, guarded_plan plan) {
    guarded_run one(std::move(held), std::move(plan));
    co_return co_await one.run();
}

asio::awaitable<guarded_result> spawn(std::shared_ptr<hold> held, guarded_plan plan) {
    const auto executor = co_await asio::this_coro::executor;
    auto work = run_by_itself(std::move(held), std::move(plan));
    co_return co_await asio::co_spawn(executor, std::move(work), asio::use_awaitable);
}

} // namespace

asio::awaitable<guarded_result> run_guarded(const guard& held, guarded_plan plan) {
    if (!held) throw bad_argument("guard", "is empty: there is no hold to work under");
    if (plan.commit && !plan.claim)
        throw bad_argument("guarded_steps::claim",
                           "is missing: a commit with the token requires claim, then read");
    if (plan.transaction && !access::hold_of(held)->has_transactions())
        throw bad_argument("guarded_steps::commit",
                           "returns operations of ZooKeeper, and the guard is of another system; "
                           "a commit with the token works with it");
    if (plan.commit && !held.has_token())
        throw bad_argument("guard", "has no fencing token, which this form of commit requires");
    if (!plan.record) throw bad_argument("guarded_steps::record", "is missing");
    if (!plan.operate) throw bad_argument("guarded_steps::operate", "is missing");
    if (!plan.transaction && !plan.commit)
        throw bad_argument("guarded_steps::commit", "is missing");
    if (!plan.restore) throw bad_argument("guarded_steps::restore", "is missing");
    return spawn(access::hold_of(held), std::move(plan));
}

} // namespace paddock::detail
