// Keeps the table: the known nodes and their order, from listings and answers. queue_watches.cpp
// sets watches and grants.
#include "rules/queue.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace paddock::rules {

/// At most one listing is in flight and one wanted.
void queue::need_listing() {
    if (!session_.is_connected() || contenders_.empty()) return;
    if (listing_in_flight_)
        listing_wanted_ = true;
    else
        send_listing();
}

/// Whether at least half of the waiters have no listing. The others are before them: until the last
/// of those has left or is granted, these need none.
bool queue::listing_due() const noexcept {
    const auto with = counts().waiting - counts().unlisted;
    const auto without = counts().unlisted + counts().creating;
    return without > 0 && (show_positions_ || without >= with);
}

/// A listing in flight may show them: its arrival asks again, and so does the end of a pause.
void queue::list_if_due() {
    if (!listing_in_flight_ && !session_.pausing() && listing_due()) need_listing();
}

void queue::send_listing() {
    listing_in_flight_ = true;
    listing_wanted_ = false;
    ++listings_sent_;
    actions_.push_back(queue_act::list{counts().unknown > 0});
}

void queue::listed(outcome result, int code, std::span<const std::string> names) {
    switch (session_.unless_late(result)) {
    case outcome::done:
        merge(names);
        break;
    case outcome::missing:
        merge({});
        break;
    case outcome::later:
        session_.need_pause(actions_);
        break;
    case outcome::refused:
    case outcome::rarely:
        fail_waiting(code);
        break;
    case outcome::lost:
    case outcome::not_sent: // connected() repeats it
        listing_in_flight_ = false;
        return;
    }
    listing_in_flight_ = false;
    if (listing_wanted_) need_listing();
    advance(result == outcome::done); // first: a granted contender needs no watch on its blocker
    update_watches();
}

/// Updates the table from a listing. Without a contender nobody would notice when its nodes go.
void queue::merge(std::span<const std::string> names) {
    if (contenders_.empty()) return;
    std::vector<contender*> lost;
    match_listing(parse_listing(names), lost);
    // First, because own_node_deleted() clears the table when the last contender leaves it, and an
    // adopted contender needs the foreign nodes in it.
    resolve_unknown(names);
    for (auto* const c : lost)
        own_node_deleted(*c);
    give_up_immediate();
}

/// Merges the listing, which is sorted, into the table. `lost` gets the contenders whose node is
/// missing in a listing that was sent after their create.
void queue::match_listing(std::span<const listed_node> listing, std::vector<contender*>& lost) {
    std::set<std::string, std::less<>> still_listed;
    bool company = false;
    auto it = table_.begin();
    auto s = listing.begin();
    while (it != table_.end() || s != listing.end()) {
        const int order = it == table_.end() ? 1 : s == listing.end() ? -1 : s->compare(it->first);
        auto* const c = order <= 0 ? it->second.local : nullptr;
        const bool covered = c && c->first_listing <= listings_sent_ && c->downgrade_id == 0;
        if (order > 0) { // listed, but not in the table
            if (table_.was_deleted(s->name)) {
                still_listed.emplace(s->name);
            } else if (s->foreign) {
                company = true;
                add_foreign_node(*s);
            }
            ++s;
            continue;
        }
        if (order == 0) ++s;
        if (order == 0 && covered && !c->listed) contenders_.change(*c, [c] { c->listed = true; });
        if (order < 0 && covered) lost.push_back(c);
        if (order < 0 && !c)
            it = remove_node(it);
        else
            ++it;
    }
    if (company) report_company();
    table_.keep_deleted(std::move(still_listed));
}

/// Contenders behind the new node watch that one, so the watch on the node before it may go.
void queue::add_foreign_node(const listed_node& listed) {
    const auto it = table_.insert({listed.sequence, std::string(listed.name)}, {.as = listed.as});
    if (it != table_.begin()) forget_if_unneeded(std::prev(it));
}

/// The children that are contenders' nodes, in queue order.
std::vector<queue::listed_node> queue::parse_listing(std::span<const std::string> names) const {
    std::vector<listed_node> nodes;
    nodes.reserve(names.size());
    for (const auto& name : names)
        if (const auto parsed = names_.read(name))
            nodes.push_back({parsed->sequence, name, parsed->as, !own_id(name, ids_)});
    std::sort(nodes.begin(), nodes.end(), [](const listed_node& a, const listed_node& b) {
        return a.sequence != b.sequence ? a.sequence < b.sequence : a.name < b.name;
    });
    return nodes;
}

/// Decides each unknown create that a listing behind a barrier covers: the listing shows its node,
/// or the create was not executed.
void queue::resolve_unknown(std::span<const std::string> names) {
    if (counts().unknown == 0) return;
    std::unordered_map<node_id, std::string_view> ours;
    for (const auto& name : names)
        if (const auto id = own_id(name, ids_)) ours.emplace(*id, name);
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second; // adopt() may erase it
        if (c.at != stage::unknown || c.first_listing > listings_sent_) continue;
        if (const auto found = ours.find(c.id); found != ours.end())
            adopt(c, found->second);
        else
            forget_create(c);
    }
    if (counts().unknown == 0) start_joining();
}

void queue::adopt(contender& c, std::string_view name) {
    if (!names_.read(name)) return forget_create(c); // no create of this lock has made that node
    const auto sequence = usable_sequence(name);
    if (!sequence) return withdraw_node(c, name);
    c.listed = true;
    if (c.with_directory) directory_.made();
    enter_table(c, {*sequence, std::string(name)});
}

node_table::iterator queue::remove_node(node_table::iterator it) {
    if (!leftovers_.empty()) leftovers_.gone(it->first.name);
    return table_.erase(it);
}

void queue::forget_foreign_nodes() {
    for (auto it = table_.begin(); it != table_.end();) {
        const auto& [where, entry] = *it;
        if (!entry.local && entry.watch != watching::no)
            actions_.push_back(queue_act::forget{where.name});
        it = entry.local ? std::next(it) : remove_node(it);
    }
    table_.keep_deleted({});
}

void queue::clear_table() {
    table_.clear();
    leftovers_.clear();
}

void queue::enter_table(contender& c, node_position where) {
    contenders_.move_to(c, stage::waiting);
    c.node = table_.insert(std::move(where), {.local = &c, .as = c.how.as});
    c.since = session_.now();
}

/// The server deletes all nodes of an expired session in one transaction, but the watch events
/// arrive one after the other. So after one own node is lost, the silence of another node's watch
/// proves nothing until that node has been read again.
void queue::own_node_deleted(contender& c) {
    ++own_losses_;
    directory_.doubt();
    const bool held = c.at == stage::granted;
    if (held) actions_.push_back(queue_act::lose{c.key, false});
    leave_table(c);
    if (held) {
        ids_.release(c.id);
        if (c.downgrade_id != 0) ids_.release(c.downgrade_id);
        erase(c);
    } else {
        rejoin(c);
    }
}

/// The waiter behind the deleted node may have another foreign blocker, which is not watched and
/// may have been deleted since the last listing. One new listing decides that for all of them.
void queue::foreign_node_deleted(node_table::iterator gone) {
    const role as = gone->second.as;
    const bool was_first = gone == table_.begin();
    const auto next = remove_node(gone);
    if (names_.has_shared() && as == role::exclusive) relist_for_exclusive();
    if (watch_first_ && was_first) need_listing();
    const auto behind = table_.first_waiter_behind(next, as);
    if (behind == table_.end()) return;
    const auto before = table_.nearest_blocker(behind);
    if (before == table_.end() || before->second.local) return;
    if (before->second.watch == watching::no) need_listing();
}

/// A foreign exclusive node may have been deleted by a downgrade, which leaves a shared node with
/// the same sequence number. Neither the table nor a listing in flight need show that node, so
/// exclusive contenders know their blockers only after a new listing.
void queue::relist_for_exclusive() {
    bool any = false;
    for (auto& one : contenders_) {
        auto& c = one.second;
        if (c.how.as == role::shared || c.at == stage::granted) continue;
        if (c.listed) contenders_.change(c, [&c] { c.listed = false; });
        c.first_listing = listings_sent_ + 1;
        any = any || c.at != stage::joining;
    }
    if (any) need_listing();
}

/// Removes the contender's node from the table and finds new nearest blockers for those behind it.
void queue::leave_table(contender& c) {
    const role as = c.node->second.as;
    const auto before = table_.nearest_blocker(c.node);
    const auto next = remove_node(c.node);
    contenders_.move_to(c, stage::joining);
    // Without a node of ours the directory may be deleted, and its sequence numbers restart.
    if (counts().in_table == 0) {
        if (!table_.empty()) report_company(); // it is still there
        return forget_foreign_nodes();
    }
    if (!listing_in_flight_) rewatch_behind(next, as);
    if (before != table_.end()) forget_if_unneeded(before);
}

/// Watches the new nearest blocker of each waiter that lost its old one, a node of role `as` just
/// before `next`.
void queue::rewatch_behind(node_table::iterator next, role as) {
    for (auto it = table_.first_waiter_behind(next, as); it != table_.end(); ++it) {
        if (table_.is_waiter(it)) watch_blocker_of(it);
        if (it->second.as == role::exclusive) return;
    }
}

void queue::forget_if_unneeded(node_table::iterator it) {
    auto& [where, entry] = *it;
    if (entry.local || entry.watch == watching::no || watch_needed(it)) return;
    entry.watch = watching::no;
    actions_.push_back(queue_act::forget{where.name});
}

/// Whether the node is the nearest blocker of a local waiter, or the watched first node.
bool queue::watch_needed(node_table::iterator it) const {
    return (watch_first_ && it->first == table_.begin()->first) || table_.blocks_waiter(it);
}

} // namespace paddock::rules
