#include "locks/several/lock_all_call.hpp"

#include "locks/fair/fair_lock.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

lock_all_call::lock_all_call(plan_ptr plan, handler<void(error_code, guard_set)>&& h)
    : lock_call(plan->locks.front()->client, std::move(h), kind::wait), plan_(std::move(plan)) {}

void lock_all_call::begin() {
    const auto round = round_;
    joint_ = std::make_shared<joint>(client(), [weak = weak_from_this(), round](error_code why) {
        const auto self = std::static_pointer_cast<lock_all_call>(weak.lock());
        if (self) self->lost_one(round, why);
    });
    reserve_next();
}

void lock_all_call::reserve_next() {
    if (room_.size() == plan_->clients.size()) return take_next();
    const auto next = std::make_shared<reservation>(plan_->clients[room_.size()]);
    room_.push_back(next);
    next->client()->post([self = self(), round = round_, next] {
        self->ask(*next, [self, round](error_code why, bool there) {
            self->client()->post([self, round, why, there] { self->reserved(round, why, there); });
        });
    });
}

/// On the strand of the reservation's client.
void lock_all_call::ask(reservation& of, reservation::told done) const {
    std::size_t bytes = 0;
    auto how = only_if_free() ? reservation::wish::give_up : reservation::wish::wait;
    for (const auto& lock : plan_->locks) {
        if (lock->client != of.client()) continue;
        bytes += entry_bytes(*lock, rules::role::exclusive);
        if (lock->on_over_budget == on_over_budget::fail) how = reservation::wish::fail;
    }
    of.ask(bytes, how, std::move(done));
}

void lock_all_call::reserved(std::uint64_t round, error_code why, bool there) {
    if (round != round_ || !open()) return;
    if (there) return reserve_next();
    drop_all();
    fail(why);
}

void lock_all_call::take_next() {
    handler<void(error_code, guard)> done = [self = self(), round = round_](error_code why,
                                                                            guard one) {
        self->client()->post([self, round, why, one = std::move(one)]() mutable {
            self->answered(round, why, std::move(one));
        });
    };
    const auto how = only_if_free() ? mutex_call::kind::only_if_free : mutex_call::kind::wait;
    const auto& lock = plan_->locks[taken_.size()];
    const auto room = *std::find_if(room_.begin(), room_.end(),
                                    [&](const auto& one) { return one->client() == lock->client; });
    const auto next =
        std::make_shared<mutex_call>(lock, std::move(done), how, rules::role::exclusive, room);
    current_ = next;
    next->launch(std::nullopt);
}

void lock_all_call::answered(std::uint64_t round, error_code why, guard one) {
    if (round != round_ || !open()) return; // the guard goes, and gives the lock back
    current_.reset();
    if (why || !one) {
        drop_all();
        return fail(why);
    }
    joint_->add(access::hold_of(one));
    taken_.push_back(std::move(one));
    if (taken_.size() == plan_->locks.size())
        deliver();
    else if (late_)
        abandon({});
    else
        take_next();
}

/// Whoever is waited for knows best what to say: its client may be another.
void lock_all_call::run_out() {
    const auto last = current_.lock();
    if (!last) return lock_call::run_out();
    late_ = true;
    last->time_out();
}

void lock_all_call::deliver() {
    const auto ended = std::find_if_not(taken_.begin(), taken_.end(),
                                        [](const guard& one) { return one.valid(); });
    if (ended == taken_.end())
        return finish(
            {}, access::make<guard_set>(std::move(joint_), std::move(taken_), plan_->positions));
    // Its own strand knows why, or will know.
    const auto held = access::hold_of(*ended);
    held->client()->post([self = self(), round = round_, held] {
        const error_code why = held->over() ? held->reason() : errc::lease_lapsed;
        self->client()->post([self, round, why] { self->lost_one(round, why); });
    });
}

void lock_all_call::lost_one(std::uint64_t round, error_code why) {
    if (round != round_ || !open()) return;
    drop_all();
    const bool expired = why == errc::session_expired;
    const bool fatal =
        why == errc::closed ||
        (expired && std::any_of(plan_->locks.begin(), plan_->locks.end(), [](const auto& lock) {
             return lock->on_expiry == on_expiry::fail;
         }));
    if (fatal)
        finish(why, {});
    else if (late_)
        lock_call::run_out();
    else
        begin();
}

void lock_all_call::drop_all() {
    ++round_;
    if (const auto last = std::exchange(current_, {}).lock()) last->cancel();
    while (!taken_.empty())
        taken_.pop_back();
    joint_.reset();
    for (auto& one : std::exchange(room_, {})) {
        auto& zk = *one->client();
        zk.post([one = std::move(one)] { one->give_back(); });
    }
}

} // namespace paddock::detail
