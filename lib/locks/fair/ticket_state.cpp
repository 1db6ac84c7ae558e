#include "locks/fair/ticket_state.hpp"

#include <utility>

namespace paddock::detail {

void ticket_state::enqueue(session_call_ptr<ticket> call) {
    client()->prepare_releases();
    enqueue_call_ = std::move(call);
    contender_->follow(shared_from_this());
}

void ticket_state::position_known(std::size_t ahead) {
    const bool changed = position_.exchange(ahead, std::memory_order_release) != ahead;
    if (const auto call = std::exchange(enqueue_call_, {}))
        return call->complete({}, access::make<ticket>(shared_from_this()));
    if (changed) end_position_calls({});
}

void ticket_state::when_changed(session_call_ptr<std::size_t> call, std::size_t seen) {
    if (failure_) return call->fail(*failure_);
    if (delivered_) return call->fail(asio::error::operation_aborted);
    if (seen != position()) return call->complete({}, position());
    position_calls_.push_back(std::move(call));
    if (position_calls_.size() == 1) contender_->watch_first(true);
}

void ticket_state::forget(const session_call<std::size_t>& call) {
    const auto erased =
        std::erase_if(position_calls_, [&](const auto& one) { return one.get() == &call; });
    if (erased > 0 && position_calls_.empty()) contender_->watch_first(false);
}

void ticket_state::completed(error_code why, guard granted) {
    if (failure_) return; // the ticket has left
    if (why) return failed(why);
    granted_ = std::move(granted);
    position_known(0); // and final
    try_deliver();
    if (!granted_) return;
    access::hold_of(*granted_)->when_ended([weak = weak_from_this()](error_code) {
        const auto self = weak.lock();
        if (self && self->granted_) self->release_ended_hold();
    });
}

void ticket_state::deliver(session_call_ptr<guard> call) {
    if (failure_) return call->fail(*failure_);
    acquired_call_ = std::move(call);
    try_deliver();
}

void ticket_state::try_deliver() {
    if (!granted_ || !acquired_call_) return;
    if (!granted_->valid()) return release_ended_hold();
    delivered_ = true;
    end_position_calls(asio::error::operation_aborted);
    std::exchange(acquired_call_, {})->complete({}, *std::exchange(granted_, std::nullopt));
}

/// A hold that ends before its guard is delivered is released, and its nodes deleted.
void ticket_state::release_ended_hold() {
    failed(errc::lock_lost);
    granted_.reset();
}

void ticket_state::failed(error_code why) {
    failure_ = why;
    end_position_calls(why);
    if (const auto call = std::exchange(enqueue_call_, {})) call->fail(why);
    if (const auto call = std::exchange(acquired_call_, {})) call->fail(why);
}

void ticket_state::leave(error_code why) {
    if (failure_ || delivered_) return;
    failed(why);
    contender_->abandon(why);
    // At once, because the caller's next call may want the lock: a guard's destructor waits a turn.
    if (const auto last = std::exchange(granted_, std::nullopt)) access::hold_of(*last)->release();
}

void ticket_state::end_position_calls(error_code why) {
    if (position_calls_.empty()) return;
    const auto ended = std::exchange(position_calls_, {});
    contender_->watch_first(false);
    for (const auto& one : ended)
        one->complete(why, why ? 0 : position());
}

void enqueue(std::shared_ptr<queue_call> contender, handler<void(error_code, ticket)> h) {
    const auto state = std::make_shared<ticket_state>(std::move(contender));
    const auto call = std::make_shared<ticket_call<ticket>>(state, std::move(h));
    call->start_open([state, call] { state->enqueue(call); });
}

} // namespace paddock::detail
