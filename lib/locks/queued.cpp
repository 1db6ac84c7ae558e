#include "locks/queued.hpp"

#include "locks/entering.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

queued::queued(std::shared_ptr<const line_lock> lock, handler<void(error_code, ticket)>&& h)
    : lock_(std::move(lock)), entering_(lock_->client->get_executor(), std::move(h)) {}

void queued::launch() {
    entering_.on_cancel([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->lock_->client->post([self] { self->leave(asio::error::operation_aborted); });
    });
    lock_->client->post([self = shared_from_this()] { self->begin(); });
}

void queued::begin() {
    auto& client = *lock_->client;
    if (!entering_) return;
    if (client.closed()) return failed(client.close_reason());
    client.start();
    client.take_returns();
    client.expect_returns();
    line_ = line_of(*lock_);
    line_->observe(true);
    observing_ = true;
    key_ = line_->enter(shared_from_this(), terms_of(*lock_, rules::role::exclusive, false));
}

void queued::moved() {
    if (key_ == 0) return;
    const auto ahead = line_->ahead_of(key_);
    if (!ahead) return;
    const bool changed = position_.exchange(*ahead, std::memory_order_release) != *ahead;
    if (entering_) return placed();
    if (changed) tell_position();
}

void queued::placed() {
    if (entering_) entering_.complete({}, ticket(shared_from_this()));
}

void queued::tell_position() {
    if (watchers_.empty()) return;
    line_->watch_first(false);
    for (const auto& one : std::exchange(watchers_, {}))
        if (one->user) one->user.complete({}, position());
}

void queued::when_changed(std::shared_ptr<watcher> who, std::size_t seen) {
    if (!who->user) return; // cancelled
    if (failure_) return who->user.complete(*failure_, 0);
    if (seen != position()) return who->user.complete({}, position());
    watchers_.push_back(std::move(who));
    if (watchers_.size() == 1) line_->watch_first(true);
}

void queued::forget(const std::shared_ptr<watcher>& who) {
    if (who->user) who->user.complete(asio::error::operation_aborted, 0);
    if (std::erase(watchers_, who) > 0 && watchers_.empty()) line_->watch_first(false);
}

void queued::granted(const std::string& path, std::int64_t czxid) {
    const auto made = std::make_shared<hold>(lock_->client, shared_from_this(), path, czxid);
    hold_ = made;
    granted_.emplace(made);
    const bool changed = position_.exchange(0, std::memory_order_release) != 0;
    placed();
    if (changed) tell_position();
    if (waiting_) waiting_.complete({}, *std::exchange(granted_, std::nullopt));
}

void queued::deliver(bridge<error_code, guard> who) {
    if (granted_)
        who.complete({}, *std::exchange(granted_, std::nullopt));
    else if (failure_)
        who.complete(*failure_, {});
    else
        waiting_ = std::move(who);
}

void queued::failed(error_code why) {
    failure_ = why;
    over();
    if (entering_) entering_.complete(why, {});
    if (waiting_) waiting_.complete(why, {});
}

void queued::leave(error_code why) {
    if (failure_) return;
    failed(why);
    granted_.reset();
    if (key_ != 0) line_->quit(key_);
}

/// Nobody hears of the line any more.
void queued::over() {
    if (std::exchange(observing_, false)) line_->observe(false);
    if (watchers_.empty()) return;
    line_->watch_first(false);
    for (const auto& one : std::exchange(watchers_, {}))
        if (one->user) one->user.complete(*failure_, 0);
}

void queued::lost(error_code why) {
    if (const auto held = hold_.lock()) held->end(why);
    if (!granted_) return;
    failed(errc::lock_lost);
    granted_.reset();
}

void queued::asked_back() {
    const auto held = hold_.lock();
    if (!held) return;
    held->ask_back();
    if (lock_->revocable) held->end(errc::revoked);
}

void queued::when_gone(unique_function<void(error_code)> gone) {
    if (const auto held = hold_.lock())
        lock_->client->sweeper().when_gone(held->full_path(), std::move(gone));
}

void enqueue(std::shared_ptr<const line_lock> lock, handler<void(error_code, ticket)> h) {
    std::make_shared<queued>(std::move(lock), std::move(h))->launch();
}

} // namespace paddock::detail
