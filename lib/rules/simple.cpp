// Entering and leaving, and the session's ups and downs. What the answers mean is in
// simple_answers.cpp.
#include "rules/simple.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

/// For an immediate one nothing is written when the lock is taken: what is known here comes first,
/// then a look.
void simple::enter(caller_key who, bool immediate) {
    if (!immediate) {
        callers_.push_back({who, false});
        go_on();
    } else if (!connected_) {
        actions_.push_back(simple_act::fail{who, simple_act::why::not_connected, 0});
    } else if (at_ != stage::idle || !callers_.empty()) {
        actions_.push_back(simple_act::give_up{who});
    } else {
        glancing_.insert(who);
        actions_.push_back(simple_act::glance{who});
    }
}

void simple::quit(caller_key who) {
    glancing_.erase(who);
    const auto left = std::erase_if(callers_, [who](const caller& one) { return one.key == who; });
    if (left > 0 && callers_.empty()) nobody_waits();
}

/// What is under way comes to its end by itself, but not what may take for ever.
void simple::nobody_waits() {
    if (at_ == stage::reserving) {
        actions_.push_back(simple_act::unreserve{});
        at_ = stage::idle;
    } else if (at_ == stage::unsure) {
        sweep(true);
        at_ = stage::idle;
    } else if (at_ == stage::watching) {
        at_ = stage::idle;
    }
    go_on();
}

/// Takes the next step, if one can be taken.
void simple::go_on() {
    if (at_ == stage::idle && callers_.empty()) {
        if (std::exchange(watched_, false)) actions_.push_back(simple_act::forget{});
        return;
    }
    if (!connected_ || pausing_) return;
    const bool looks = at_ == stage::unsure || at_ == stage::watching || at_ == stage::holding;
    if (at_ == stage::idle) {
        at_ = stage::reserving;
        actions_.push_back(simple_act::reserve{});
    } else if (looks && !looking_ && !watched_) {
        look();
    }
}

void simple::reserved() {
    if (connected_) {
        at_ = stage::racing;
        made_ = outcome::not_sent;
        id_ = ids_.claim();
        actions_.push_back(simple_act::race{id_});
        look();
    } else {
        at_ = stage::idle;
        actions_.push_back(simple_act::unreserve{});
    }
}

void simple::crowded() {
    if (how_.fail_over_budget) return fail_all(simple_act::why::over_budget, 0);
    dismiss_immediates();
    if (callers_.empty()) nobody_waits();
}

void simple::release(node_id id) {
    if (at_ != stage::holding || id != id_) return; // it was lost
    sweep(true);
    at_ = callers_.empty() ? stage::idle : stage::leaving;
}

void simple::swept(node_id id) {
    if (at_ == stage::leaving && id == id_) at_ = stage::idle;
    go_on();
}

void simple::gone(node_id id) {
    if (at_ == stage::holding && id == id_) lose_node();
}

/// The marker goes alone: whoever has made a node of the lock's name since then is another.
void simple::lose_node() {
    sweep(false);
    actions_.push_back(simple_act::lose{false});
    at_ = stage::idle;
    go_on();
}

void simple::connected() {
    connected_ = true;
    pausing_ = false;
    go_on();
}

/// An immediate one does not wait for the next connection.
void simple::disconnected() {
    connected_ = false;
    if (at_ == stage::unsure) watched_ = false; // connected() looks again
    for (const auto who : std::exchange(glancing_, {}))
        actions_.push_back(simple_act::fail{who, simple_act::why::not_connected, 0});
    const auto left = std::erase_if(callers_, [this](const caller& one) {
        if (one.immediate)
            actions_.push_back(simple_act::fail{one.key, simple_act::why::not_connected, 0});
        return one.immediate;
    });
    if (left > 0 && callers_.empty()) nobody_waits();
}

void simple::expired() {
    const auto before = at_;
    if (at_ != stage::reserving) at_ = stage::idle;
    looking_ = watched_ = pausing_ = awaiting_lease_ =
        false; // with the session, and so are the ids
    if (before == stage::racing || before == stage::unsure || before == stage::holding)
        actions_.push_back(simple_act::unreserve{});
    if (before == stage::holding) actions_.push_back(simple_act::lose{true});
    disconnected();
    if (how_.fail_on_expiry) fail_all(simple_act::why::session_expired, 0);
}

void simple::resume() {
    if (std::exchange(pausing_, false)) go_on();
}

void simple::dismiss_immediates() {
    std::erase_if(callers_, [this](const caller& one) {
        if (one.immediate) actions_.push_back(simple_act::give_up{one.key});
        return one.immediate;
    });
}

void simple::fail_all(simple_act::why reason, int code) {
    for (const auto& one : std::exchange(callers_, {}))
        actions_.push_back(simple_act::fail{one.key, reason, code});
    nobody_waits();
}

void simple::look() {
    if (looking_) actions_.push_back(simple_act::forget{}); // two reads would share one watch
    looking_ = true;
    actions_.push_back(simple_act::look{++looks_});
}

void simple::sweep(bool both) {
    actions_.push_back(simple_act::sweep{id_, both});
    if (made_ == outcome::lost) actions_.push_back(simple_act::taint{});
}

void simple::need_pause() {
    if (!std::exchange(pausing_, true)) actions_.push_back(simple_act::pause{});
}

std::vector<simple_action> simple::take() { return std::exchange(actions_, {}); }

} // namespace paddock::rules
