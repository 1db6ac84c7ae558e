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

/// The inside of a ticket: a place in a queue that somebody watches. On the strand, but for what is
/// said to be for any thread.
class ticket_state final : public queue_user,
                           public held_resource,
                           public returnable,
                           public std::enable_shared_from_this<ticket_state> {
public:
    explicit ticket_state(std::shared_ptr<const fair_lock> lock) : lock_(std::move(lock)) {}

    // Any thread.
    std::size_t position() const noexcept { return position_.load(std::memory_order_acquire); }
    const std::shared_ptr<const fair_lock>& lock() const noexcept { return lock_; }

    /// Joins the queue; completes the call when the position is known.
    void enqueue(pending_call_ptr<ticket> call);
    /// Completes the call when the position is another than `seen`.
    void when_changed(pending_call_ptr<std::size_t> call, std::size_t seen);
    /// The call was cancelled.
    void forget(const pending_call<std::size_t>& call);
    /// Completes the call with the guard when there is one.
    void deliver(pending_call_ptr<guard> call);
    /// Nobody wants the lock any more.
    void leave(error_code why);
    void released_elsewhere() override { leave(asio::error::operation_aborted); }

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override {}
    void failed(error_code why) override;
    void lost(error_code why) override;
    void revoke_requested() override;
    void queue_changed() override;

    void release() override { queue_->release(key_); }
    void when_deleted(unique_function<void(error_code)> gone) override;
    void ended(error_code why) override;

private:
    void entered();
    void tell_position();
    void hand_over();
    void forfeit();
    void stop_observing();
    void end_watching(error_code why);

    std::shared_ptr<const fair_lock> lock_;
    pending_call_ptr<ticket> entering_; ///< until it was completed
    pending_call_ptr<guard> waiting_;   ///< in acquired(), until it was completed
    std::vector<pending_call_ptr<std::size_t>> watchers_;
    std::atomic<std::size_t> position_{0};
    std::shared_ptr<lock_queue> queue_;
    rules::contender_key key_ = 0; ///< 0: not in the queue
    bool observing_ = false;       ///< the queue
    std::optional<error_code> failure_;
    std::optional<guard> granted_; ///< and not asked for yet
    bool handed_over_ = false;     ///< the guard lives on without the ticket
    std::weak_ptr<hold> hold_;
};

/// A call on a ticket. Its cancellation leaves the queue.
template <typename Result>
class ticket_call final : public pending_call<Result> {
public:
    ticket_call(std::shared_ptr<ticket_state> of, handler<void(error_code, Result)>&& h)
        : pending_call<Result>(of->lock()->client, std::move(h)), of_(std::move(of)) {}

private:
    void cancelled() override {
        of_->leave(asio::error::operation_aborted);
        this->fail(asio::error::operation_aborted); // it has not reached the ticket yet
    }

    const std::shared_ptr<ticket_state> of_;
};

/// One call of enqueue().
void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h);

} // namespace paddock::detail
