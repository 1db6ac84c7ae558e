#include "locks/fair/ticket_state.hpp"

#include "locks/fair/fair_lock.hpp"

#include <utility>

namespace paddock::detail {

void ticket_state::enqueue(pending_call_ptr<ticket> call) {
    auto& client = *lock_->client;
    client.run_pending_releases();
    client.prepare_releases();
    enqueue_call_ = std::move(call);
    queue_ = queue_of(*lock_);
    queue_->observe(true);
    observing_ = true;
    key_ = queue_->join(shared_from_this(), terms_of(*lock_, rules::role::exclusive, false));
}

void ticket_state::queue_changed() {
    if (key_ == 0 || !observing_) return;
    const auto ahead = queue_->ahead_of(key_);
    if (!ahead) return;
    const bool changed = position_.exchange(*ahead, std::memory_order_release) != *ahead;
    if (enqueue_call_) return complete_enqueue();
    if (changed) complete_position_calls();
}

void ticket_state::complete_enqueue() {
    if (const auto call = std::exchange(enqueue_call_, {}))
        call->complete({}, access::make<ticket>(shared_from_this()));
}

void ticket_state::complete_position_calls() {
    if (position_calls_.empty()) return;
    queue_->watch_first(false);
    for (const auto& one : std::exchange(position_calls_, {}))
        one->complete({}, position());
}

void ticket_state::when_changed(pending_call_ptr<std::size_t> call, std::size_t seen) {
    if (failure_) return call->fail(*failure_);
    if (delivered_) return call->fail(asio::error::operation_aborted);
    if (seen != position()) return call->complete({}, position());
    position_calls_.push_back(std::move(call));
    if (position_calls_.size() == 1) queue_->watch_first(true);
}

void ticket_state::forget(const pending_call<std::size_t>& call) {
    const auto erased =
        std::erase_if(position_calls_, [&](const auto& one) { return one.get() == &call; });
    if (erased > 0 && position_calls_.empty()) queue_->watch_first(false);
}

/// The position is final: 0.
void ticket_state::granted(const std::string& path, std::int64_t czxid) {
    const auto held = std::make_shared<hold>(lock_->client, shared_from_this(), path, czxid);
    hold_ = held;
    granted_ = access::make<guard>(held);
    stop_observing();
    const bool changed = position_.exchange(0, std::memory_order_release) != 0;
    complete_enqueue();
    if (changed) complete_position_calls();
    try_deliver();
}

void ticket_state::deliver(pending_call_ptr<guard> call) {
    if (failure_) return call->fail(*failure_);
    acquired_call_ = std::move(call);
    try_deliver();
}

void ticket_state::try_deliver() {
    if (!granted_ || !acquired_call_) return;
    if (!granted_->valid()) return release_ended_hold();
    delivered_ = true;
    fail_position_calls(asio::error::operation_aborted);
    std::exchange(acquired_call_, {})->complete({}, *std::exchange(granted_, std::nullopt));
}

/// A hold that ends before its guard is delivered is released, and its node deleted.
void ticket_state::release_ended_hold() {
    failed(errc::lock_lost);
    granted_.reset();
}

void ticket_state::hold_ended(error_code why) {
    if (why != errc::released && granted_) release_ended_hold();
}

void ticket_state::failed(error_code why) {
    failure_ = why;
    stop_observing();
    fail_position_calls(why);
    if (const auto call = std::exchange(enqueue_call_, {})) call->fail(why);
    if (const auto call = std::exchange(acquired_call_, {})) call->fail(why);
}

void ticket_state::leave(error_code why) {
    if (failure_ || delivered_) return;
    failed(why);
    if (granted_)
        granted_.reset(); // releases the hold
    else if (key_ != 0)
        queue_->quit(key_);
}

void ticket_state::stop_observing() {
    if (std::exchange(observing_, false)) queue_->observe(false);
}

void ticket_state::fail_position_calls(error_code why) {
    if (position_calls_.empty()) return;
    queue_->watch_first(false);
    for (const auto& one : std::exchange(position_calls_, {}))
        one->fail(why);
}

void ticket_state::lost(error_code why) {
    if (const auto held = hold_.lock()) held->end(why);
}

void ticket_state::revoke_requested() {
    const auto held = hold_.lock();
    if (!held) return;
    held->request_revoke();
    if (lock_->revocable) held->end(errc::revoked);
}

void ticket_state::when_deleted(unique_function<void(error_code)> deleted) {
    if (const auto held = hold_.lock())
        lock_->client->sweeper().when_deleted(held->full_path(), std::move(deleted));
}

void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h) {
    const auto state = std::make_shared<ticket_state>(std::move(lock));
    const auto call = std::make_shared<ticket_call<ticket>>(state, std::move(h));
    call->start_open([state, call] { state->enqueue(call); });
}

} // namespace paddock::detail
