#include "locks/joint_asking.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

joint_asking::joint_asking(plan_ptr plan, handler<void(error_code, guard_set)>&& h)
    : asking(plan->locks.front()->client, std::move(h), kind::wait), plan_(std::move(plan)) {}

void joint_asking::begin() {
    const auto round = round_;
    joint_ = std::make_shared<joint>(client(), [weak = weak_from_this(), round](error_code why) {
        const auto self = std::static_pointer_cast<joint_asking>(weak.lock());
        if (self) self->lost_one(round, why);
    });
    take_next();
}

void joint_asking::take_next() {
    handler<void(error_code, guard)> done = [self = self(), round = round_](error_code why,
                                                                            guard one) {
        self->client()->post([self, round, why, one = std::move(one)]() mutable {
            self->answered(round, why, std::move(one));
        });
    };
    const auto how = only_if_free() ? attempt::kind::only_if_free : attempt::kind::wait;
    const auto next = std::make_shared<attempt>(plan_->locks[taken_.size()], std::move(done), how);
    current_ = next;
    next->launch(std::nullopt);
}

void joint_asking::answered(std::uint64_t round, error_code why, guard one) {
    if (round != round_ || !open()) return; // the guard goes, and gives the lock back
    current_.reset();
    if (why || !one) {
        const auto wish = plan_->locks[taken_.size()]->on_over_budget;
        drop_all();
        return fail(why, wish);
    }
    joint_->add(one.hold());
    taken_.push_back(std::move(one));
    if (taken_.size() < plan_->locks.size())
        take_next();
    else
        deliver();
}

void joint_asking::deliver() {
    const auto ended = std::find_if_not(taken_.begin(), taken_.end(),
                                        [](const guard& one) { return one.valid(); });
    if (ended == taken_.end())
        return finish({}, guard_set(std::move(joint_), std::move(taken_), plan_->places));
    // Its own strand knows why, or will know.
    const auto held = ended->hold();
    held->client()->post([self = self(), round = round_, held] {
        const error_code why = held->over() ? held->reason() : errc::lease_lapsed;
        self->client()->post([self, round, why] { self->lost_one(round, why); });
    });
}

void joint_asking::lost_one(std::uint64_t round, error_code why) {
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
    else
        begin();
}

void joint_asking::drop_all() {
    ++round_;
    if (const auto last = std::exchange(current_, {}).lock()) last->stop();
    while (!taken_.empty())
        taken_.pop_back();
    joint_.reset();
}

} // namespace paddock::detail
