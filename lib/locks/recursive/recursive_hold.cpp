#include "locks/recursive/recursive_hold.hpp"

#include "locks/fair/fair_lock.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::detail {

recursive_hold::recursive_hold(std::shared_ptr<recursive_lock> of, owner by)
    : lock_(std::move(of)), owner_(by) {}

void recursive_hold::add(caller call) {
    if (granted_ && !ended_) end_unless_valid();
    if (ended_) return refuse_call(*call);
    const bool joined = granted_ || !callers_.empty();
    if (joined && as_ == rules::role::shared && call->as() == rules::role::exclusive)
        return call->finish(call->immediate() ? error_code() : errc::would_deadlock, {});
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

/// The guards are invalid a moment before lost() reports it.
void recursive_hold::end_unless_valid() {
    error_code why = errc::lease_lapsed;
    for (const auto& one : holds_) {
        const auto held = one.lock();
        if (!held || held->ended()) continue;
        if (held->valid()) return;
        why = held->loss();
    }
    lost(why);
}

/// The role that the waiting calls need.
rules::role recursive_hold::wanted_role() const {
    const bool exclusive = std::any_of(callers_.begin(), callers_.end(), [](const caller& one) {
        return one->as() == rules::role::exclusive;
    });
    return exclusive ? rules::role::exclusive : rules::role::shared;
}

/// Checks first whether the lock is free if no call wants to wait.
void recursive_hold::check_and_join() {
    immediate_ = std::all_of(callers_.begin(), callers_.end(),
                             [](const caller& one) { return one->immediate(); });
    as_ = wanted_role();
    queue_ = queue_of(*lock_->terms);
    if (!immediate_) return join_queue();
    check_if_free(lock_->terms, queue_, as_,
                  [self = shared_from_this()](error_code why, bool free) {
                      if (self->ended_) return;
                      if (self->as_ != self->wanted_role()) // since then, see leave()
                          self->check_and_join();
                      else if (free)
                          self->join_queue();
                      else
                          self->not_granted(why);
                  });
}

void recursive_hold::join_queue() {
    key_ = queue_->next_key();
    queue_->join(key_, shared_from_this(), terms_of(*lock_->terms, as_, immediate_));
}

void recursive_hold::leave(const recursive_call& call) {
    const auto erased =
        std::erase_if(callers_, [&](const caller& one) { return one.get() == &call; });
    if (erased == 0) return;
    if (callers_.empty()) {
        forget();
        if (key_ != 0) queue_->quit(key_);
    } else if (key_ != 0 && as_ != wanted_role()) {
        // Calls that only share must not wait for readers: they queue again.
        queue_->quit(std::exchange(key_, 0));
        check_and_join();
    }
}

bool recursive_hold::known_blocked() const { return queue_ && queue_->known_blocked(key_, as_); }

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

void recursive_hold::granted(const std::string& path, const fencing_token& token) {
    granted_ = true;
    path_ = path;
    token_ = token;
    granted_at_ = lock_->terms->client->env().now();
    lock_->terms->client->prepare_releases();
    for (const auto& one : std::exchange(callers_, {}))
        add_guard(one);
}

void recursive_hold::add_guard(const caller& call) {
    std::erase_if(holds_, [](const std::weak_ptr<node_hold>& one) {
        const auto held = one.lock();
        return !held || held->ended();
    });
    const bool exclusive = call->as() == rules::role::exclusive;
    auto& of = exclusive ? exclusive_ : shared_;
    const std::shared_ptr<held_resource> resource(shared_from_this(), &of);
    const auto another = std::make_shared<node_hold>(
        lock_->terms->client, resource, lock_->terms->counted, path_,
        lock_->terms->directory.size(), exclusive ? token_ : fencing_token());
    another->limit(lock_->terms->hold_limit, granted_at_);
    if (revoke_requested_) another->request_revoke();
    holds_.push_back(another);
    ++of.guards;
    call->finish({}, access::make<guard>(another));
}

/// The node stays until the last guard is released. Without an exclusive guard it is a shared one.
void recursive_hold::release(share& of) {
    --of.guards;
    if (exclusive_.guards > 0) return;
    if (shared_.guards > 0) return downgrade();
    forget();
    queue_->release(key_, false);
    for (auto& one : std::exchange(downgrade_waits_, {}))
        when_released(exclusive_, std::move(one));
}

void recursive_hold::when_released(const share& of, unique_function<void(error_code)> released) {
    if (exclusive_.guards + shared_.guards == 0)
        lock_->terms->client->sweeper().when_deleted(
            path_,
            [downgraded = downgrading_, released = std::move(released)](error_code why) mutable {
                // The downgrade may have replaced the node.
                released(downgraded && why == errc::node_deleted ? error_code() : why);
            });
    else if (downgrading_ && &of == &exclusive_)
        downgrade_waits_.push_back(std::move(released));
    else
        released({});
}

/// From now on the owner shares the lock, whatever becomes of the request.
void recursive_hold::downgrade() {
    if (std::exchange(as_, rules::role::shared) == rules::role::shared) return;
    downgrading_ = true;
    queue_->downgrade(key_);
}

void recursive_hold::downgraded(const std::string& path) {
    path_ = path;
    for (const auto& one : holds_)
        if (const auto held = one.lock()) held->downgraded(path);
    downgrade_done({});
}

void recursive_hold::downgrade_refused(error_code why) { downgrade_done(why); }

void recursive_hold::downgrade_done(error_code why) {
    downgrading_ = false;
    complete_downgrade_waits(why);
}

void recursive_hold::complete_downgrade_waits(error_code why) {
    for (auto& one : std::exchange(downgrade_waits_, {}))
        one(why);
}

/// Once the node is deleted it cannot block the owner's next call, which may join anew.
void recursive_hold::lost(error_code why) {
    const bool node_stays =
        why == errc::lease_lapsed || why == errc::revoked || why == errc::hold_expired;
    const bool again = std::exchange(ended_, true);
    if (!node_stays) {
        forget();
        downgrade_done(why == errc::session_expired ? error_code() : why);
    } else if (why == errc::lease_lapsed) { // without contact, no unlock() waits for long
        complete_downgrade_waits(errc::outcome_unknown);
    }
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
