// What the ensemble says, and what follows from it.
#include "rules/simple.hpp"

#include <paddock/error.hpp>

#include <utility>

namespace paddock::rules {

namespace {
/// Nobody has answered: connected() is next.
bool silent(outcome what) { return what == outcome::lost || what == outcome::not_sent; }
} // namespace

void simple::glanced(caller_key who, outcome result, int code) {
    if (glancing_.erase(who) == 0) return;
    if (silent(result)) {
        actions_.push_back(simple_act::fail{who, simple_act::why::not_connected, 0});
    } else if (result == outcome::done || at_ != stage::idle || !callers_.empty()) {
        actions_.push_back(simple_act::give_up{who});
    } else if (result != outcome::missing) {
        actions_.push_back(simple_act::fail{who, simple_act::why::refused, code});
    } else {
        callers_.push_back({who, true});
        go_on();
    }
}

void simple::parents_made(outcome result, int code) {
    if (at_ != stage::preparing) return;
    at_ = stage::idle;
    if (silent(result)) return;
    if (result == outcome::refused || result == outcome::rarely)
        return fail_all(simple_act::why::refused, code);
    if (result == outcome::later) need_pause();
    go_on();
}

void simple::raced(node_id id, outcome result, int code) {
    if (at_ != stage::racing || id != id_) return;
    made_ = result;
    refused_ = code;
}

void simple::looked(std::uint64_t number, const looked_answer& answer) {
    if (!looking_ || number != looks_) return;
    looking_ = false;
    watched_ = answer.watched && answer.result == outcome::done;
    switch (at_) {
    case stage::racing:
        if (made_ != outcome::done && made_ != outcome::lost) return judge_race(answer);
        [[fallthrough]];
    case stage::unsure:
        return judge_made(answer);
    case stage::watching:
        return judge_watch(answer);
    case stage::holding:
        return judge_hold(answer);
    default: // nobody needs it any more
        return go_on();
    }
}

/// The nodes were certainly not made.
void simple::judge_race(const looked_answer& answer) {
    ids_.release(id_);
    actions_.push_back(simple_act::unreserve{});
    at_ = stage::idle;
    if (static_cast<zk_errc>(refused_) == zk_errc::node_exists) return judge_watch(answer);
    switch (made_) {
    case outcome::missing:
        at_ = stage::preparing;
        actions_.push_back(simple_act::make_parents{});
        return;
    case outcome::refused:
    case outcome::rarely:
        return fail_all(simple_act::why::refused, refused_);
    case outcome::later:
        return need_pause();
    default: // not sent
        return go_on();
    }
}

/// The nodes were made, or perhaps made. A server that lags behind may not show ours yet: then they
/// are deleted, and made again.
void simple::judge_made(const looked_answer& answer) {
    if (answer.result == outcome::done && answer.ours) return grant(answer.czxid);
    if (silent(answer.result) || answer.result == outcome::later) {
        at_ = stage::unsure;
        if (callers_.empty()) return nobody_waits();
        if (answer.result == outcome::later) need_pause();
        return;
    }
    const bool unreadable = answer.result == outcome::refused && made_ == outcome::done;
    // With somebody else's data in it the node may be ours; else ours has been deleted at once.
    sweep(unreadable || answer.of_session || made_ == outcome::lost);
    if (!unreadable) return judge_watch(answer);
    at_ = stage::idle;
    fail_all(simple_act::why::refused, answer.code);
}

/// There is a node, and it is another's; or there was one.
void simple::judge_watch(const looked_answer& answer) {
    at_ = answer.result == outcome::missing ? stage::idle : stage::watching;
    const bool known = !silent(answer.result);
    if (known && at_ == stage::watching) dismiss_immediates();
    if (callers_.empty()) return nobody_waits();
    if (!known) return;
    if (at_ == stage::watching && !watched_) need_pause(); // then looks again
    go_on();
}

void simple::judge_hold(const looked_answer& answer) {
    const bool another = answer.result == outcome::done && answer.czxid != czxid_;
    if (answer.result == outcome::missing || another) return lose_node();
    if (!silent(answer.result) && !watched_) need_pause();
}

void simple::grant(std::int64_t czxid) {
    made_ = outcome::done;
    if (!lease_fit_ && !callers_.empty()) return await_lease();
    at_ = stage::holding;
    czxid_ = czxid;
    if (callers_.empty()) return release(id_);
    actions_.push_back(simple_act::grant{callers_.front().key, id_, czxid});
    callers_.pop_front();
    dismiss_immediates();
    go_on();
}

/// By then the node may be gone: it is looked at again.
void simple::await_lease() {
    at_ = stage::unsure;
    if (!std::exchange(awaiting_lease_, true)) actions_.push_back(simple_act::await_lease{});
}

void simple::lease_renewed() {
    awaiting_lease_ = false;
    if (at_ != stage::unsure || looking_ || !connected_) return;
    look();
}

void simple::changed(bool deleted) {
    watched_ = false;
    if (deleted && at_ == stage::holding) return lose_node();
    if (deleted && at_ == stage::watching) {
        at_ = stage::idle;
        looking_ = false;
    } else if (looking_ && connected_) {
        return look(); // the one under way sets a watch that nobody waits for
    }
    go_on();
}

} // namespace paddock::rules
