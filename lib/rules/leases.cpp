// Entering and leaving, and the session's ups and downs. What the answers mean is in
// leases_answers.cpp.
#include "rules/leases.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

void leases::begin() {
    at_ = stage::queued;
    actions_.push_back(lease_act::enter{});
}

void leases::quit() {
    if (at_ == stage::queued || at_ == stage::acquiring) finish();
}

void leases::release() {
    if (at_ == stage::held || at_ == stage::lost) finish();
}

void leases::placed() {
    if (at_ != stage::queued) return;
    at_ = stage::acquiring;
    leases_.assign(how_.count, {});
    go();
}

/// Somebody else may be in now: two who wait for each other's leases would wait for ever.
void leases::displaced() {
    if (at_ != stage::acquiring) return;
    let_go();
    at_ = stage::queued;
    actions_.push_back(lease_act::enter{});
}

void leases::barred() {
    if (at_ != stage::queued) return;
    at_ = stage::over;
    leave_when_clear();
}

void leases::guard_own() {
    guarded_ = true;
    if (at_ != stage::held || !connected_) return;
    for (auto& one : leases_)
        if (one.own == watching::no) watch_own(one);
}

void leases::connected() {
    connected_ = true;
    listing_ = wanted_ = reading_ = reading_wanted_ = making_parents_ = false;
    seen_ = permits_known_ = false;
    for (auto& one : leases_)
        one.needs = listings_ + 1;
    if (at_ == stage::acquiring) {
        go();
        if (!pausing_ && !listing_) need_listing();
    }
    for (auto& one : leases_)
        if (one.own == watching::asked) one.own = watching::no;
    if (guarded_) guard_own();
}

void leases::disconnected() {
    connected_ = seen_ = permits_known_ = false;
    if (how_.immediate && at_ == stage::acquiring) fail(lease_act::why::not_connected, 0);
}

void leases::expired() {
    connected_ = pausing_ = awaiting_session_ = false;
    leases_.clear(); // with the session, and so are their ids
    strays_.clear();
    switch (std::exchange(at_, stage::over)) {
    case stage::queued: // the line queues again by itself
        at_ = stage::queued;
        break;
    case stage::acquiring:
        if (how_.fail_on_expiry)
            actions_.push_back(lease_act::fail{lease_act::why::session_expired, 0});
        else
            begin();
        break;
    case stage::held:
        actions_.push_back(lease_act::lose{true});
        break;
    default:
        break;
    }
    leave_when_clear();
}

void leases::session_renewed() {
    awaiting_session_ = false;
    decide();
}

void leases::resume() {
    pausing_ = false;
    if (!connected_) return;
    go();
    if (at_ == stage::acquiring) {
        if (!listing_ && !(seen_ && directory_watched_)) need_listing();
        if (!reading_ && !(permits_known_ && counter_watched_)) need_permits();
    }
    for (auto& one : leases_)
        if (one.own == watching::later) watch_own(one);
}

/// Sends what is missing: the creates, the listing behind them that shows them, and what there is
/// to be compared with.
void leases::go() {
    if (at_ != stage::acquiring || !connected_ || making_parents_ || pausing_) return;
    bool started = false;
    for (auto& one : leases_) {
        if (one.at != presence::absent) continue;
        start(one);
        started = true;
    }
    if (started) need_listing();
    if (!permits_known_ && !reading_) need_permits();
}

void leases::start(lease& one) {
    one = {.at = presence::creating, .id = ids_.claim(), .needs = listings_ + 1};
    actions_.push_back(lease_act::create{one.id});
}

void leases::fail(lease_act::why reason, int code) {
    actions_.push_back(lease_act::fail{reason, code});
    finish();
}

/// Nothing of it stays, whatever it takes.
void leases::let_go() {
    for (const auto& one : std::exchange(leases_, {})) {
        if (one.at == presence::there) actions_.push_back(lease_act::sweep{one.id, one.name});
        if (one.at == presence::creating) strays_.insert(one.id);
        if (one.at != presence::unknown) continue;
        ids_.release(one.id);
        actions_.push_back(lease_act::taint{}); // which finds its node, if there is one
    }
    listing_ = wanted_ = reading_ = reading_wanted_ = seen_ = permits_known_ = false;
    actions_.push_back(lease_act::forget{});
}

void leases::finish() {
    let_go(); // first: who is let in next is to find the leases gone
    if (at_ == stage::queued || at_ == stage::acquiring) actions_.push_back(lease_act::leave{});
    at_ = stage::over;
    leave_when_clear();
}

void leases::leave_when_clear() {
    if (at_ != stage::over || !strays_.empty() || std::exchange(out_, true)) return;
    actions_.push_back(lease_act::out{});
}

/// At most one listing is under way and one wanted.
void leases::need_listing() {
    seen_ = false;
    if (listing_) {
        wanted_ = true;
        return;
    }
    listing_ = true;
    const bool settle = std::any_of(leases_.begin(), leases_.end(),
                                    [](const lease& one) { return one.at == presence::unknown; });
    actions_.push_back(lease_act::list{++listings_, settle});
}

void leases::need_permits() {
    if (how_.permits) return;
    permits_known_ = false;
    if (reading_) {
        reading_wanted_ = true;
        return;
    }
    reading_ = true;
    actions_.push_back(lease_act::read_permits{++readings_});
}

void leases::need_parents() {
    if (!std::exchange(making_parents_, true)) actions_.push_back(lease_act::make_parents{});
}

void leases::need_pause() {
    if (!std::exchange(pausing_, true)) actions_.push_back(lease_act::pause{});
}

void leases::watch_own(lease& one) {
    one.own = watching::asked;
    actions_.push_back(lease_act::watch_own{one.id, one.name});
}

leases::lease* leases::find(node_id id) {
    const auto it = std::find_if(leases_.begin(), leases_.end(),
                                 [id](const lease& one) { return one.id == id; });
    return it == leases_.end() ? nullptr : &*it;
}

std::vector<lease_action> leases::take() { return std::exchange(actions_, {}); }

} // namespace paddock::rules
