#include "rules/sticky.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

namespace {
/// A node that is wanted again and again is given up after so many times the linger: so often a
/// try_lock of others can find the lock free, and so seldom it costs this client a new node.
constexpr int lingers_per_node = 10;
} // namespace

void sticky::join(waiter_id who, bool immediate) {
    const bool taken =
        at_ == stage::held || at_ == stage::joining || (at_ == stage::free && !waiters_.empty());
    if (immediate && taken) return actions_.push_back(sticky_act::busy{who});
    waiters_.push_back({.id = who, .immediate = immediate, .since = now_});
    if (immediate) ++immediate_;
    if (at_ == stage::idle) join_for_waiters();
    look_if_wanted();
    decide();
}

void sticky::quit(waiter_id who) {
    const auto it = std::lower_bound(waiters_.begin(), waiters_.end(), who,
                                     [](const waiter& w, waiter_id id) { return w.id < id; });
    if (it == waiters_.end() || it->id != who) return;
    if (it->immediate) --immediate_;
    waiters_.erase(it);
    if (at_ == stage::joining && waiters_.empty()) {
        at_ = stage::idle;
        actions_.push_back(sticky_act::quit{});
    }
    decide();
    keep_lingering(); // perhaps it was kept for that waiter
}

void sticky::released(bool passable) {
    if (at_ != stage::held) return;
    at_ = stage::free;
    given_back_ = given_back_ || !passable;
    if (count_ == 0) last_linger_ = now_ + lingers_per_node * terms_.linger;
    until_ = std::min(now_ + terms_.linger, last_linger_);
    decide();
    if (at_ != stage::free) return;
    kept_ = true;
    actions_.push_back(sticky_act::keep{until_});
}

void sticky::granted() {
    if (at_ != stage::joining) return;
    sight_ = sight::none;
    given_back_ = company_ = false;
    count_ = in_company_ = 0;
    if (waiters_.empty()) return give_up_node();
    grant_next();
    look_if_wanted();
}

void sticky::given_up() {
    if (at_ != stage::joining) return;
    at_ = stage::idle;
    dismiss_immediate<sticky_act::busy>();
    join_for_waiters();
}

void sticky::failed() {
    if (at_ != stage::joining) return;
    at_ = stage::idle;
    if (!trying_) return fail_waiters();
    // It failed because it must not wait, perhaps.
    dismiss_immediate<sticky_act::fail>();
    join_for_waiters();
}

void sticky::lost(bool fail) {
    if (at_ != stage::held && at_ != stage::free) return;
    leave_queue();
    if (fail) return fail_waiters();
    dismiss_immediate<sticky_act::busy>();
    join_for_waiters();
}

void sticky::revoke_requested() {
    given_back_ = true;
    decide();
}

void sticky::end_lingering() {
    if (at_ == stage::free && waiters_.empty()) give_up_node();
}

void sticky::connected() {
    connected_ = true;
    look_if_wanted();
}

/// What happens in the directory from now on is not seen in time.
void sticky::disconnected() {
    connected_ = false;
    sight_ = sight::none;
    if (at_ == stage::free) dismiss_immediate<sticky_act::fail>();
    decide();
}

void sticky::lapsed() {
    given_back_ = true;
    decide();
}

void sticky::tick() {
    decide();
    keep_lingering();
}

void sticky::keep_lingering() {
    if (at_ == stage::free && waiters_.empty()) actions_.push_back(sticky_act::keep{until_});
}

void sticky::listed(listing what) {
    if (sight_ != sight::asked && sight_ != sight::stale) return;
    const bool again = sight_ == sight::stale;
    sight_ = what == listing::failed ? sight::failed : again ? sight::none : sight::armed;
    if (what == listing::company) company_ = true;
    if (what == listing::alone && !again) {
        company_ = false;
        in_company_ = 0;
    }
    if (what == listing::gone) given_back_ = true;
    // Others come faster than the listings: they must not wait for a moment without them.
    if (again && at_ == stage::free) return give_up_node();
    look_if_wanted();
    decide();
}

void sticky::children_changed() {
    if (sight_ == sight::asked) sight_ = sight::stale;
    if (sight_ != sight::armed) return;
    sight_ = sight::none;
    look_if_wanted();
}

stuck_waiters sticky::stuck(boot_clock::duration patience) {
    stuck_waiters all;
    if (held())
        for (auto& one : waiters_)
            if (!one.reported)
                one.reported = is_stuck(all, std::max(one.since, held_since_), now_, patience);
    perhaps_stuck_ = all.next.has_value();
    return all;
}

/// A free lock goes to the next waiter, stays free, or its node is given up.
void sticky::decide() {
    if (at_ != stage::free) return;
    const bool spent =
        given_back_ || !connected_ || !fit_ || !same_term_ || sight_ == sight::failed;
    if (spent || handed_on_enough() || room_ == room::wanted) return give_up_node();
    if (waiters_.empty()) {
        if (!may_linger()) give_up_node();
    } else if (count_ == last_) {
        return give_up_node();
    } else if (sight_ == sight::armed) {
        ++count_;
        if (company_) ++in_company_;
        return grant_next();
    }
    look_if_wanted();
}

bool sticky::handed_on_enough() const noexcept {
    return company_ && in_company_ >= terms_.max_local_handoffs;
}

bool sticky::may_linger() const noexcept {
    return !company_ && room_ == room::plenty && now_ < until_;
}

void sticky::look_if_wanted() {
    const bool ours = at_ == stage::held || at_ == stage::free;
    const bool wanted = terms_.linger.count() > 0 || !waiters_.empty();
    if (!ours || !wanted || !connected_ || given_back_ || handed_on_enough() ||
        sight_ != sight::none)
        return;
    sight_ = sight::asked;
    actions_.push_back(sticky_act::watch{});
}

void sticky::give_up_node() {
    leave_queue();
    actions_.push_back(sticky_act::release{});
    dismiss_immediate<sticky_act::busy>();
    join_for_waiters();
}

void sticky::leave_queue() {
    at_ = stage::idle;
    sight_ = sight::none;
    if (std::exchange(kept_, false)) actions_.push_back(sticky_act::unkeep{});
}

void sticky::grant_next() {
    at_ = stage::held;
    held_since_ = now_;
    if (std::exchange(kept_, false)) actions_.push_back(sticky_act::unkeep{});
    actions_.push_back(sticky_act::grant{waiters_.front().id, count_});
    if (waiters_.front().immediate) --immediate_;
    waiters_.pop_front();
    dismiss_immediate<sticky_act::busy>();
}

template <typename How>
void sticky::dismiss_immediate() {
    if (std::exchange(immediate_, 0) == 0) return;
    std::erase_if(waiters_, [this](const waiter& one) {
        if (one.immediate) actions_.push_back(How{one.id});
        return one.immediate;
    });
}

void sticky::join_for_waiters() {
    if (waiters_.empty()) return;
    at_ = stage::joining;
    const auto& first = waiters_.front();
    trying_ = first.immediate;
    actions_.push_back(sticky_act::join{first.id, first.immediate});
}

void sticky::fail_waiters() {
    immediate_ = 0;
    for (const auto& one : std::exchange(waiters_, {}))
        actions_.push_back(sticky_act::fail{one.id});
}

} // namespace paddock::rules
