// Decides by the table which nodes are watched and which contenders are granted. queue_nodes.cpp
// keeps the table.
#include "rules/queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::rules {

namespace {
/// The own nodes of this many waiters behind a local holder are watched in advance, so that each of
/// them can be granted without another read when its predecessor releases.
constexpr int watched_ahead = 16;
} // namespace

bool queue::is_local_waiter(table::iterator it) const {
    if (it == table_.end() || !it->second.local) return false;
    return it->second.local->at == stage::waiting && it->second.local->listed;
}

/// The nearest node before it that does not share the lock with it; end() if there is none.
queue::table::iterator queue::nearest_blocker(table::iterator it) {
    if (it->second.as == role::exclusive)
        return it == table_.begin() ? table_.end() : std::prev(it);
    const auto writer = exclusive_nodes_.lower_bound(it);
    return writer == exclusive_nodes_.begin() ? table_.end() : *std::prev(writer);
}

void queue::update_watches() {
    if (!connected_) return;
    for (auto it = table_.begin(); it != table_.end(); ++it)
        if (is_local_waiter(it)) watch_blocker_of(it);
    watch_next_waiters();
}

/// If the waiter's nearest blocker is foreign, watches that node and the waiter's own.
void queue::watch_blocker_of(table::iterator it) {
    const auto before = nearest_blocker(it);
    if (!connected_ || before == table_.end() || before->second.local) return;
    watch_own(*it->second.local);
    watch_foreign(before);
}

void queue::watch_foreign(table::iterator it) {
    auto& [where, entry] = *it;
    if (!connected_ || entry.watch != watching::no) return;
    entry.watch = watching::asked;
    ++blocker_reads_[where.name];
    actions_.push_back(queue_act::watch_blocker{where.name});
}

void queue::watch_next_waiters() {
    auto it = table_.begin();
    for (int n = 0; n <= watched_ahead && it != table_.end() && it->second.local; ++n, ++it)
        if (is_local_waiter(it)) watch_own(*it->second.local);
    const auto first = table_.begin();
    if (watch_first_ && first != table_.end() && !first->second.local) watch_foreign(first);
}

void queue::watch_own(contender& c) {
    if (c.own_watch == watching::armed && c.losses_when_armed != own_losses_ &&
        c.at == stage::waiting)
        c.own_watch = watching::no;
    if (!connected_ || c.own_watch != watching::no) return;
    c.own_watch = watching::asked;
    actions_.push_back(queue_act::watch_own{c.key, c.id, c.node->first.name});
}

/// Grants the lock to every contender that can have it now.
void queue::advance(bool known_to_exist) {
    if (!connected_) return;
    if (unknown_creates_ == 0) {
        const auto first = table_.begin();
        if (is_local_waiter(first) && first->second.as == role::exclusive)
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
    for (auto it = waiting_shared_.begin(); it != waiting_shared_.end();) {
        const auto sharer = *it++;
        if (!exclusive_nodes_.empty() && by_position()(*exclusive_nodes_.begin(), sharer)) break;
        if (!is_local_waiter(sharer)) continue;
        auto& c = *sharer->second.local;
        if (grant(c, known_to_exist)) continue;
        if (!lease_fit_) return;
        if (++unverified <= watched_ahead || c.czxid == 0) watch_own(c);
    }
    if (unverified > watched_ahead && !listing_in_flight_) need_listing();
}

bool queue::must_await_lease() {
    if (lease_fit_) return false;
    if (!std::exchange(awaiting_lease_, true)) actions_.push_back(queue_act::await_lease{});
    return true;
}

void queue::lease_renewed() {
    awaiting_lease_ = false;
    advance();
}

/// Grants the lock if the contender's node is known to exist: the listing that has just arrived
/// shows it, or its watch was armed on this connection and has not fired.
bool queue::grant(contender& c, bool known_to_exist) {
    if (must_await_lease()) return false;
    const bool silent = c.own_watch == watching::armed && c.losses_when_armed == own_losses_;
    if (c.czxid == 0 || (!known_to_exist && !silent)) return false;
    c.at = stage::granted;
    --waiting_;
    if (holds(c)) {
        if (std::exchange(c.reported_stuck, false)) --reported_stuck_;
        ++holders_;
        c.since = now_;
    }
    waiting_shared_.erase(c.node);
    actions_.push_back(queue_act::grant{c.key, c.node->first.name, c.czxid});
    if (c.revoke_requested) actions_.push_back(queue_act::request_revoke{c.key});
    return true;
}

void queue::give_up_immediate() {
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (!c.how.immediate || !c.listed || c.at != stage::waiting) continue;
        if (nearest_blocker(c.node) == table_.end()) continue;
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
    result = unless_late(result, connected_);
    it->second.watch = result == outcome::done ? watching::armed : watching::no;
    if (result == outcome::later || result == outcome::rarely || result == outcome::refused)
        need_pause();
}

void queue::own_watched(contender_key key, node_id id, const own_answer& answer) {
    const auto found = contenders_.find(key);
    if (found == contenders_.end() || found->second.id != id) return;
    auto& c = found->second;
    if (c.at != stage::waiting && c.at != stage::granted) return;
    c.own_watch = watching::no;
    if (answer.result == outcome::missing) {
        if (c.downgrade_id != 0) return; // the downgrade's answer decides
        own_node_deleted(c);
        return advance();
    }
    const auto result = unless_late(answer.result, connected_);
    if (result == outcome::lost || result == outcome::not_sent) return;
    const bool done = answer.result == outcome::done;
    if (done) c.czxid = answer.czxid;
    if (done && answer.revoke_requested && !std::exchange(c.revoke_requested, true) &&
        c.at == stage::granted)
        actions_.push_back(queue_act::request_revoke{c.key});
    c.own_watch = done && answer.watched ? watching::armed : watching::later;
    c.losses_when_armed = own_losses_;
    if (c.own_watch == watching::later) need_pause();
    if (done && unknown_creates_ == 0 && is_local_waiter(c.node) &&
        nearest_blocker(c.node) == table_.end())
        grant(c, true);
    advance();
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
        deleted_.emplace(name);
        foreign_node_deleted(it);
    } else {
        it->second.watch = watching::no;
        if (watch_needed(it)) watch_foreign(it);
    }
    advance();
}

/// Walks the whole table: for diagnosis, not for the algorithm.
std::optional<std::size_t> queue::ahead_of(contender_key key) const {
    const auto found = contenders_.find(key);
    if (found == contenders_.end()) return std::nullopt;
    const auto& c = found->second;
    if (c.at == stage::granted) return 0;
    if (c.at != stage::waiting || !c.listed) return std::nullopt;
    std::size_t count = 0;
    for (auto it = table_.begin(); it->second.local != &c; ++it)
        if (c.how.as == role::exclusive || it->second.as == role::exclusive) ++count;
    return count;
}

bool queue::known_blocked(contender_key key, role as) const {
    const auto found = contenders_.find(key);
    const bool node_created = found != contenders_.end() && (found->second.at == stage::waiting ||
                                                             found->second.at == stage::granted);
    const auto end = node_created ? table::const_iterator(found->second.node) : table_.end();
    return std::any_of(table_.begin(), end, [as](const auto& one) {
        return as == role::exclusive || one.second.as == role::exclusive;
    });
}

std::string_view queue::name_of(contender_key key) const {
    const auto found = contenders_.find(key);
    if (found == contenders_.end()) return {};
    const bool node_created =
        found->second.at == stage::waiting || found->second.at == stage::granted;
    return node_created ? std::string_view(found->second.node->first.name) : std::string_view();
}

queue::table::iterator queue::find(std::string_view name) {
    const auto sequence = names_.sequence(name);
    return sequence ? table_.find(node_position{*sequence, std::string(name)}) : table_.end();
}

} // namespace paddock::rules
