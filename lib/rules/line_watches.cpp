// Who watches what, and who is granted: what follows from the table. What is in it comes from
// line_table.cpp.
#include "rules/line.hpp"

#include <iterator>
#include <utility>

namespace paddock::rules {

namespace {
/// So many waiters behind a local one have their own nodes watched beforehand, so that the lock is
/// handed down a chain of them without a question in between.
constexpr int looked_ahead = 16;
} // namespace

bool line::waits_here(table::iterator it) const {
    if (it == table_.end() || !it->second.local) return false;
    return it->second.local->at == stage::waiting && it->second.local->listed;
}

/// The nearest node before it that does not share the lock with it; the end if there is none.
line::table::iterator line::blocker_of(table::iterator it) {
    if (it->second.as == role::exclusive)
        return it == table_.begin() ? table_.end() : std::prev(it);
    const auto writer = writers_.lower_bound(it);
    return writer == writers_.begin() ? table_.end() : *std::prev(writer);
}

void line::watch_duties() {
    if (!connected_) return;
    for (auto it = table_.begin(); it != table_.end(); ++it)
        if (waits_here(it)) duties_of(it);
    look_ahead();
}

/// A waiter behind a foreign node watches that node, and its own.
void line::duties_of(table::iterator it) {
    const auto before = blocker_of(it);
    if (!connected_ || before == table_.end() || before->second.local) return;
    watch_own(*it->second.local);
    look_at(before);
}

void line::look_at(table::iterator it) {
    auto& [where, entry] = *it;
    if (!connected_ || entry.watch != watching::no) return;
    entry.watch = watching::asked;
    ++looks_[where.name];
    actions_.push_back(act::watch_blocker{where.name});
}

void line::look_ahead() {
    auto it = table_.begin();
    for (int n = 0; n <= looked_ahead && it != table_.end() && it->second.local; ++n, ++it)
        if (waits_here(it)) watch_own(*it->second.local);
    const auto first = table_.begin();
    if (curious_ && first != table_.end() && !first->second.local) look_at(first);
}

void line::watch_own(contender& c) {
    if (c.own == watching::armed && c.sure != ends_ && c.at == stage::waiting) c.own = watching::no;
    if (!connected_ || c.own != watching::no) return;
    c.own = watching::asked;
    actions_.push_back(act::watch_own{c.key, c.id, c.node->first.name});
}

/// Grants what can be granted.
void line::advance(bool known_to_exist) {
    if (!connected_) return;
    if (unknown_ == 0) {
        const auto first = table_.begin();
        if (waits_here(first) && first->second.as == role::exclusive)
            grant(*first->second.local, known_to_exist);
        else
            grant_readers(known_to_exist);
    }
    look_ahead();
}

/// Whoever shares, and has no exclusive node before it. If many of them are not known to exist, one
/// listing tells of all.
void line::grant_readers(bool known_to_exist) {
    int unsure = 0;
    for (auto it = waiting_readers_.begin(); it != waiting_readers_.end();) {
        const auto reader = *it++;
        if (!writers_.empty() && earlier()(*writers_.begin(), reader)) break;
        if (!waits_here(reader)) continue;
        auto& c = *reader->second.local;
        if (grant(c, known_to_exist)) continue;
        if (!lease_fit_) return;
        if (++unsure <= looked_ahead || c.czxid == 0) watch_own(c);
    }
    if (unsure > looked_ahead && !listing_) need_listing();
}

bool line::lease_lacks() {
    if (lease_fit_) return false;
    if (!std::exchange(awaiting_lease_, true)) actions_.push_back(act::await_lease{});
    return true;
}

void line::lease_renewed() {
    awaiting_lease_ = false;
    advance();
}

/// Grants the lock if the contender's node is known to exist: it is in the listing that has just
/// come, or its watch is armed on this connection and has been silent.
bool line::grant(contender& c, bool known_to_exist) {
    if (lease_lacks()) return false;
    const bool silent = c.own == watching::armed && c.sure == ends_;
    if (c.czxid == 0 || (!known_to_exist && !silent)) return false;
    c.at = stage::granted;
    waiting_readers_.erase(c.node);
    actions_.push_back(act::grant{c.key, c.node->first.name, c.czxid});
    if (c.asked_back) actions_.push_back(act::ask_back{c.key});
    return true;
}

void line::give_up_immediates() {
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (!c.how.immediate || !c.listed || c.at != stage::waiting) continue;
        if (blocker_of(c.node) == table_.end()) continue;
        actions_.push_back(act::give_up{c.key});
        drop(c);
    }
}

void line::blocker_watched(std::string_view name, outcome result) {
    const auto look = looks_.find(name);
    const bool asked_again = look != looks_.end() && --look->second > 0;
    if (look != looks_.end() && !asked_again) looks_.erase(look);
    const auto it = find(name);
    if (it == table_.end() || it->second.local) return;
    if (result == outcome::missing) {
        foreign_gone(it);
        advance();
        return;
    }
    if (asked_again || it->second.watch != watching::asked) return; // forgotten meanwhile
    it->second.watch = result == outcome::done ? watching::armed : watching::no;
    if (result == outcome::later || result == outcome::rarely || result == outcome::refused)
        need_pause();
}

void line::own_watched(contender_key who, node_id id, const own_answer& answer) {
    const auto found = contenders_.find(who);
    if (found == contenders_.end() || found->second.id != id) return;
    auto& c = found->second;
    if (c.at != stage::waiting && c.at != stage::granted) return;
    c.own = watching::no;
    if (answer.result == outcome::missing) {
        if (c.downgrading != 0) return; // its answer tells
        own_gone(c);
        return advance();
    }
    if (answer.result == outcome::lost || answer.result == outcome::not_sent) return;
    const bool done = answer.result == outcome::done;
    if (done) c.czxid = answer.czxid;
    if (done && answer.asked_back && !std::exchange(c.asked_back, true) && c.at == stage::granted)
        actions_.push_back(act::ask_back{c.key});
    c.own = done && answer.watched ? watching::armed : watching::later;
    c.sure = ends_;
    if (c.own == watching::later) need_pause();
    if (done && unknown_ == 0 && waits_here(c.node) && blocker_of(c.node) == table_.end())
        grant(c, true);
    advance();
}

void line::node_event(std::string_view name, bool deleted) {
    const auto it = find(name);
    if (it == table_.end()) return;
    if (auto* const c = it->second.local) {
        c->own = watching::no;
        if (c->downgrading != 0) return; // its answer tells
        if (deleted)
            own_gone(*c);
        else
            watch_own(*c);
    } else if (deleted) {
        gone_.emplace(name);
        foreign_gone(it);
    } else {
        it->second.watch = watching::no;
        if (needed(it)) look_at(it);
    }
    advance();
}

/// Goes through the whole line: for people who ask, not for the algorithm.
std::optional<std::size_t> line::ahead_of(contender_key who) const {
    const auto found = contenders_.find(who);
    if (found == contenders_.end()) return std::nullopt;
    const auto& c = found->second;
    if (c.at == stage::granted) return 0;
    if (c.at != stage::waiting || !c.listed) return std::nullopt;
    std::size_t count = 0;
    for (auto it = table_.begin(); it->second.local != &c; ++it)
        if (c.how.as == role::exclusive || it->second.as == role::exclusive) ++count;
    return count;
}

std::string_view line::name_of(contender_key who) const {
    const auto found = contenders_.find(who);
    if (found == contenders_.end()) return {};
    const bool placed = found->second.at == stage::waiting || found->second.at == stage::granted;
    return placed ? std::string_view(found->second.node->first.name) : std::string_view();
}

line::table::iterator line::find(std::string_view name) {
    const auto sequence = names_.sequence(name);
    return sequence ? table_.find(place{*sequence, std::string(name)}) : table_.end();
}

} // namespace paddock::rules
