// Decides by the table which nodes are watched and which contenders are granted. queue_nodes.cpp
// keeps the table.
#include "rules/queue.hpp"
#include "support/invariant.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::rules {

namespace {
/// The own nodes of this many waiters behind a local holder are watched in advance, so that each of
/// them can be granted without another read when its predecessor releases. More
/// would cost watches, fewer a read in chains of short holds.
constexpr int watched_ahead = 16;
} // namespace

void queue::update_watches() {
    if (!session_.is_connected()) return;
    for (auto it = table_.begin(); it != table_.end(); ++it)
        if (table_.is_waiter(it)) watch_blocker_of(it);
    watch_next_waiters();
}

/// If the waiter's nearest blocker is foreign, watches that node and the waiter's own.
void queue::watch_blocker_of(node_table::iterator it) {
    const auto before = table_.nearest_blocker(it);
    if (!session_.is_connected() || before == table_.end() || before->second.local) return;
    watch_own(*it->second.local);
    watch_foreign(before);
}

void queue::watch_foreign(node_table::iterator it) {
    auto& [where, entry] = *it;
    if (!session_.is_connected() || entry.watch != watching::no) return;
    entry.watch = watching::asked;
    ++blocker_reads_[where.name];
    actions_.push_back(queue_act::watch_blocker{where.name});
}

void queue::watch_next_waiters() {
    auto it = table_.begin();
    for (int n = 0; n <= watched_ahead && it != table_.end() && it->second.local; ++n, ++it)
        if (table_.is_waiter(it)) watch_own(*it->second.local);
    const auto first = table_.begin();
    if (watch_first_ && first != table_.end() && !first->second.local) watch_foreign(first);
}

void queue::watch_own(contender& c) {
    if (c.own_watch == watching::armed && c.losses_when_armed != own_losses_ &&
        c.at == stage::waiting)
        c.own_watch = watching::no;
    if (!session_.is_connected() || c.own_watch != watching::no) return;
    c.own_watch = watching::asked;
    actions_.push_back(queue_act::watch_own{c.key, c.id, c.node->first.name});
}

/// Grants the lock to every contender that can have it now.
void queue::advance(bool known_to_exist) {
    if (!session_.is_connected()) return;
    if (counts().unknown == 0) {
        const auto first = table_.begin();
        if (table_.is_waiter(first) && first->second.as == role::exclusive)
            grant(*first->second.local, known_to_exist);
        else
            grant_shared(known_to_exist);
    }
    list_if_due();
    watch_next_waiters();
}

/// Grants the lock to the shared contenders without an exclusive node before them. If many of their
/// nodes are not known to exist, one listing replaces a read of each.
void queue::grant_shared(bool known_to_exist) {
    int unverified = 0;
    const auto& waiting = table_.waiting_shared();
    for (auto it = waiting.begin(); it != waiting.end();) {
        const auto sharer = *it++;
        if (table_.exclusive_before(sharer)) break;
        if (!table_.is_waiter(sharer)) continue;
        auto& c = *sharer->second.local;
        if (grant(c, known_to_exist)) continue;
        if (!session_.lease_fit()) return;
        if (++unverified <= watched_ahead || c.czxid == 0) watch_own(c);
    }
    if (unverified > watched_ahead && !listing_in_flight_) need_listing();
}

void queue::lease_renewed() {
    session_.lease_renewed();
    advance();
}

/// Grants the lock if the contender's node is known to exist: the listing that has just arrived
/// shows it, or its watch was armed on this connection and has not fired.
bool queue::grant(contender& c, bool known_to_exist) {
    if (session_.must_await_lease(actions_)) return false;
    const bool silent = c.own_watch == watching::armed && c.losses_when_armed == own_losses_;
    if (c.czxid == 0 || (!known_to_exist && !silent)) return false;
    detail::invariant("a contender that is granted the lock has a node, and no blocker", [&] {
        return table_.is_waiter(c.node) && table_.nearest_blocker(c.node) == table_.end();
    });
    contenders_.change(c, [&c] {
        c.at = stage::granted;
        if (c.holds()) c.reported_stuck = false;
    });
    if (c.holds()) c.since = session_.now();
    table_.granted(c.node);
    actions_.push_back(queue_act::grant{c.key, c.node->first.name, c.czxid});
    if (c.revokes.any()) actions_.push_back(queue_act::request_revoke{c.key});
    return true;
}

void queue::give_up_immediate() {
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (!c.how.immediate || !c.listed || c.at != stage::waiting) continue;
        if (table_.nearest_blocker(c.node) == table_.end()) continue;
        actions_.push_back(queue_act::give_up{c.key});
        drop(c);
    }
}

void queue::blocker_watched(std::string_view name, outcome result) {
    const auto look = blocker_reads_.find(name);
    const bool asked_again = look != blocker_reads_.end() && --look->second > 0;
    if (look != blocker_reads_.end() && !asked_again) blocker_reads_.erase(look);
    const auto it = find(name);
    if (it == table_.end() || it->second.local) return;
    if (result == outcome::missing) {
        foreign_node_deleted(it);
        advance();
        return;
    }
    if (asked_again || it->second.watch != watching::asked) return; // forget was sent meanwhile
    result = session_.unless_late(result);
    it->second.watch = result == outcome::done ? watching::armed : watching::no;
    if (result == outcome::later || result == outcome::rarely || result == outcome::refused)
        session_.need_pause(actions_);
}

void queue::own_watched(contender_key key, node_id id, const own_answer& answer) {
    auto* const found = contenders_.find(key);
    if (!found || found->id != id || !found->in_table()) return;
    auto& c = *found;
    c.own_watch = watching::no;
    if (answer.result == outcome::missing) {
        if (c.downgrade_id != 0) return; // the downgrade's answer decides
        own_node_deleted(c);
        return advance();
    }
    const auto result = session_.unless_late(answer.result);
    if (result == outcome::lost || result == outcome::not_sent) return;
    const bool done = answer.result == outcome::done;
    if (done) c.czxid = answer.czxid;
    if (done && answer.revoke) revoke_seen(c, *answer.revoke);
    c.own_watch = done && answer.watched ? watching::armed : watching::later;
    c.losses_when_armed = own_losses_;
    if (c.own_watch == watching::later) session_.need_pause(actions_);
    if (done && counts().unknown == 0 && table_.is_waiter(c.node) &&
        table_.nearest_blocker(c.node) == table_.end())
        grant(c, true);
    advance();
}

/// Only a holder can oblige. A waiter is told with its grant.
void queue::revoke_seen(contender& c, const revoke_request& one) {
    const bool first = !c.revokes.any();
    if (!c.revokes.saw(one)) return;
    if (first && c.at == stage::granted) actions_.push_back(queue_act::request_revoke{c.key});
    actions_.push_back(
        queue_act::restore_data{c.key, c.node->first.name, one.version, c.revokes.first()});
}

void queue::node_event(std::string_view name, bool deleted) {
    const auto it = find(name);
    if (it == table_.end()) return;
    if (auto* const c = it->second.local) {
        c->own_watch = watching::no;
        if (c->downgrade_id != 0) return; // the downgrade's answer decides
        if (deleted)
            own_node_deleted(*c);
        else
            watch_own(*c);
    } else if (deleted) {
        table_.deleted(name);
        foreign_node_deleted(it);
    } else {
        it->second.watch = watching::no;
        if (watch_needed(it)) watch_foreign(it);
    }
    advance();
}

std::optional<std::size_t> queue::ahead_of(contender_key key) const {
    const auto* const c = contenders_.find(key);
    if (!c) return std::nullopt;
    if (c->at == stage::granted) return 0;
    if (c->at != stage::waiting || !c->listed) return std::nullopt;
    return table_.count_before(c->node, c->how.as);
}

bool queue::known_blocked(contender_key key, role as) const {
    const auto* const c = contenders_.find(key);
    const auto end = c && c->in_table() ? node_table::const_iterator(c->node) : table_.end();
    return table_.blocked(end, as);
}

std::string_view queue::name_of(contender_key key) const {
    const auto* const c = contenders_.find(key);
    return c && c->in_table() ? std::string_view(c->node->first.name) : std::string_view();
}

node_table::iterator queue::find(std::string_view name) {
    const auto sequence = names_.sequence(name);
    return sequence ? table_.find({*sequence, std::string(name)}) : table_.end();
}

} // namespace paddock::rules
