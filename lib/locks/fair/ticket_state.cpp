#include "locks/fair/ticket_state.hpp"

#include "locks/fair/fair_lock.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

void ticket_state::enqueue(pending_call_ptr<ticket> call) {
    auto& client = *lock_->client;
    client.take_returns();
    client.expect_returns();
    entering_ = std::move(call);
    queue_ = queue_of(*lock_);
    queue_->observe(true);
    observing_ = true;
    key_ = queue_->enter(shared_from_this(), terms_of(*lock_, rules::role::exclusive, false));
}

void ticket_state::queue_changed() {
    if (key_ == 0 || !observing_) return;
    const auto ahead = queue_->ahead_of(key_);
    if (!ahead) return;
    const bool changed = position_.exchange(*ahead, std::memory_order_release) != *ahead;
    if (entering_) return entered();
    if (changed) tell_position();
}

void ticket_state::entered() {
    if (const auto call = std::exchange(entering_, {}))
        call->complete({}, access::make<ticket>(shared_from_this()));
}

void ticket_state::tell_position() {
    if (watchers_.empty()) return;
    queue_->watch_first(false);
    for (const auto& one : std::exchange(watchers_, {}))
        one->complete({}, position());
}

void ticket_state::when_changed(pending_call_ptr<std::size_t> call, std::size_t seen) {
    if (failure_) return call->fail(*failure_);
    if (handed_over_) return call->fail(asio::error::operation_aborted);
    if (seen != position()) return call->complete({}, position());
    watchers_.push_back(std::move(call));
    if (watchers_.size() == 1) queue_->watch_first(true);
}

void ticket_state::forget(const pending_call<std::size_t>& call) {
    const auto gone = std::erase_if(watchers_, [&](const auto& one) { return one.get() == &call; });
    if (gone > 0 && watchers_.empty()) queue_->watch_first(false);
}

/// From here on its place does not change any more.
void ticket_state::granted(const std::string& path, std::int64_t czxid) {
    const auto made = std::make_shared<hold>(lock_->client, shared_from_this(), path, czxid);
    hold_ = made;
    granted_ = access::make<guard>(made);
    stop_observing();
    const bool changed = position_.exchange(0, std::memory_order_release) != 0;
    entered();
    if (changed) tell_position();
    hand_over();
}

void ticket_state::deliver(pending_call_ptr<guard> call) {
    if (failure_) return call->fail(*failure_);
    waiting_ = std::move(call);
    hand_over();
}

void ticket_state::hand_over() {
    if (!granted_ || !waiting_) return;
    if (!granted_->valid()) return forfeit();
    handed_over_ = true;
    end_watching(asio::error::operation_aborted);
    std::exchange(waiting_, {})->complete({}, *std::exchange(granted_, std::nullopt));
}

/// A hold that has ended before the ticket was asked for it goes, and its node with it.
void ticket_state::forfeit() {
    failed(errc::lock_lost);
    granted_.reset();
}

void ticket_state::ended(error_code why) {
    if (why != errc::released && granted_) forfeit();
}

void ticket_state::failed(error_code why) {
    failure_ = why;
    stop_observing();
    end_watching(why);
    if (const auto call = std::exchange(entering_, {})) call->fail(why);
    if (const auto call = std::exchange(waiting_, {})) call->fail(why);
}

void ticket_state::leave(error_code why) {
    if (failure_ || handed_over_) return;
    failed(why);
    if (granted_)
        granted_.reset(); // which releases
    else if (key_ != 0)
        queue_->quit(key_);
}

void ticket_state::stop_observing() {
    if (std::exchange(observing_, false)) queue_->observe(false);
}

/// The position changes no more.
void ticket_state::end_watching(error_code why) {
    if (watchers_.empty()) return;
    queue_->watch_first(false);
    for (const auto& one : std::exchange(watchers_, {}))
        one->fail(why);
}

/// Which may end a hold that was not handed over.
void ticket_state::lost(error_code why) {
    if (const auto held = hold_.lock()) held->end(why);
}

void ticket_state::revoke_requested() {
    const auto held = hold_.lock();
    if (!held) return;
    held->request_revoke();
    if (lock_->revocable) held->end(errc::revoked);
}

void ticket_state::when_deleted(unique_function<void(error_code)> gone) {
    if (const auto held = hold_.lock())
        lock_->client->sweeper().when_deleted(held->full_path(), std::move(gone));
}

void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h) {
    const auto state = std::make_shared<ticket_state>(std::move(lock));
    const auto call = std::make_shared<ticket_call<ticket>>(state, std::move(h));
    call->start_open([state, call] { state->enqueue(call); });
}

} // namespace paddock::detail
