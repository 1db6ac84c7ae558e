// Calls of the application, and events of queue and session. permits_answers.cpp handles answers.
#include "rules/permits.hpp"

#include "support/invariant.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

void permits::join() {
    at_ = stage::queued;
    actions_.push_back(permit_act::join_queue{});
}

void permits::quit() {
    if (at_ == stage::queued || at_ == stage::acquiring) finish();
}

void permits::release() {
    if (at_ == stage::held || at_ == stage::lost) finish();
}

void permits::admitted() {
    if (at_ != stage::queued) return;
    at_ = stage::acquiring;
    too_few_free_ = false;
    others_.clear();
    seen_.clear();
    leftovers_.clear();
    nodes_.assign(how_.count, {});
    send_missing();
}

/// Without its node in the queue the next call gets its turn, too. Two calls
/// that wait for each other's permits would wait for ever, so this one gives its permit nodes up
/// and joins again.
void permits::queue_node_lost() {
    if (at_ != stage::acquiring) return;
    give_up_nodes();
    at_ = stage::queued;
    actions_.push_back(permit_act::join_queue{});
}

void permits::excluded() {
    if (at_ != stage::queued) return;
    at_ = stage::ended;
    leave_when_clear();
}

void permits::watch_hold() {
    watch_nodes_ = true;
    if (at_ != stage::held || !session_.is_connected()) return;
    for (auto& one : nodes_)
        if (one.own_watch == watching::no) watch_own(one);
}

void permits::connected() {
    session_.connect();
    listing_in_flight_ = listing_wanted_ = counter_read_in_flight_ = counter_read_wanted_ = false;
    complete_ = permits_known_ = false;
    for (auto& one : nodes_)
        one.first_listing = listings_sent_ + 1;
    if (at_ == stage::acquiring) {
        send_missing();
        if (!session_.pausing() && !listing_in_flight_) need_listing();
    }
    for (auto& one : nodes_)
        if (one.own_watch == watching::asked || one.own_watch == watching::later)
            one.own_watch = watching::no;
    if (watch_nodes_) watch_hold();
}

void permits::disconnected() {
    session_.disconnect();
    complete_ = permits_known_ = false;
    if (how_.immediate && at_ == stage::acquiring) fail(permit_act::why::not_connected, 0);
}

void permits::expired() {
    session_.expire();
    nodes_.clear(); // they ended with the session, and so did their ids
    unwanted_creates_.clear();
    switch (std::exchange(at_, stage::ended)) {
    case stage::queued: // the queue rejoins by itself
        at_ = stage::queued;
        break;
    case stage::acquiring:
        if (how_.fail_on_expiry)
            actions_.push_back(permit_act::fail{permit_act::why::session_expired, 0});
        else
            join();
        break;
    case stage::held:
        actions_.push_back(permit_act::lose{true});
        break;
    default:
        break;
    }
    leave_when_clear();
}

void permits::lease_renewed() {
    session_.lease_renewed();
    grant_or_wait();
}

void permits::resume() {
    session_.end_pause();
    if (!session_.is_connected()) return;
    send_missing();
    if (at_ == stage::acquiring) {
        if (!listing_in_flight_ && !(complete_ && directory_watched_)) need_listing();
        if (!counter_read_in_flight_ && !(permits_known_ && counter_watched_)) need_permits();
    }
    for (auto& one : nodes_)
        if (one.own_watch == watching::later) watch_own(one);
}

/// Sends the missing requests: a create for each absent node, the listing that shows them, and the
/// read of the counter.
void permits::send_missing() {
    if (at_ != stage::acquiring || !session_.is_connected() || session_.making_parents() ||
        session_.pausing())
        return;
    bool started = false;
    for (auto& one : nodes_) {
        if (one.at != presence::absent) continue;
        start(one);
        started = true;
    }
    if (started) need_listing();
    if (!permits_known_ && !counter_read_in_flight_) need_permits();
}

void permits::start(permit_node& one) {
    one = {.at = presence::creating, .id = ids_.claim(), .first_listing = listings_sent_ + 1};
    actions_.push_back(permit_act::create{one.id});
}

void permits::fail(permit_act::why reason, int code) {
    actions_.push_back(permit_act::fail{reason, code});
    finish();
}

/// Sweeps all permit nodes, and drops the watches of the call.
void permits::give_up_nodes() {
    for (const auto& one : std::exchange(nodes_, {})) {
        if (one.at == presence::exists) actions_.push_back(permit_act::sweep{one.id, one.name});
        if (one.at == presence::creating) unwanted_creates_.insert(one.id);
        if (one.at != presence::unknown) continue;
        ids_.release(one.id);
        actions_.push_back(permit_act::taint{}); // if its node exists, it is found as an orphan
    }
    listing_in_flight_ = listing_wanted_ = counter_read_in_flight_ = counter_read_wanted_ =
        complete_ = permits_known_ = false;
    actions_.push_back(permit_act::forget{});
}

void permits::finish() {
    give_up_nodes(); // before leave: the next call must find the permits free
    if (at_ == stage::queued || at_ == stage::acquiring) actions_.push_back(permit_act::leave{});
    at_ = stage::ended;
    leave_when_clear();
}

void permits::leave_when_clear() {
    if (at_ != stage::ended || !unwanted_creates_.empty() || std::exchange(out_sent_, true)) return;
    actions_.push_back(permit_act::out{});
}

/// At most one listing is in flight and one wanted.
void permits::need_listing() {
    complete_ = false;
    if (listing_in_flight_) {
        listing_wanted_ = true;
        return;
    }
    listing_in_flight_ = true;
    const bool settle = std::any_of(nodes_.begin(), nodes_.end(), [](const permit_node& one) {
        return one.at == presence::unknown;
    });
    actions_.push_back(permit_act::list{++listings_sent_, settle});
}

void permits::need_permits() {
    if (how_.permits) return;
    permits_known_ = false;
    if (counter_read_in_flight_) {
        counter_read_wanted_ = true;
        return;
    }
    counter_read_in_flight_ = true;
    actions_.push_back(permit_act::read_permits{++counter_reads_sent_});
}

void permits::watch_own(permit_node& one) {
    one.own_watch = watching::asked;
    actions_.push_back(permit_act::watch_own{one.id, one.name});
}

permits::permit_node* permits::find(node_id id) {
    const auto it = std::find_if(nodes_.begin(), nodes_.end(),
                                 [id](const permit_node& one) { return one.id == id; });
    return it == nodes_.end() ? nullptr : &*it;
}

void permits::check_invariants() const {
    detail::invariant("a permit that is held has a node", [&] {
        return at_ != stage::held ||
               (nodes_.size() == how_.count &&
                std::all_of(nodes_.begin(), nodes_.end(),
                            [](const permit_node& one) { return one.at == presence::exists; }));
    });
    detail::invariant("a call that has ended has no permit nodes",
                      [&] { return at_ != stage::ended || nodes_.empty(); });
    detail::invariant("the id of a permit node, or of one that may exist, is claimed", [&] {
        return std::all_of(nodes_.begin(), nodes_.end(), [&](const permit_node& one) {
            return one.at == presence::absent || ids_.claimed(one.id);
        });
    });
}

void permits::take(std::vector<action>& actions) {
    check_invariants();
    actions = std::exchange(actions_, {});
}

} // namespace paddock::rules
