// Calls of the contenders and events of the session. lock_queue_actions.cpp carries out what the
// rules decide.
#include "queue/lock_queue.hpp"

#include "rules/paths.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

lock_queue::lock_queue(core& client, std::string directory, rules::naming names)
    : core_(client)
    , directory_(std::move(directory))
    , names_(std::move(names))
    , rules_(names_, client.claims())
    , stuck_(client) {}

rules::queue& lock_queue::updated_rules() {
    rules_.lease(core_.lease().fit());
    rules_.now(core_.env().now());
    return rules_;
}

bool lock_queue::occupied(rules::role as) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [as](const auto& entry) {
        const bool excludes =
            as == rules::role::exclusive || entry.second.how.rules.as == rules::role::exclusive;
        return entry.second.user != nullptr && excludes;
    });
}

rules::contender_key lock_queue::enter(std::shared_ptr<queue_user> user, entry_terms how) {
    const auto key =
        how.rejoin_key && !entries_.contains(how.rejoin_key) ? how.rejoin_key : ++last_key_;
    persistent_parents_ = persistent_parents_ || how.persistent_parents;
    auto& entry = entries_[key];
    entry.user = std::move(user);
    entry.how = std::move(how);
    const auto bytes = entry_bytes(entry.how.rules);
    if (entry.how.bytes_reserved || core_.node_budget().take(bytes)) {
        entry.reserved = bytes;
        join(key);
    } else if (entry.how.fail_over_budget || !core_.node_budget().possible(bytes)) {
        erase_entry(key)->failed(errc::over_budget);
    } else if (entry.how.rules.immediate) {
        erase_entry(key)->given_up();
    } else {
        entry.budget_turn =
            core_.node_budget().wait(bytes, [self = shared_from_this(), key, bytes] {
                const auto it = self->entries_.find(key);
                if (it == self->entries_.end()) return; // closed
                it->second.budget_turn = 0;
                it->second.reserved = bytes;
                self->join(key);
            });
    }
    return key;
}

std::shared_ptr<queue_user> lock_queue::erase_entry(rules::contender_key key) {
    auto refused = std::move(entries_.at(key).user);
    entries_.erase(key);
    return refused;
}

void lock_queue::join(rules::contender_key key) {
    updated_rules().join(key, entries_.at(key).how.rules);
    carry_out();
}

void lock_queue::quit(rules::contender_key key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    auto& entry = it->second;
    entry.abandoned = true;
    entry.user.reset();
    if (const auto turn = std::exchange(entry.budget_turn, 0)) {
        core_.node_budget().stop_waiting(turn);
        entries_.erase(it);
        return;
    }
    updated_rules().quit(key);
    carry_out();
}

void lock_queue::release(rules::contender_key key) {
    updated_rules().release(key);
    carry_out();
}

void lock_queue::downgrade(rules::contender_key key) {
    updated_rules().downgrade(key);
    carry_out();
}

void lock_queue::watch_first(bool begin) {
    watching_first_ += begin ? 1 : -1;
    updated_rules().watch_first(watching_first_ > 0);
    carry_out();
}

void lock_queue::outside_hold(bool begin) {
    updated_rules().outside_hold(begin);
    carry_out();
}

std::string lock_queue::path_of(rules::contender_key key) const {
    const auto name = rules_.name_of(key);
    return name.empty() ? std::string() : path_of(name);
}

void lock_queue::on_connected() {
    updated_rules().connected();
    carry_out();
}

void lock_queue::on_suspended() {
    updated_rules().disconnected();
    carry_out();
}

void lock_queue::on_expired() {
    watches_.clear();
    updated_rules().expired();
    carry_out();
}

void lock_queue::on_closed(error_code why) {
    closed_ = true;
    pause_.reset();
    stuck_.stop();
    watches_.clear();
    for (const auto& [key, entry] : std::exchange(entries_, {})) {
        if (entry.budget_turn) core_.node_budget().stop_waiting(entry.budget_turn);
        if (!entry.user) continue;
        if (entry.granted)
            entry.user->lost(why);
        else
            entry.user->failed(why);
    }
}

std::string lock_queue::path_of(std::string_view name) const {
    return rules::child(directory_, name);
}

std::size_t lock_queue::entry_bytes(const rules::contender_terms& how) const {
    return node_bytes(directory_, names_.prefix(core_.claims(), 0, how.as, how.names));
}

bool lock_queue::taken(const std::vector<std::string>& names, rules::role as) const {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        const auto parsed = names_.read(name);
        const bool excludes =
            as == rules::role::exclusive || (parsed && parsed->as == rules::role::exclusive);
        return parsed && excludes && !rules::own_id(name, core_.claims());
    });
}

} // namespace paddock::detail
