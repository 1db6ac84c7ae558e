// How a line of waiters sleeps between two attempts, and what wakes it.
#include "redis/locks/core.hpp"
#include "redis/locks/lock_line.hpp"

#include <algorithm>

namespace paddock::redis::detail {

void lock_line::sleep(boot_clock::duration time, stage how) {
    stage_ = how;
    sleeps_until_ = core_.now() + time;
    arm(time, &lock_line::on_slept);
}

void lock_line::on_slept() {
    const bool sleeps =
        stage_ == stage::sleeping || stage_ == stage::racing || stage_ == stage::yielding;
    if (sleeps) wake(one_first_next_);
}

void lock_line::wake(bool one_first) {
    timer_->cancel();
    stage_ = stage::idle;
    one_first_next_ = one_first;
    proceed();
}

void lock_line::on_message(int server, const std::string& value) {
    if (value == released_) return;
    pace_.rival_had_it();
    if (stage_ == stage::attempting) heard_[static_cast<std::size_t>(server)] = true;
    if (stage_ == stage::sleeping) race();
    if (stage_ == stage::yielding) wake(true); // another client has had it
}

/// The keys of a hold are on a quorum, one of which then tells of the release.
bool lock_line::hears() const {
    return std::count(subscribed_.begin(), subscribed_.end(), true) >= core_.quorum();
}

/// The release may be missed from now on, so the next attempt does not wait for it.
void lock_line::on_unsubscribed(int server) {
    subscribed_[static_cast<std::size_t>(server)] = false;
    const bool long_sleep =
        stage_ == stage::sleeping && sleeps_until_ > core_.now() + rules::pace::longest_sleep;
    if (long_sleep && !hears()) sleep(rules::pace::longest_sleep, stage::sleeping);
}

void lock_line::on_subscribed(int server) {
    subscribed_[static_cast<std::size_t>(server)] = true;
    if (stage_ == stage::attempting) heard_[static_cast<std::size_t>(server)] = true;
    if (stage_ == stage::sleeping) wake(true);
}

void lock_line::race() {
    one_first_next_ = true;
    sleep(pace_.after_message(core_.round_trip(), core_.env().random()), stage::racing);
}

void lock_line::on_reachable(int server) {
    if (stage_ == stage::attempting && core_.voters()[static_cast<std::size_t>(server)])
        return carry_out(attempt_->reachable(server));
    on_refused();
}

void lock_line::on_refused() {
    if (stage_ == stage::sleeping && obstacle_ == rules::obstacle::servers) wake(false);
}

} // namespace paddock::redis::detail
