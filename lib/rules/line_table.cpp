// What happens in the table: who blocks whom, what is watched, and who is granted.
#include "rules/line.hpp"

#include <algorithm>
#include <unordered_map>

namespace paddock::rules {

namespace {
/// So many waiters behind a local one have their own nodes watched beforehand, so that the lock is
/// handed down a chain of them without a question in between.
constexpr int looked_ahead = 16;
} // namespace

void line::listed(outcome result, int code, std::span<const std::string> names) {
    switch (result) {
    case outcome::done:
        merge(names);
        break;
    case outcome::missing:
        merge({});
        break;
    case outcome::later:
        need_pause();
        break;
    case outcome::refused:
    case outcome::rarely:
        fail_waiting(code);
        break;
    case outcome::lost:
    case outcome::not_sent: // connected() asks again
        listing_ = false;
        return;
    }
    listing_ = false;
    if (wanted_) need_listing();
    advance(result == outcome::done); // first: who is granted by the listing need not be watched
    watch_duties();
}

/// Brings the table in line with a listing.
void line::merge(std::span<const std::string> names) {
    std::vector<contender*> lost;
    see(sightings(names), lost);
    settle(names); // first: the last one to leave takes what was seen with it
    for (auto* const c : lost)
        own_gone(*c);
    give_up_immediates();
}

/// Walks the table and the listing side by side, both in order.
void line::see(std::span<const sighting> seen, std::vector<contender*>& lost) {
    std::set<std::string, std::less<>> still_seen;
    auto it = table_.begin();
    auto s = seen.begin();
    while (it != table_.end() || s != seen.end()) {
        const int order = it == table_.end() ? 1 : s == seen.end() ? -1 : s->compare(it->first);
        auto* const c = order <= 0 ? it->second.local : nullptr;
        const bool judged = c && c->needs <= listings_;
        if (order > 0) { // listed, but not known
            if (gone_.contains(s->name))
                still_seen.emplace(s->name);
            else if (s->foreign)
                table_.emplace_hint(it, place{s->sequence, std::string(s->name)}, node{});
            ++s;
            continue;
        }
        if (order == 0) ++s;
        if (order == 0 && judged) c->listed = true;
        if (order < 0 && judged) lost.push_back(c);
        if (order < 0 && !c)
            it = table_.erase(it);
        else
            ++it;
    }
    gone_ = std::move(still_seen);
}

/// The contenders among the children, in their order.
std::vector<line::sighting> line::sightings(std::span<const std::string> names) const {
    std::vector<sighting> seen;
    seen.reserve(names.size());
    for (const auto& name : names)
        if (const auto sequence = names_.sequence(name))
            seen.push_back({*sequence, name, !own_id(name, ids_)});
    std::sort(seen.begin(), seen.end(), [](const sighting& a, const sighting& b) {
        return a.sequence != b.sequence ? a.sequence < b.sequence : a.name < b.name;
    });
    return seen;
}

/// After a barrier and a listing: a lost create is in it, or it was not executed.
void line::settle(std::span<const std::string> names) {
    if (unknown_ == 0) return;
    std::unordered_map<node_id, std::string_view> ours;
    for (const auto& name : names)
        if (const auto id = own_id(name, ids_)) ours.emplace(*id, name);
    for (auto& [key, c] : contenders_) {
        if (c.at != stage::unknown || c.needs > listings_) continue;
        --unknown_;
        if (const auto found = ours.find(c.id); found != ours.end())
            adopt(c, found->second);
        else
            back_to_joining(c);
    }
}

void line::adopt(contender& c, std::string_view name) {
    const auto sequence = names_.sequence(name);
    if (!sequence) return back_to_joining(c);
    c.at = stage::waiting;
    c.listed = true;
    c.node = table_.insert_or_assign(place{*sequence, std::string(name)}, node{&c}).first;
    ++waiting_or_granted_;
}

void line::own_gone(contender& c) {
    const bool held = c.at == stage::granted;
    if (held) actions_.push_back(act::lose{c.key, false});
    leave_table(c);
    if (held) {
        ids_.release(c.id);
        erase(c);
    } else {
        back_to_joining(c);
    }
}

/// A foreign node is gone. Who waited for it may have another before it, about which nothing was
/// heard since the last listing: one listing tells of all of them.
void line::foreign_gone(table::iterator gone) {
    const auto next = table_.erase(gone);
    if (next == table_.begin() || !waits_here(next)) return;
    const auto& before = std::prev(next)->second;
    if (!before.local && before.watch == watching::no) need_listing();
}

/// The contender's node leaves the table; whoever is behind it finds its nearest blocker anew.
void line::leave_table(contender& c) {
    if (c.at == stage::granted) --granted_;
    const auto next = table_.erase(c.node);
    if (--waiting_or_granted_ == 0) {
        // Nothing keeps the directory, and with it the sequence numbers, alive any more.
        for (const auto& [where, entry] : table_)
            if (entry.watch != watching::no) actions_.push_back(act::forget{where.name});
        table_.clear();
        gone_.clear();
        return;
    }
    neighbour_changed(next);
}

void line::neighbour_changed(table::iterator next) {
    if (waits_here(next)) {
        if (!listing_) duties_of(next);
        return;
    }
    if (next == table_.begin()) return;
    const auto before = std::prev(next);
    if (before->second.local || before->second.watch == watching::no) return;
    before->second.watch = watching::no;
    actions_.push_back(act::forget{before->first.name});
}

bool line::waits_here(table::iterator it) const {
    if (it == table_.end() || !it->second.local) return false;
    return it->second.local->at == stage::waiting && it->second.local->listed;
}

void line::watch_duties() {
    if (!connected_) return;
    for (auto it = table_.begin(); it != table_.end(); ++it)
        if (waits_here(it)) duties_of(it);
    look_ahead();
}

/// A waiter behind a foreign node watches that node, and its own.
void line::duties_of(table::iterator it) {
    if (!connected_ || it == table_.begin()) return;
    auto& [where, before] = *std::prev(it);
    if (before.local) return;
    watch_own(*it->second.local);
    if (before.watch != watching::no) return;
    before.watch = watching::asked;
    ++looks_[where.name];
    actions_.push_back(act::watch_blocker{where.name});
}

void line::look_ahead() {
    auto it = table_.begin();
    for (int n = 0; n <= looked_ahead && it != table_.end() && it->second.local; ++n, ++it)
        if (waits_here(it)) watch_own(*it->second.local);
}

void line::watch_own(contender& c) {
    if (!connected_ || c.own != watching::no) return;
    c.own = watching::asked;
    actions_.push_back(act::watch_own{c.key, c.id, c.node->first.name});
}

/// Grants what can be granted.
void line::advance(bool known_to_exist) {
    if (!connected_) return;
    grant_first(known_to_exist);
    look_ahead();
}

/// The first in the table has the lock if its node is known to exist: it is in the listing that has
/// just come, or its watch is armed on this connection and has been silent.
void line::grant_first(bool known_to_exist) {
    const auto first = table_.begin();
    if (unknown_ > 0 || granted_ > 0 || !waits_here(first)) return;
    auto& c = *first->second.local;
    if (c.czxid == 0 || (!known_to_exist && c.own != watching::armed)) return;
    c.at = stage::granted;
    ++granted_;
    actions_.push_back(act::grant{c.key, first->first.name, c.czxid});
}

void line::give_up_immediates() {
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (!c.how.immediate || !c.listed || c.at != stage::waiting) continue;
        if (c.node == table_.begin()) continue;
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
        own_gone(c);
        return advance();
    }
    if (answer.result == outcome::lost || answer.result == outcome::not_sent) return;
    const bool done = answer.result == outcome::done;
    if (done) c.czxid = answer.czxid;
    c.own = done && answer.watched ? watching::armed : watching::later;
    if (c.own == watching::later) need_pause();
    advance(done && c.node == table_.begin());
}

void line::node_event(std::string_view name, bool deleted) {
    const auto it = find(name);
    if (it == table_.end()) return;
    if (auto* const c = it->second.local) {
        c->own = watching::no;
        if (deleted)
            own_gone(*c);
        else
            watch_own(*c);
    } else if (deleted) {
        gone_.emplace(name);
        foreign_gone(it);
    } else {
        it->second.watch = watching::no;
        if (const auto next = std::next(it); waits_here(next)) duties_of(next);
    }
    advance();
}

line::table::iterator line::find(std::string_view name) {
    const auto sequence = names_.sequence(name);
    return sequence ? table_.find(place{*sequence, std::string(name)}) : table_.end();
}

} // namespace paddock::rules
