// Calls of the application, and events of the session. simple_answers.cpp handles answers.
#include "rules/simple.hpp"

#include "support/invariant.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

/// An immediate caller causes no write while the lock is taken: the known state decides first, then
/// a glance.
void simple::join(caller_key key, bool immediate) {
    if (!immediate) {
        callers_.push_back({key, false, session_.now()});
        advance();
    } else if (!session_.is_connected()) {
        actions_.push_back(simple_act::fail{key, simple_act::why::not_connected, 0});
    } else if (at_ != stage::idle || !callers_.empty()) {
        actions_.push_back(simple_act::give_up{key});
    } else {
        glances_.insert(key);
        actions_.push_back(simple_act::glance{key});
    }
}

void simple::quit(caller_key key) {
    glances_.erase(key);
    const auto left = std::erase_if(callers_, [key](const caller& one) { return one.key == key; });
    if (left > 0 && callers_.empty()) no_caller_left();
}

/// Ends what could take for ever; the other stages end by themselves.
void simple::no_caller_left() {
    if (at_ == stage::reserving) {
        actions_.push_back(simple_act::unreserve{});
        at_ = stage::idle;
    } else if (at_ == stage::unknown) {
        sweep(true);
        at_ = stage::idle;
    } else if (at_ == stage::watching) {
        at_ = stage::idle;
    }
    advance();
}

/// Asks for the next request, if the stage and the connection allow one.
void simple::advance() {
    if (at_ == stage::idle && callers_.empty()) {
        if (std::exchange(watched_, false)) actions_.push_back(simple_act::forget{});
        return;
    }
    if (!session_.is_connected() || session_.pausing()) return;
    const bool needs_look =
        at_ == stage::unknown || at_ == stage::watching || at_ == stage::holding;
    if (at_ == stage::idle) {
        at_ = stage::reserving;
        actions_.push_back(simple_act::reserve{});
    } else if (needs_look && !look_in_flight_ && !watched_) {
        look();
    }
}

void simple::reserved() {
    if (session_.is_connected()) {
        at_ = stage::racing;
        race_outcome_ = outcome::lost; // until the answer, which may come after that of the look
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
    give_up_immediate();
    if (callers_.empty()) no_caller_left();
}

void simple::too_large() {
    at_ = stage::idle; // nothing was reserved
    fail_all(simple_act::why::over_budget, 0);
}

void simple::release(node_id id) {
    if (at_ != stage::holding || id != id_) return; // the hold was lost
    sweep(true);
    at_ = callers_.empty() ? stage::idle : stage::leaving;
}

void simple::swept(node_id id) {
    if (at_ == stage::leaving && id == id_) at_ = stage::idle;
    advance();
}

void simple::gone(node_id id) {
    if (at_ == stage::holding && id == id_) lose_node();
}

/// Sweeps the marker alone: a node of the lock's name that exists now belongs to another owner.
void simple::lose_node() {
    sweep(false);
    actions_.push_back(simple_act::lose{false});
    at_ = stage::idle;
    advance();
}

void simple::connected() {
    session_.connect();
    session_.end_pause();
    advance();
}

/// An immediate caller does not wait for the next connection.
void simple::disconnected() {
    session_.disconnect();
    if (at_ == stage::unknown) watched_ = false; // connected() looks again
    for (const auto key : std::exchange(glances_, {}))
        actions_.push_back(simple_act::fail{key, simple_act::why::not_connected, 0});
    const auto left = std::erase_if(callers_, [this](const caller& one) {
        if (one.immediate)
            actions_.push_back(simple_act::fail{one.key, simple_act::why::not_connected, 0});
        return one.immediate;
    });
    if (left > 0 && callers_.empty()) no_caller_left();
}

void simple::expired() {
    const auto before = at_;
    if (at_ != stage::reserving) at_ = stage::idle;
    // The requests and watches ended with the session, and so did the ids.
    session_.expire();
    look_in_flight_ = watched_ = false;
    if (before == stage::racing || before == stage::unknown || before == stage::holding)
        actions_.push_back(simple_act::unreserve{});
    if (before == stage::holding) actions_.push_back(simple_act::lose{true});
    disconnected();
    if (how_.fail_on_expiry) fail_all(simple_act::why::session_expired, 0);
}

void simple::resume() {
    if (session_.end_pause()) advance();
}

void simple::give_up_immediate() {
    std::erase_if(callers_, [this](const caller& one) {
        if (one.immediate) actions_.push_back(simple_act::give_up{one.key});
        return one.immediate;
    });
}

void simple::fail_all(simple_act::why reason, int code) {
    for (const auto& one : std::exchange(callers_, {}))
        actions_.push_back(simple_act::fail{one.key, reason, code});
    no_caller_left();
}

void simple::look() {
    if (look_in_flight_)
        actions_.push_back(simple_act::forget{}); // two reads would share one watch
    look_in_flight_ = true;
    actions_.push_back(simple_act::look{++looks_sent_});
}

void simple::sweep(bool both) {
    actions_.push_back(simple_act::sweep{id_, both});
    if (race_outcome_ == outcome::lost) actions_.push_back(simple_act::taint{});
}

void simple::update_own_node(bool this_client, std::int64_t czxid) {
    if (!this_client)
        own_node_.reset();
    else if (!own_node_ || own_node_->czxid != czxid)
        own_node_ = {czxid, session_.now()};
}

stuck_waiters simple::stuck(boot_clock::duration patience) {
    stuck_waiters all;
    if (!own_node_ || !known_blocked()) return all;
    for (auto& one : callers_)
        if (!one.reported_stuck)
            one.reported_stuck =
                is_stuck(all, std::max(one.since, own_node_->since), session_.now(), patience);
    return all;
}

void simple::owner_left(std::optional<std::int64_t> ctime) {
    leftovers_.saw({}, ctime, session_.now());
}

leftover_nodes simple::leftover(boot_clock::duration patience) {
    const bool blocks = perhaps_leftover();
    return leftovers_.due(session_.now(), patience,
                          [blocks](const std::string&) { return blocks; });
}

void simple::check_invariants() const {
    detail::invariant("the id of a simple lock's nodes, or of those that may exist, is claimed",
                      [&] {
                          const bool has_nodes = at_ == stage::racing || at_ == stage::unknown ||
                                                 at_ == stage::holding;
                          return !has_nodes || ids_.claimed(id_);
                      });
    detail::invariant("a simple lock that waits has a caller", [&] {
        const bool waits =
            at_ == stage::reserving || at_ == stage::unknown || at_ == stage::watching;
        return !waits || !callers_.empty();
    });
}

void simple::take(std::vector<action>& actions) {
    check_invariants();
    actions = std::exchange(actions_, {});
}

} // namespace paddock::rules
