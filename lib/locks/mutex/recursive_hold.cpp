#include "locks/mutex/recursive_hold.hpp"

#include "locks/fair/fair_lock.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::detail {

recursive_call::recursive_call(std::shared_ptr<recursive_lock> what, owner by,
                               handler<void(error_code, guard)>&& h, kind how)
    : lock_call(what->terms->client, std::move(h), how), lock_(std::move(what)), owner_(by) {}

void recursive_call::join() {
    auto& found = lock_->owners[owner_];
    if (!found) found = std::make_shared<recursive_hold>(lock_, owner_);
    hold_ = found;
    hold_->add(std::static_pointer_cast<recursive_call>(shared_from_this()));
}

void recursive_call::abandoned() {
    if (hold_) hold_->leave(*this);
}

bool recursive_call::known_taken() const { return hold_ && hold_->known_taken(); }

recursive_hold::recursive_hold(std::shared_ptr<recursive_lock> of, owner by)
    : lock_(std::move(of)), owner_(by) {}

void recursive_hold::add(caller call) {
    if (granted_ && !ended_ && !any_guard_valid()) lost(errc::lease_lapsed);
    if (ended_) return refuse_call(*call);
    if (granted_) return add_guard(call);
    const bool first = callers_.empty();
    if (!first && call->immediate() && !immediate_) return call->finish({}, {});
    callers_.push_back(std::move(call));
    if (first) check_and_join();
}

/// The hold has ended, but its node exists until the guards are released, and would block a call
/// that waits.
void recursive_hold::refuse_call(recursive_call& call) {
    if (call.immediate())
        call.on_timeout(); // the call does not wait
    else
        call.finish(errc::would_deadlock, {});
}

/// The end of the lease invalidates the guards before lost() reports it.
bool recursive_hold::any_guard_valid() const {
    return std::any_of(holds_.begin(), holds_.end(), [](const std::weak_ptr<hold>& one) {
        const auto held = one.lock();
        return held && held->valid();
    });
}

/// Checks first whether the lock is free if no call wants to wait.
void recursive_hold::check_and_join() {
    immediate_ = std::all_of(callers_.begin(), callers_.end(),
                             [](const caller& one) { return one->immediate(); });
    queue_ = queue_of(*lock_->terms);
    if (!immediate_) return join_queue();
    check_if_free(lock_->terms, queue_, rules::role::exclusive,
                  [self = shared_from_this()](error_code why, bool free) {
                      if (self->ended_) return;
                      if (free)
                          self->join_queue();
                      else
                          self->not_granted(why);
                  });
}

void recursive_hold::join_queue() {
    const auto key = queue_->join(shared_from_this(),
                                  terms_of(*lock_->terms, rules::role::exclusive, immediate_));
    key_ = std::max(key_, key); // a refusal from within join() may have joined again
}

void recursive_hold::leave(const recursive_call& call) {
    const auto erased =
        std::erase_if(callers_, [&](const caller& one) { return one.get() == &call; });
    if (erased == 0 || !callers_.empty()) return;
    forget();
    if (key_ != 0) queue_->quit(key_);
}

bool recursive_hold::known_taken() const {
    return queue_ && queue_->taken_for(key_, rules::role::exclusive);
}

/// Fails all calls. Exception: if this entry did not wait, and the client is open, the calls that
/// wait join the queue again.
void recursive_hold::not_granted(error_code why) {
    key_ = 0;
    std::vector<caller> failed;
    const bool all = !immediate_ || lock_->terms->client->closed();
    const auto fails = [all](const caller& one) { return all || one->immediate(); };
    std::copy_if(callers_.begin(), callers_.end(), std::back_inserter(failed), fails);
    std::erase_if(callers_, fails);
    for (const auto& one : failed)
        one->fail(why);
    if (callers_.empty())
        forget();
    else
        check_and_join();
}

void recursive_hold::granted(const std::string& path, std::int64_t czxid) {
    granted_ = true;
    path_ = path;
    czxid_ = czxid;
    lock_->terms->client->prepare_releases();
    for (const auto& one : std::exchange(callers_, {}))
        add_guard(one);
}

void recursive_hold::add_guard(const caller& call) {
    std::erase_if(holds_, [](const std::weak_ptr<hold>& one) {
        const auto held = one.lock();
        return !held || held->ended();
    });
    const auto another =
        std::make_shared<hold>(lock_->terms->client, shared_from_this(), path_, czxid_);
    if (revoke_requested_) another->request_revoke();
    holds_.push_back(another);
    ++guards_;
    call->finish({}, access::make<guard>(another));
}

void recursive_hold::release() {
    if (--guards_ > 0) return;
    forget();
    queue_->release(key_);
}

/// The node stays until the last guard is released.
void recursive_hold::when_deleted(unique_function<void(error_code)> deleted) {
    if (guards_ > 0) return deleted({});
    lock_->terms->client->sweeper().when_deleted(path_, std::move(deleted));
}

void recursive_hold::hold_ended(error_code why) {
    if (why != errc::released) lost(why);
}

/// Once the node is deleted it cannot block the owner's next call, which may join anew.
void recursive_hold::lost(error_code why) {
    const bool node_stays = why == errc::lease_lapsed || why == errc::revoked;
    const bool again = std::exchange(ended_, true);
    if (!node_stays) forget();
    if (again) return;
    for (const auto& one : holds_)
        if (const auto held = one.lock()) held->end(why);
}

void recursive_hold::revoke_requested() {
    revoke_requested_ = true;
    for (const auto& one : holds_)
        if (const auto held = one.lock()) held->request_revoke();
    if (lock_->terms->revocable) lost(errc::revoked);
}

void recursive_hold::forget() {
    ended_ = true;
    const auto found = lock_->owners.find(owner_);
    if (found != lock_->owners.end() && found->second.get() == this) lock_->owners.erase(found);
}

} // namespace paddock::detail
