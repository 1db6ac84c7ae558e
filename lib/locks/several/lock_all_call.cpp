#include "locks/several/lock_all_call.hpp"

#include "locks/several/home_report.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

lock_all_call::lock_all_call(plan_ptr plan, handler<void(error_code, guard_set)>&& h)
    : node_call(plan->locks.front()->client(), std::move(h), kind::wait), plan_(std::move(plan)) {}

void lock_all_call::join() {
    if (round_ == 0) client()->listen(self());
    const auto round = round_;
    holds_ = std::make_shared<hold_set>(client(), [weak = weak_from_this(), round](error_code why) {
        const auto self = std::static_pointer_cast<lock_all_call>(weak.lock());
        if (self) self->hold_lost(round, why);
    });
    reserve_next();
}

/// The call may wait for another client.
void lock_all_call::on_closed(error_code why) {
    if (!open()) return;
    release_all();
    finish(why, {});
}

void lock_all_call::reserve_next() {
    if (reservations_.size() == plan_->clients.size()) return lock_next();
    const auto next = std::make_shared<reservation>(plan_->clients[reservations_.size()]);
    reservations_.push_back(next);
    home_report<bool> done(client(),
                           [self = self(), round = round_](error_code why, bool reserved) {
                               self->reserve_done(round, why, reserved);
                           });
    next->client()->post([self = self(), next, done = std::move(done)]() mutable {
        self->reserve(*next, std::move(done));
    });
}

/// Runs on the strand of the reservation's client.
void lock_all_call::reserve(reservation& of, reservation::callback done) const {
    std::size_t bytes = 0;
    auto how = immediate() ? reservation::if_full::give_up : reservation::if_full::wait;
    for (const auto& lock : plan_->locks) {
        if (lock->client() != of.client()) continue;
        bytes += bytes_of(*lock);
        if (lock->lock->on_over_budget == on_over_budget::fail) how = reservation::if_full::fail;
    }
    of.reserve(bytes, how, std::move(done));
}

void lock_all_call::reserve_done(std::uint64_t round, error_code why, bool reserved) {
    if (round != round_ || !open()) return;
    if (reserved) return reserve_next();
    release_all();
    fail(why);
}

void lock_all_call::lock_next() {
    handler<void(error_code, guard)> done =
        home_report<guard>(client(), [self = self(), round = round_](error_code why, guard one) {
            self->lock_done(round, why, std::move(one));
        });
    const auto& lock = *plan_->locks[guards_.size()];
    const auto reserved =
        *std::find_if(reservations_.begin(), reservations_.end(),
                      [&](const auto& one) { return one->client() == lock.client(); });
    const auto next = make_call(lock, std::move(done), immediate(), reserved);
    current_ = next;
    next->start(std::nullopt);
}

void lock_all_call::lock_done(std::uint64_t round, error_code why, guard one) {
    if (round != round_ || !open()) return; // the guard's destructor releases the lock
    current_.reset();
    if (why == errc::lock_lost) return hold_lost(round, why); // it must reserve again
    if (why || !one) {
        release_all();
        return fail(why);
    }
    holds_->add(access::hold_of(one));
    guards_.push_back(std::move(one));
    if (guards_.size() == plan_->locks.size())
        deliver();
    else if (timed_out_)
        abandon({});
    else
        lock_next();
}

/// The current call knows whether its lock is taken; its client may be another one.
void lock_all_call::on_timeout() {
    const auto current = current_.lock();
    if (!current) return node_call::on_timeout();
    timed_out_ = true;
    current->time_out();
}

void lock_all_call::deliver() {
    for (const auto& one : plan_->clients)
        if (one->draining().begun()) return abandon(errc::draining);
    const auto ended = std::find_if_not(guards_.begin(), guards_.end(),
                                        [](const guard& one) { return one.valid(); });
    if (ended == guards_.end())
        return finish(
            {}, access::make<guard_set>(std::move(holds_), std::move(guards_), plan_->positions));
    // The hold learns the reason on the strand of its own client.
    const auto held = access::hold_of(*ended);
    home_report<> lost(
        client(), [self = self(), round = round_](error_code why) { self->hold_lost(round, why); });
    held->client()->post([held, lost = std::move(lost)]() mutable { lost(held->loss()); });
}

void lock_all_call::hold_lost(std::uint64_t round, error_code why) {
    if (round != round_ || !open()) return;
    release_all();
    const bool expired = why == errc::session_expired;
    const bool fatal =
        why == errc::closed || why == errc::hold_expired ||
        (expired && std::any_of(plan_->locks.begin(), plan_->locks.end(), [](const auto& lock) {
             return lock->lock->on_expiry == on_expiry::fail;
         }));
    if (fatal)
        finish(why, {});
    else if (timed_out_)
        node_call::on_timeout();
    else
        join();
}

void lock_all_call::release_all() {
    ++round_;
    if (const auto current = std::exchange(current_, {}).lock()) current->cancel();
    while (!guards_.empty())
        guards_.pop_back();
    holds_.reset();
    for (auto& one : std::exchange(reservations_, {})) {
        auto& zk = *one->client();
        zk.post([one = std::move(one)] { one->release(); });
    }
}

} // namespace paddock::detail
