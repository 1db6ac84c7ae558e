#include "client/hold.hpp"

#include <utility>

namespace paddock::detail {

hold::hold(std::shared_ptr<client_base> client, std::shared_ptr<const lease_term> term,
           std::shared_ptr<held_resource> resource, std::shared_ptr<const counted_lock> counted,
           const fencing_token& token, bool can_downgrade)
    : client_(std::move(client))
    , term_(std::move(term))
    , resource_(std::move(resource))
    , counted_(std::move(counted))
    , token_(token)
    , granted_at_(client_->env().now())
    , can_downgrade_(can_downgrade) {
    client_->draining().add(*this);
    if (counted_) counted_->series.hold_begins();
}

void hold::limit(const hold_limit& limit, boot_clock::time_point since) {
    if (limit.longest.count() == 0) return;
    ends_at_ = since + limit.longest;
    grace_ = limit.grace;
    deadline_ = client_->deadlines().add(ends_at_, weak_from_this());
}

void hold::on_deadline() {
    if (grace_.count() > 0 && client_->env().now() >= ends_at_ + grace_) return release();
    end(errc::hold_expired);
    if (grace_.count() > 0)
        deadline_ = client_->deadlines().add(ends_at_ + grace_, weak_from_this());
}

void hold::end(error_code why) {
    const bool first = !ended();
    if (first) reason_ = first_reason(why);
    if (why != errc::lease_lapsed)
        stage_.store(stage::ended, std::memory_order_release);
    else if (first)
        stage_.store(stage::lapsing, std::memory_order_release);
    if (!first) return;
    on_end();
    tell_end();
    end_calls_.complete({}, reason_);
    for (auto* const calls : {&revoke_calls_, &downgrade_calls_})
        calls->complete(reason_);
    for (auto& one : std::exchange(end_callbacks_, {}))
        one(reason_);
    resource_->hold_ended(why);
}

/// A stalled event loop learns of the end late.
void hold::tell_end() const {
    const auto now = client_->env().now();
    const bool released = reason_ == errc::released;
    const auto kept = // by the servers
        released ? now : std::max(std::min(now, term_->last_until()), granted_at_);
    const auto held = std::min(kept, ends_at_) - granted_at_;
    if (counted_) client_->observers().hold_ends(*counted_, lock_path(), held, reason_);
    if (!released && !client_->closed())
        client_->losses().add(lock_path(), reason_, held, now - kept);
}

void hold::release() {
    end(valid() ? error_code(errc::released) : loss());
    // end() comes first: it may release the resource itself.
    if (std::exchange(released_, true)) return;
    if (ends_at_ != no_end && !client_->closed()) client_->deadlines().remove(deadline_);
    resource_->release();
}

void hold::give_up() {
    release();
    client_->draining().remove(*this);
}

void hold::when_deleted(unique_function<void(error_code)> deleted) {
    if (client_->closed()) return deleted(client_->close_reason());
    resource_->when_deleted(
        [downgraded = downgrade_wanted_, deleted = std::move(deleted)](error_code why) mutable {
            // A downgrade in progress may have replaced the node.
            deleted(downgraded && why == errc::node_deleted ? error_code() : why);
        });
}

void hold::when_ended(client_call_ptr<error_code> call) {
    if (ended())
        call->complete({}, reason_);
    else
        end_calls_.add(std::move(call));
}

void hold::when_ended(unique_function<void(error_code)> callback) {
    if (ended())
        callback(reason_);
    else
        end_callbacks_.push_back(std::move(callback));
}

void hold::when_revoke_requested(client_call_ptr<> call) {
    if (revoke_requested_)
        call->complete({});
    else if (ended())
        call->complete(reason_);
    else
        revoke_calls_.add(std::move(call));
}

void hold::downgrade(client_call_ptr<> call) {
    if (!valid()) return call->complete(errc::lock_lost);
    if (shared_.load(std::memory_order_relaxed)) return call->complete({});
    if (ended()) return call->complete(reason_); // lapsing, so end() will not complete it
    downgrade_calls_.add(std::move(call));
    downgrade_wanted_ = true;
    resource_->downgrade();
}

void hold::request_revoke() {
    revoke_requested_ = true;
    revoke_calls_.complete({});
}

void hold::downgraded() {
    downgrade_wanted_ = false;
    shared_.store(true, std::memory_order_release);
    downgrade_calls_.complete({});
}

} // namespace paddock::detail
