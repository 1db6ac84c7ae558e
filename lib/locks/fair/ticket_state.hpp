#pragma once

#include "locks/call/hold.hpp"
#include "locks/fair/fair_lock.hpp"
#include "queue/lock_queue.hpp"
#include "session/pending_call.hpp"

#include <paddock/ticket.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

/// The inside of a ticket: a contender whose position in the queue the caller can follow. Strand
/// only, unless marked "any thread".
class ticket_state final : public queue_user,
                           public held_resource,
                           public releasable,
                           public std::enable_shared_from_this<ticket_state> {
public:
    explicit ticket_state(std::shared_ptr<const fair_lock> lock) : lock_(std::move(lock)) {}

    // Any thread.
    std::size_t position() const noexcept { return position_.load(std::memory_order_acquire); }
    const std::shared_ptr<const fair_lock>& lock() const noexcept { return lock_; }

    /// Joins the queue, and completes the call when the position is known.
    void enqueue(pending_call_ptr<ticket> call);
    /// Completes the call when the position differs from `seen`.
    void when_changed(pending_call_ptr<std::size_t> call, std::size_t seen);
    /// Removes a cancelled call.
    void forget(const pending_call<std::size_t>& call);
    /// Completes the call with the guard after the grant.
    void deliver(pending_call_ptr<guard> call);
    /// Leaves the queue, or releases the hold.
    void leave(error_code why);
    void release_on_strand() override { leave(asio::error::operation_aborted); }

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override {}
    void failed(error_code why) override;
    void lost(error_code why) override;
    void revoke_requested() override;
    void queue_changed() override;

    void release() override { queue_->release(key_); }
    void when_deleted(unique_function<void(error_code)> deleted) override;
    void hold_ended(error_code why) override;

private:
    void complete_enqueue();
    void complete_position_calls();
    void try_deliver();
    void release_ended_hold();
    void stop_observing();
    void fail_position_calls(error_code why);

    std::shared_ptr<const fair_lock> lock_;
    pending_call_ptr<ticket> enqueue_call_; ///< null once completed
    pending_call_ptr<guard> acquired_call_; ///< null once completed
    std::vector<pending_call_ptr<std::size_t>> position_calls_;
    std::atomic<std::size_t> position_{0};
    std::shared_ptr<lock_queue> queue_;
    rules::contender_key key_ = 0; ///< 0: not in the queue
    bool observing_ = false;       ///< see lock_queue::observe()
    std::optional<error_code> failure_;
    std::optional<guard> granted_; ///< until it is delivered
    bool delivered_ = false;       ///< the guard no longer depends on the ticket
    std::weak_ptr<hold> hold_;
};

/// A call on a ticket. A cancellation leaves the queue.
template <typename Result>
class ticket_call final : public pending_call<Result> {
public:
    ticket_call(std::shared_ptr<ticket_state> of, handler<void(error_code, Result)>&& h)
        : pending_call<Result>(of->lock()->client, std::move(h)), of_(std::move(of)) {}

private:
    void cancelled() override {
        of_->leave(asio::error::operation_aborted);
        this->fail(asio::error::operation_aborted); // if the ticket does not have the call yet
    }

    const std::shared_ptr<ticket_state> of_;
};

/// One call of enqueue().
void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h);

} // namespace paddock::detail
