// The ensemble's answers and watch events.
#include "rules/simple.hpp"

#include <paddock/error.hpp>

#include <utility>

namespace paddock::rules {

namespace {
/// The ensemble has not answered: connected() is the next event.
bool unanswered(outcome what) { return what == outcome::lost || what == outcome::not_sent; }
} // namespace

void simple::glanced(caller_key key, outcome result, int code) {
    if (glances_.erase(key) == 0) return;
    if (unanswered(result)) {
        actions_.push_back(simple_act::fail{key, simple_act::why::not_connected, 0});
    } else if (result == outcome::done || at_ != stage::idle || !callers_.empty()) {
        actions_.push_back(simple_act::give_up{key});
    } else if (result != outcome::missing) {
        actions_.push_back(simple_act::fail{key, simple_act::why::refused, code});
    } else {
        callers_.push_back({key, true, session_.now()});
        advance();
    }
}

void simple::parents_made(outcome result, int code) {
    session_.parents_made();
    if (at_ != stage::preparing) return;
    at_ = stage::idle;
    result = session_.unless_late(result);
    if (unanswered(result)) return;
    if (result == outcome::refused || result == outcome::rarely)
        return fail_all(simple_act::why::refused, code);
    if (result == outcome::later) session_.need_pause(actions_);
    advance();
}

void simple::raced(node_id id, outcome result, int code) {
    if (at_ != stage::racing || id != id_) return;
    race_outcome_ = result;
    race_code_ = code;
}

void simple::looked(std::uint64_t number, looked_answer answer) {
    if (!look_in_flight_ || number != looks_sent_) return;
    answer.result = session_.unless_late(answer.result);
    look_in_flight_ = false;
    watched_ = answer.watched && answer.result == outcome::done;
    switch (at_) {
    case stage::racing:
        if (race_outcome_ != outcome::done && race_outcome_ != outcome::lost)
            return race_not_executed(answer);
        [[fallthrough]];
    case stage::unknown:
        return check_created(answer);
    case stage::watching:
        return check_foreign(answer);
    case stage::holding:
        return check_hold(answer);
    default: // the stage has no use for the answer
        return advance();
    }
}

/// The ensemble has certainly not executed the race.
void simple::race_not_executed(const looked_answer& answer) {
    ids_.release(id_);
    actions_.push_back(simple_act::unreserve{});
    at_ = stage::idle;
    if (static_cast<zk_errc>(race_code_) == zk_errc::node_exists) return check_foreign(answer);
    switch (race_outcome_) {
    case outcome::missing:
        at_ = stage::preparing;
        session_.need_parents(actions_);
        return;
    case outcome::refused:
    case outcome::rarely:
        return fail_all(simple_act::why::refused, race_code_);
    case outcome::later:
        return session_.need_pause(actions_);
    default: // not sent
        return advance();
    }
}

/// The race was, or may have been, executed. A server that lags behind may not show its node yet:
/// then the nodes are swept, and a new race follows.
void simple::check_created(const looked_answer& answer) {
    if (answer.result == outcome::done && answer.own_data) return grant(answer.czxid);
    if (unanswered(answer.result) || answer.result == outcome::later) {
        at_ = stage::unknown;
        if (callers_.empty()) return no_caller_left();
        if (answer.result == outcome::later) session_.need_pause(actions_);
        return;
    }
    const bool unreadable = answer.result == outcome::refused && race_outcome_ == outcome::done;
    // If the lock's node has a foreign owner, the own node is already deleted: only the marker may
    // be left. If this session owns it, another client may have overwritten the data of our node.
    sweep(unreadable || answer.of_session || race_outcome_ == outcome::lost);
    if (!unreadable) return check_foreign(answer);
    at_ = stage::idle;
    fail_all(simple_act::why::refused, answer.code);
}

/// Another owner has, or had, the lock's node.
void simple::check_foreign(const looked_answer& answer) {
    at_ = answer.result == outcome::missing ? stage::idle : stage::watching;
    const bool known = !unanswered(answer.result);
    if (answer.result == outcome::done) update_own_node(answer.of_session, answer.czxid);
    if (known && at_ == stage::watching) give_up_immediate();
    if (callers_.empty()) return no_caller_left();
    if (!known) return;
    if (at_ == stage::watching && !watched_) session_.need_pause(actions_); // resume() looks again
    advance();
}

void simple::check_hold(const looked_answer& answer) {
    const bool foreign = answer.result == outcome::done && answer.czxid != czxid_;
    if (answer.result == outcome::missing || foreign) return lose_node();
    if (!unanswered(answer.result) && !watched_) session_.need_pause(actions_);
    if (answer.result != outcome::done || !answer.revoke) return;
    const bool first = !revokes_.any();
    if (!revokes_.saw(*answer.revoke)) return;
    if (first) actions_.push_back(simple_act::request_revoke{});
    actions_.push_back(simple_act::restore_data{id_, answer.revoke->version, revokes_.first()});
}

void simple::grant(std::int64_t czxid) {
    race_outcome_ = outcome::done;
    if (!callers_.empty() && session_.must_await_lease(actions_)) {
        at_ = stage::unknown; // lease_renewed() reads the node again: it may have been deleted
        return;
    }
    at_ = stage::holding;
    czxid_ = czxid;
    revokes_ = {};
    update_own_node(true, czxid);
    if (callers_.empty()) return release(id_);
    actions_.push_back(simple_act::grant{callers_.front().key, id_, czxid});
    callers_.pop_front();
    give_up_immediate();
    advance();
}

void simple::lease_renewed() {
    session_.lease_renewed();
    if (at_ != stage::unknown || look_in_flight_ || !session_.is_connected()) return;
    look();
}

void simple::changed(bool deleted) {
    watched_ = false;
    if (deleted && at_ == stage::holding) return lose_node();
    if (deleted && at_ == stage::watching) {
        at_ = stage::idle;
        look_in_flight_ = false;
    } else if (look_in_flight_ && session_.is_connected()) {
        return look(); // the event ended the watch that the look in flight relies on
    }
    advance();
}

} // namespace paddock::rules
