#include "locks/mutex/recursive_hold.hpp"

#include "locks/fair/fair_lock.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::detail {

recursive_call::recursive_call(std::shared_ptr<recursive_lock> what, owner by,
                               handler<void(error_code, guard)>&& h, kind how)
    : lock_call(what->terms->client, std::move(h), how), lock_(std::move(what)), owner_(by) {}

void recursive_call::begin() {
    auto& found = lock_->owners[owner_];
    if (!found) found = std::make_shared<recursive_hold>(lock_, owner_);
    mine_ = found;
    mine_->join(std::static_pointer_cast<recursive_call>(shared_from_this()));
}

void recursive_call::abandoned() {
    if (mine_) mine_->leave(*this);
}

bool recursive_call::sees_it_taken() const { return mine_ && mine_->sees_it_taken(); }

recursive_hold::recursive_hold(std::shared_ptr<recursive_lock> of, owner by)
    : lock_(std::move(of)), owner_(by) {}

void recursive_hold::join(caller call) {
    if (granted_ && !over_ && !alive()) lost(errc::lease_lapsed);
    if (over_) return turn_away(*call);
    if (granted_) return give_another(call);
    const bool first = callers_.empty();
    if (!first && call->only_if_free() && !only_if_free_) return call->finish({}, {});
    callers_.push_back(std::move(call));
    if (first) begin();
}

/// The hold is over, and its node stays until the old guards have gone: it would be in the way of
/// a call that waits for the lock.
void recursive_hold::turn_away(recursive_call& call) {
    if (call.only_if_free())
        call.run_out(); // it does not wait
    else
        call.finish(errc::would_deadlock, {});
}

/// Whether a guard of it may still say that it is valid; the lease tells of its end later.
bool recursive_hold::alive() const {
    return std::any_of(holds_.begin(), holds_.end(), [](const std::weak_ptr<hold>& one) {
        const auto held = one.lock();
        return held && held->valid();
    });
}

/// Only looks first if that is what everybody wants.
void recursive_hold::begin() {
    only_if_free_ = std::all_of(callers_.begin(), callers_.end(),
                                [](const caller& one) { return one->only_if_free(); });
    queue_ = queue_of(*lock_->terms);
    if (!only_if_free_) return enter();
    look_first(lock_->terms, queue_, rules::role::exclusive,
               [self = shared_from_this()](error_code why, bool free) {
                   if (self->over_) return;
                   if (free)
                       self->enter();
                   else
                       self->refused(why);
               });
}

void recursive_hold::enter() {
    const auto key = queue_->enter(shared_from_this(),
                                   terms_of(*lock_->terms, rules::role::exclusive, only_if_free_));
    key_ = std::max(key_, key); // a refusal from within may have entered again
}

void recursive_hold::leave(const recursive_call& call) {
    const auto gone =
        std::erase_if(callers_, [&](const caller& one) { return one.get() == &call; });
    if (gone == 0 || !callers_.empty()) return;
    forget();
    if (key_ != 0) queue_->quit(key_);
}

bool recursive_hold::sees_it_taken() const {
    return queue_ && queue_->taken_for(key_, rules::role::exclusive);
}

/// Those who only wanted to know are told; the others, if there are any, begin to wait, unless
/// there is nothing left to wait for.
void recursive_hold::refused(error_code why) {
    key_ = 0;
    std::vector<caller> told;
    const bool all = !only_if_free_ || lock_->terms->client->closed();
    const auto hears = [all](const caller& one) { return all || one->only_if_free(); };
    std::copy_if(callers_.begin(), callers_.end(), std::back_inserter(told), hears);
    std::erase_if(callers_, hears);
    for (const auto& one : told)
        one->fail(why);
    if (callers_.empty())
        forget();
    else
        begin();
}

void recursive_hold::granted(const std::string& path, std::int64_t czxid) {
    granted_ = true;
    path_ = path;
    czxid_ = czxid;
    lock_->terms->client->expect_returns();
    for (const auto& one : std::exchange(callers_, {}))
        give_another(one);
}

void recursive_hold::give_another(const caller& call) {
    std::erase_if(holds_, [](const std::weak_ptr<hold>& one) {
        const auto held = one.lock();
        return !held || held->over();
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

/// A guard that was not the last is gone at once.
void recursive_hold::when_deleted(unique_function<void(error_code)> gone) {
    if (guards_ > 0) return gone({});
    lock_->terms->client->sweeper().when_deleted(path_, std::move(gone));
}

void recursive_hold::ended(error_code why) {
    if (why != errc::released) lost(why);
}

/// Without a node there is nothing left that the owner could be in its own way with.
void recursive_hold::lost(error_code why) {
    const bool node_stays = why == errc::lease_lapsed || why == errc::revoked;
    const bool told = std::exchange(over_, true);
    if (!node_stays) forget();
    if (told) return;
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
    over_ = true;
    const auto found = lock_->owners.find(owner_);
    if (found != lock_->owners.end() && found->second.get() == this) lock_->owners.erase(found);
}

} // namespace paddock::detail
