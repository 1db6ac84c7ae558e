// Who joins and who leaves: the contenders' way up to their place in the table. What happens in the
// table is in line_table.cpp.
#include "rules/line.hpp"

#include <utility>

namespace paddock::rules {

void line::join(contender_key who, terms how) {
    auto& c = contenders_[who];
    c.key = who;
    c.how = how;
    start(c);
}

void line::quit(contender_key who) {
    const auto found = contenders_.find(who);
    if (found == contenders_.end()) return;
    auto& c = found->second;
    if (c.at == stage::granted) return;
    if (c.at == stage::creating) {
        c.quitting = true;
        return;
    }
    drop(c);
    advance();
}

void line::release(contender_key who) {
    const auto found = contenders_.find(who);
    if (found == contenders_.end() || found->second.at != stage::granted) return;
    drop(found->second);
    advance();
}

void line::guard_own(contender_key who) {
    const auto found = contenders_.find(who);
    if (found != contenders_.end() && found->second.at == stage::granted) watch_own(found->second);
}

/// Nobody else hears of it: whoever shares the lock with it may come as soon as the exclusive node
/// has made room for the other.
void line::downgrade(contender_key who) {
    const auto found = contenders_.find(who);
    if (found == contenders_.end() || found->second.at != stage::granted) return;
    auto& c = found->second;
    if (c.how.as == role::shared || c.downgrading != 0) return;
    c.downgrading = ids_.claim();
    if (connected_) send_downgrade(c);
}

void line::send_downgrade(const contender& c) {
    actions_.push_back(
        act::downgrade{c.key, c.downgrading, c.node->first.name, name_after_downgrade(c)});
}

/// With the sequence number that the present node has.
std::string line::name_after_downgrade(const contender& c) const {
    const auto before_digits = names_.prefix(ids_, c.id, role::exclusive).size();
    return names_.prefix(ids_, c.downgrading, role::shared) +
           c.node->first.name.substr(before_digits);
}

void line::downgraded(contender_key who, node_id id, outcome result) {
    const auto found = contenders_.find(who);
    if (found == contenders_.end() || found->second.downgrading != id) return;
    auto& c = found->second;
    switch (result) {
    case outcome::done:
        share(c);
        return advance();
    case outcome::missing:
        own_gone(c);
        return advance();
    case outcome::lost: // connected() repeats it, and it happens once: the name is unique
        actions_.push_back(act::taint{who});
        return;
    case outcome::not_sent:
        return;
    default:
        return need_pause();
    }
}

/// The contender's new node takes the place of the old one, which is gone.
void line::share(contender& c) {
    const place where{c.node->first.sequence, name_after_downgrade(c)};
    if (c.own != watching::no) actions_.push_back(act::forget{c.node->first.name});
    const auto next = take_out(c.node);
    ids_.release(c.id);
    c.id = std::exchange(c.downgrading, 0);
    c.how.as = role::shared;
    c.own = watching::no;
    c.node = put(where, {.local = &c, .as = role::shared});
    waiting_readers_.erase(c.node);
    actions_.push_back(act::downgraded{c.key});
    watch_own(c);
    if (!listing_) behind_removed(next, role::exclusive);
}

void line::be_curious(bool yes) {
    curious_ = yes;
    if (curious_) return watch_duties();
    if (!table_.empty()) forget_if_idle(table_.begin());
}

void line::connected() {
    connected_ = true;
    listing_ = wanted_ = making_parents_ = false;
    looks_.clear();
    for (auto& [where, entry] : table_)
        entry.watch = watching::no;
    for (auto& [key, c] : contenders_) {
        c.own = watching::no;
        c.needs = listings_ + 1;
    }
    start_joining();
    watch_duties();
    advance(); // nobody is granted yet, but who could be looks for its node
    for (auto& [key, c] : contenders_) {
        if (c.at != stage::granted) continue;
        watch_own(c);
        if (c.downgrading != 0) send_downgrade(c);
    }
}

void line::disconnected() {
    connected_ = false;
    wanted_ = false;
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.how.immediate && !c.quitting && c.at != stage::granted)
            fail(c, act::why::not_connected, 0);
    }
}

void line::expired() {
    connected_ = false;
    listing_ = wanted_ = making_parents_ = pausing_ = awaiting_lease_ = false;
    clear_table();
    looks_.clear();
    waiting_or_granted_ = unknown_ = 0;
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = it->second;
        if (c.at == stage::granted)
            actions_.push_back(act::lose{c.key, true});
        else if (c.how.fail_on_expiry && !c.quitting)
            actions_.push_back(act::fail{c.key, act::why::session_expired, 0});
        else if (!c.quitting) {
            c = {.key = c.key, .how = c.how};
            ++it;
            continue;
        }
        actions_.push_back(act::out{c.key});
        it = contenders_.erase(it);
    }
}

void line::created(contender_key who, node_id id, const created_answer& answer) {
    const auto found = contenders_.find(who);
    if (found == contenders_.end() || found->second.id != id || found->second.at != stage::creating)
        return;
    auto& c = found->second;
    if (answer.result == outcome::done) return placed(c, answer);
    if (answer.result == outcome::lost) {
        actions_.push_back(act::taint{who});
        c.at = stage::unknown;
        c.needs = listings_ + 1;
        ++unknown_;
    } else {
        ids_.release(id);
        c.at = stage::joining;
    }
    if (c.quitting) return drop(c);
    switch (answer.result) {
    case outcome::lost: // it happens while disconnected; if not, there is no need to wait
        if (connected_) need_listing();
        break;
    case outcome::missing:
        need_parents();
        break;
    case outcome::refused:
    case outcome::rarely:
        fail(c, act::why::refused, answer.code);
        break;
    case outcome::later:
        need_pause();
        break;
    case outcome::not_sent: // connected() starts it again
    case outcome::done:
        break;
    }
}

void line::placed(contender& c, const created_answer& answer) {
    const auto sequence = names_.sequence(answer.name);
    const bool usable = sequence && *sequence >= 0 && *sequence < sequence_limit;
    if (c.quitting || !usable) {
        actions_.push_back(act::sweep{c.key, c.id, std::string(answer.name)});
        c.at = stage::joining; // it has no node any more
        if (c.quitting) return drop(c);
        return fail(c, act::why::sequence_exhausted, 0);
    }
    if (*sequence >= sequence_warning && !warned_) {
        warned_ = true;
        actions_.push_back(act::warn{});
    }
    c.czxid = answer.czxid;
    take_place(c, {*sequence, std::string(answer.name)});
}

void line::parents_made(outcome result, int code) {
    making_parents_ = false;
    if (result == outcome::done) return start_joining();
    if (result == outcome::later) return need_pause();
    if (result != outcome::refused && result != outcome::rarely) return; // connected() goes on
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.at == stage::joining) fail(c, act::why::refused, code);
    }
}

void line::resume() {
    if (!pausing_) return;
    pausing_ = false;
    start_joining();
    for (auto& [key, c] : contenders_) {
        if (c.own != watching::later) continue;
        c.own = watching::no;
        if (c.at == stage::granted) watch_own(c);
    }
    for (const auto& [key, c] : contenders_)
        if (connected_ && c.downgrading != 0) send_downgrade(c);
    watch_duties();
    advance();
}

/// Sends the contender's create and the listing that shows its blockers, unless something stands in
/// the way; what that is calls start_joining() when it is gone.
void line::start(contender& c) {
    if (!connected_ || making_parents_ || pausing_) return;
    c.id = ids_.claim();
    c.at = stage::creating;
    c.needs = listings_ + 1;
    actions_.push_back(act::create{c.key, c.id});
    need_listing();
}

/// Starts whoever has not been started, and asks for the listing that anybody else lacks.
void line::start_joining() {
    for (auto& [key, c] : contenders_)
        if (c.at == stage::joining) start(c);
    for (const auto& [key, c] : contenders_) {
        const bool under_way = listing_ && c.needs <= listings_;
        if (c.at != stage::joining && !c.listed && !under_way) return need_listing();
    }
}

/// A contender whose node is gone queues again, with a new id.
void line::back_to_joining(contender& c) {
    ids_.release(c.id);
    c = {.key = c.key, .how = c.how};
    start(c);
}

/// Takes a contender out, with whatever it has.
void line::drop(contender& c) {
    if (c.at == stage::waiting || c.at == stage::granted) {
        actions_.push_back(act::sweep{c.key, c.id, c.node->first.name});
        if (c.downgrading != 0)
            actions_.push_back(act::sweep{c.key, c.downgrading, name_after_downgrade(c)});
        leave_table(c);
    } else if (c.at == stage::unknown) {
        ids_.release(c.id); // the taint finds its node, if there is one
        --unknown_;
    }
    erase(c);
}

void line::erase(contender& c) {
    actions_.push_back(act::out{c.key});
    contenders_.erase(c.key);
}

void line::fail(contender& c, act::why reason, int code) {
    actions_.push_back(act::fail{c.key, reason, code});
    if (c.at == stage::creating)
        c.quitting = true;
    else
        drop(c);
}

/// The directory cannot be read: whoever waits in it would wait for ever.
void line::fail_waiting(int code) {
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.at == stage::waiting || c.at == stage::unknown) fail(c, act::why::refused, code);
    }
}

void line::need_parents() {
    if (making_parents_) return;
    making_parents_ = true;
    actions_.push_back(act::make_parents{});
}

void line::need_pause() {
    if (pausing_) return;
    pausing_ = true;
    actions_.push_back(act::pause{});
}

/// At most one listing is under way and one wanted.
void line::need_listing() {
    if (!connected_ || contenders_.empty()) return;
    if (listing_)
        wanted_ = true;
    else
        send_listing();
}

void line::send_listing() {
    listing_ = true;
    wanted_ = false;
    ++listings_;
    actions_.push_back(act::list{unknown_ > 0});
}

std::vector<action> line::take() { return std::exchange(actions_, {}); }

} // namespace paddock::rules
