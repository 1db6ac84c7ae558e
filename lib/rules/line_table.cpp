// What is in the table, and who blocks whom in it. What follows from that is in line_watches.cpp.
#include "rules/line.hpp"

#include <algorithm>
#include <unordered_map>

namespace paddock::rules {

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
        const bool judged = c && c->needs <= listings_ && c->downgrading == 0;
        if (order > 0) { // listed, but not known
            if (gone_.contains(s->name))
                still_seen.emplace(s->name);
            else if (s->foreign)
                appear(*s);
            ++s;
            continue;
        }
        if (order == 0) ++s;
        if (order == 0 && judged) c->listed = true;
        if (order < 0 && judged) lost.push_back(c);
        if (order < 0 && !c)
            it = take_out(it);
        else
            ++it;
    }
    gone_ = std::move(still_seen);
}

/// A foreign node that was not known. Whoever waits behind it need not watch what is before it.
void line::appear(const sighting& seen) {
    const auto it = put({seen.sequence, std::string(seen.name)}, {.as = seen.as});
    if (it != table_.begin()) forget_if_idle(std::prev(it));
}

/// The contenders among the children, in their order.
std::vector<line::sighting> line::sightings(std::span<const std::string> names) const {
    std::vector<sighting> seen;
    seen.reserve(names.size());
    for (const auto& name : names)
        if (const auto said = names_.read(name))
            seen.push_back({said->sequence, name, said->as, !own_id(name, ids_)});
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
    take_place(c, {*sequence, std::string(name)});
    c.listed = true;
}

line::table::iterator line::put(place where, node what) {
    const auto it = table_.insert_or_assign(std::move(where), what).first;
    if (names_.has_shared() && what.as == role::exclusive) writers_.insert(it);
    if (what.local && what.as == role::shared) waiting_readers_.insert(it);
    return it;
}

line::table::iterator line::take_out(table::iterator it) {
    if (names_.has_shared()) {
        writers_.erase(it);
        waiting_readers_.erase(it);
    }
    return table_.erase(it);
}

void line::clear_table() {
    writers_.clear();
    waiting_readers_.clear();
    table_.clear();
    gone_.clear();
}

void line::take_place(contender& c, place where) {
    c.at = stage::waiting;
    c.node = put(std::move(where), {.local = &c, .as = c.how.as});
    ++waiting_or_granted_;
}

/// All nodes of a session end in one transaction, and their watches tell one after the other: the
/// silence of the next one's is no proof until it was asked again.
void line::own_gone(contender& c) {
    ++ends_;
    const bool held = c.at == stage::granted;
    if (held) actions_.push_back(act::lose{c.key, false});
    leave_table(c);
    if (held) {
        ids_.release(c.id);
        if (c.downgrading != 0) ids_.release(c.downgrading);
        erase(c);
    } else {
        back_to_joining(c);
    }
}

/// A foreign node is gone. Who waited for it may have another before it, about which nothing was
/// heard since the last listing: one listing tells of all of them.
void line::foreign_gone(table::iterator gone) {
    const role as = gone->second.as;
    const bool was_first = gone == table_.begin();
    const auto next = take_out(gone);
    if (names_.has_shared() && as == role::exclusive) list_again();
    if (curious_ && was_first) need_listing();
    const auto behind = first_behind(next, as);
    if (behind == table_.end()) return;
    const auto before = blocker_of(behind);
    if (before == table_.end() || before->second.local) return;
    if (before->second.watch == watching::no) need_listing();
}

/// Who downgraded has left another node where the one was that is gone. What is known, or comes
/// from a listing that is under way, may lack it.
void line::list_again() {
    bool any = false;
    for (auto& [key, c] : contenders_) {
        if (c.how.as == role::shared || c.at == stage::granted) continue;
        c.listed = false;
        c.needs = listings_ + 1;
        any = any || c.at != stage::joining;
    }
    if (any) need_listing();
}

/// The contender's node leaves the table; whoever is behind it finds its nearest blocker anew.
void line::leave_table(contender& c) {
    const role as = c.node->second.as;
    const auto before = blocker_of(c.node);
    const auto next = take_out(c.node);
    if (--waiting_or_granted_ == 0) {
        // Nothing keeps the directory, and with it the sequence numbers, alive any more.
        for (const auto& [where, entry] : table_)
            if (entry.watch != watching::no) actions_.push_back(act::forget{where.name});
        return clear_table();
    }
    if (!listing_) behind_removed(next, as);
    if (before != table_.end()) forget_if_idle(before);
}

/// Those whose nearest blocker is another now; `as` is what was removed just before `next`.
void line::behind_removed(table::iterator next, role as) {
    for (auto it = first_behind(next, as); it != table_.end(); ++it) {
        if (waits_here(it)) duties_of(it);
        if (it->second.as == role::exclusive) return;
    }
}

/// The first waiter whose nearest blocker was removed from before `next`.
line::table::iterator line::first_behind(table::iterator next, role as) {
    for (auto it = next; it != table_.end(); ++it) {
        const bool exclusive = it->second.as == role::exclusive;
        if (exclusive && it != next) break; // a reader before it has not gone
        if (!exclusive && as == role::shared) break;
        if (waits_here(it)) return it;
        if (exclusive) break;
    }
    return table_.end();
}

void line::forget_if_idle(table::iterator it) {
    auto& [where, entry] = *it;
    if (entry.local || entry.watch == watching::no || needed(it)) return;
    entry.watch = watching::no;
    actions_.push_back(act::forget{where.name});
}

/// Whether it is the nearest blocker of somebody who waits here.
bool line::needed(table::iterator it) const {
    if (curious_ && it->first == table_.begin()->first) return true;
    const role as = it->second.as;
    for (auto behind = std::next(it); behind != table_.end(); ++behind) {
        const bool exclusive = behind->second.as == role::exclusive;
        if (exclusive) return behind == std::next(it) && waits_here(behind);
        if (as == role::shared) return false;
        if (waits_here(behind)) return true;
    }
    return false;
}

} // namespace paddock::rules
