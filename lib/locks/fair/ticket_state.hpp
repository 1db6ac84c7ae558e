#pragma once

#include "locks/fair/queue_call.hpp"
#include "session/session_call.hpp"

#include <paddock/ticket.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

/// The inside of a ticket: follows the call of a contender, and keeps what that is granted until
/// the caller collects it. Strand only, unless marked "any thread".
class ticket_state final : public call_follower,
                           public releasable,
                           public std::enable_shared_from_this<ticket_state> {
public:
    /// The call has no handler, and has not begun.
    explicit ticket_state(std::shared_ptr<queue_call> contender)
        : contender_(std::move(contender)) {}

    // Any thread.
    std::size_t position() const noexcept { return position_.load(std::memory_order_acquire); }
    const std::shared_ptr<core>& client() const noexcept { return contender_->client(); }
    void find_holder(handler<void(error_code, std::optional<contender>)> h) const {
        contender_->find_holder(std::move(h));
    }

    /// Joins the queue, and completes the call when the position is known.
    void enqueue(session_call_ptr<ticket> call);
    /// Completes the call when the position differs from `seen`.
    void when_changed(session_call_ptr<std::size_t> call, std::size_t seen);
    /// Removes a cancelled call.
    void forget(const session_call<std::size_t>& call);
    /// Completes the call with the guard after the grant.
    void deliver(session_call_ptr<guard> call);
    /// Leaves the queue, or releases the hold.
    void leave(error_code why);
    void release_on_strand() override { leave(asio::error::operation_aborted); }

    void position_known(std::size_t ahead) override;
    void completed(error_code why, guard granted) override;

private:
    void try_deliver();
    void release_ended_hold();
    void failed(error_code why);
    void end_position_calls(error_code why);

    const std::shared_ptr<queue_call> contender_;
    session_call_ptr<ticket> enqueue_call_; ///< null once completed
    session_call_ptr<guard> acquired_call_; ///< null once completed
    std::vector<session_call_ptr<std::size_t>> position_calls_;
    std::atomic<std::size_t> position_{0};
    std::optional<error_code> failure_;
    std::optional<guard> granted_; ///< until it is delivered
    bool delivered_ = false;       ///< the guard no longer depends on the ticket
};

/// A call on a ticket. A cancellation leaves the queue.
template <typename Result>
class ticket_call final : public session_call<Result> {
public:
    ticket_call(std::shared_ptr<ticket_state> of, handler<void(error_code, Result)>&& h)
        : session_call<Result>(of->client(), std::move(h)), of_(std::move(of)) {}

private:
    void cancelled() override {
        of_->leave(asio::error::operation_aborted);
        this->fail(asio::error::operation_aborted); // if the ticket does not have the call yet
    }

    const std::shared_ptr<ticket_state> of_;
};

/// One call of enqueue(); the contender is as for ticket_state.
void enqueue(std::shared_ptr<queue_call> contender, handler<void(error_code, ticket)> h);

} // namespace paddock::detail
