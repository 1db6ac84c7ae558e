// Calls of the contenders and events of the session. lock_queue_actions.cpp carries out what the
// rules decide.
#include "queue/lock_queue.hpp"

#include "rules/paths.hpp"
#include "support/invariant.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

lock_queue::lock_queue(core& client, std::string directory, rules::naming names, bool turn_only)
    : rules_driver(client)
    , use_(client)
    , directory_(std::move(directory))
    , names_(std::move(names))
    , turn_only_(turn_only) {
    rules_.emplace(names_, client.claims(), client.options().budgets.requests_in_flight);
}

bool lock_queue::local_blocker(rules::role as) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [as](const auto& entry) {
        return entry.second.user && rules::exclude_each_other(as, entry.second.how.rules.as);
    });
}

rules::contender_key lock_queue::next_key(rules::contender_key before) {
    return before != 0 && !entries_.contains(before) ? before : next_key();
}

void lock_queue::join(rules::contender_key key, std::shared_ptr<queue_user> user, entry_terms how) {
    if (how.uses_path)
        if (const auto why = use_.begin(directory_, rules::kind_of(names_)))
            return user->failed(why);
    persistent_parents_ = persistent_parents_ || how.nodes->persistent_parents;
    keyed_ = keyed_ || how.rules.own_directory;
    auto& entry = entries_[key];
    entry.user = std::move(user);
    entry.how = std::move(how);
    if (entry.how.uses_path) ++users_;
    const auto bytes = entry_bytes(entry.how.rules);
    if (entry.how.bytes_reserved || core_.node_budget().reserve(bytes)) {
        entry.reserved = bytes;
        report(&rules::queue::join, key, entry.how.rules);
    } else if (entry.how.fail_over_budget || !core_.node_budget().can_fit(bytes)) {
        erase_entry(key)->failed(errc::over_budget);
    } else if (entry.how.rules.immediate) {
        core_.tell_over_budget(lock_path());
        erase_entry(key)->given_up();
    } else {
        core_.tell_over_budget(lock_path());
        entry.budget_waiter =
            core_.node_budget().wait(bytes, [self = shared_from_this(), key, bytes] {
                const auto it = self->entries_.find(key);
                if (it == self->entries_.end()) return; // closed
                it->second.budget_waiter = 0;
                it->second.reserved = bytes;
                self->report(&rules::queue::join, key, it->second.how.rules);
            });
    }
}

/// An entry without a user is never granted, so it does not use the path.
std::shared_ptr<queue_user> lock_queue::take_user(queue_entry& entry) {
    auto user = std::exchange(entry.user, {});
    if (user && entry.how.uses_path && --users_ == 0) use_.end();
    return user;
}

/// For its one answer. Null if its caller has left.
std::shared_ptr<queue_user> lock_queue::take_answered(rules::contender_key key) {
    auto& entry = entries_.at(key);
    invariant("a call is answered once",
              [&] { return entry.abandoned || (entry.user && !entry.granted); });
    return take_user(entry);
}

std::shared_ptr<queue_user> lock_queue::erase_entry(rules::contender_key key) {
    auto refused = take_user(entries_.at(key));
    entries_.erase(key);
    after_actions();
    return refused;
}

void lock_queue::quit(rules::contender_key key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    tell_leftovers();
    auto& entry = it->second;
    entry.abandoned = true;
    take_user(entry);
    if (const auto turn = std::exchange(entry.budget_waiter, 0)) {
        core_.node_budget().stop_waiting(turn);
        entries_.erase(it);
        return after_actions();
    }
    report(&rules::queue::quit, key);
}

void lock_queue::release(rules::contender_key key, bool) { report(&rules::queue::release, key); }

void lock_queue::downgrade(rules::contender_key key) { report(&rules::queue::downgrade, key); }

void lock_queue::observe(bool on) {
    observers_ += on ? 1 : -1;
    report(&rules::queue::show_positions, observers_ > 0);
}

void lock_queue::watch_first(bool on) {
    watching_first_ += on ? 1 : -1;
    report(&rules::queue::watch_first, watching_first_ > 0);
}

void lock_queue::outside_hold(bool on) { report(&rules::queue::outside_hold, on); }

std::string lock_queue::path_of(rules::contender_key key) const {
    const auto name = rules_ ? rules_->name_of(key) : std::string_view();
    return name.empty() ? std::string() : path_of(name);
}

void lock_queue::data_changed(const std::string& full_path, std::string data) {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
        return path_of(entry.first) == full_path;
    });
    if (it == entries_.end()) return;
    auto changed = *it->second.how.nodes;
    changed.data = metadata::verbatim(std::move(data));
    it->second.how.nodes = std::make_shared<const node_terms>(std::move(changed));
}

void lock_queue::on_expired() {
    watches_.clear();
    report(&rules::queue::expired);
}

void lock_queue::on_closed(error_code why) {
    if (const auto unused = delete_unused_directory()) core_.send_last(*unused);
    delete_directory();
    end_rules();
    watches_.clear();
    for (const auto& [key, entry] : std::exchange(entries_, {})) {
        if (!entry.user) continue;
        if (entry.granted)
            entry.user->lost(why);
        else
            entry.user->failed(why);
    }
}

/// ZooKeeper deletes only containers that have had a node. Version 0: it still has no data.
std::optional<request> lock_queue::delete_unused_directory() {
    if (!std::exchange(unused_directory_, false)) return {};
    return requests::remove{.path = directory_, .version = 0};
}

/// The end of the session would delete the nodes, but not the directory that locks have made. The
/// last node and the directory in one transaction: as long as the node exists it is that directory.
void lock_queue::delete_directory() {
    if (!rules_ || (!rules_->made_directory() && !made_by_locks())) return;
    const auto nodes = rules_->own_nodes();
    for (const auto& name : nodes)
        core_.send_last(
            requests::remove{.path = path_of(name), .with_directory = &name == &nodes.back()});
}

std::string lock_queue::path_of(std::string_view name) const {
    return rules::child(directory_, name);
}

std::size_t lock_queue::entry_bytes(const rules::contender_terms& how) const {
    return node_bytes(directory_, names_.prefix(core_.claims(), 0, how.as, how.style));
}

bool lock_queue::foreign_blocker(const std::vector<std::string>& names, rules::role as) const {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        const auto parsed = names_.read(name);
        return parsed && rules::exclude_each_other(as, parsed->as) &&
               !rules::own_id(name, core_.claims());
    });
}

} // namespace paddock::detail
