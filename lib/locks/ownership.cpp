#include "locks/ownership.hpp"

#include "locks/entering.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::detail {

recursive_asking::recursive_asking(std::shared_ptr<recursive_lock> what, owner who,
                                   handler<void(error_code, guard)>&& h, kind how)
    : asking(what->terms->client, std::move(h), how), lock_(std::move(what)), who_(who) {}

void recursive_asking::begin() {
    auto& found = lock_->owners[who_];
    if (!found) found = std::make_shared<ownership>(lock_, who_);
    mine_ = found;
    mine_->join(std::static_pointer_cast<recursive_asking>(shared_from_this()));
}

void recursive_asking::abandoned() {
    if (mine_) mine_->leave(*this);
}

ownership::ownership(std::shared_ptr<recursive_lock> of, owner who)
    : lock_(std::move(of)), who_(who) {}

void ownership::join(caller who) {
    if (granted_) return give_another(who);
    const bool first = callers_.empty();
    if (!first && who->only_if_free() && !only_if_free_) return who->finish({}, {});
    callers_.push_back(std::move(who));
    if (first) begin();
}

/// Only looks first if that is what everybody wants.
void ownership::begin() {
    only_if_free_ = std::all_of(callers_.begin(), callers_.end(),
                                [](const caller& one) { return one->only_if_free(); });
    line_ = line_of(*lock_->terms);
    if (!only_if_free_) return enter();
    look_first(lock_->terms, line_, rules::role::exclusive,
               [self = shared_from_this()](error_code why, bool free) {
                   if (self->over_) return;
                   if (free)
                       self->enter();
                   else
                       self->refused(why);
               });
}

void ownership::enter() {
    const auto key = line_->enter(shared_from_this(),
                                  terms_of(*lock_->terms, rules::role::exclusive, only_if_free_));
    key_ = std::max(key_, key); // a refusal from within may have entered again
}

void ownership::leave(const recursive_asking& who) {
    const auto gone = std::erase_if(callers_, [&](const caller& one) { return one.get() == &who; });
    if (gone == 0 || !callers_.empty()) return;
    forget();
    if (key_ != 0) line_->quit(key_);
}

/// Those who only wanted to know are told; the others, if there are any, begin to wait, unless
/// there is nothing left to wait for.
void ownership::refused(error_code why) {
    key_ = 0;
    std::vector<caller> told;
    const bool all = !only_if_free_ || lock_->terms->client->closed();
    const auto hears = [all](const caller& one) { return all || one->only_if_free(); };
    std::copy_if(callers_.begin(), callers_.end(), std::back_inserter(told), hears);
    std::erase_if(callers_, hears);
    for (const auto& one : told)
        one->fail(why, lock_->terms->on_over_budget);
    if (callers_.empty())
        forget();
    else
        begin();
}

void ownership::granted(const std::string& path, std::int64_t czxid) {
    granted_ = true;
    path_ = path;
    czxid_ = czxid;
    lock_->terms->client->expect_returns();
    for (const auto& one : std::exchange(callers_, {}))
        give_another(one);
}

void ownership::give_another(const caller& who) {
    std::erase_if(holds_, [](const std::weak_ptr<hold>& one) {
        const auto held = one.lock();
        return !held || held->over();
    });
    const auto another =
        std::make_shared<hold>(lock_->terms->client, shared_from_this(), path_, czxid_);
    if (asked_back_) another->ask_back();
    holds_.push_back(another);
    ++guards_;
    who->finish({}, guard(another));
}

void ownership::release() {
    if (--guards_ > 0) return;
    forget();
    line_->release(key_);
}

/// A guard that was not the last is gone at once.
void ownership::when_gone(unique_function<void(error_code)> gone) {
    if (guards_ > 0) return gone({});
    lock_->terms->client->sweeper().when_gone(path_, std::move(gone));
}

void ownership::ended(error_code why) {
    if (why != errc::released) lost(why);
}

void ownership::lost(error_code why) {
    if (std::exchange(over_, true)) return;
    forget();
    for (const auto& one : holds_)
        if (const auto held = one.lock()) held->end(why);
}

void ownership::asked_back() {
    asked_back_ = true;
    for (const auto& one : holds_)
        if (const auto held = one.lock()) held->ask_back();
    if (lock_->terms->revocable) lost(errc::revoked);
}

void ownership::forget() {
    over_ = true;
    const auto found = lock_->owners.find(who_);
    if (found != lock_->owners.end() && found->second.get() == this) lock_->owners.erase(found);
}

} // namespace paddock::detail
