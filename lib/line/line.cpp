// Entering and leaving, and the session's ups and downs. What the rules decide is carried out in
// line_actions.cpp.
#include "line/line.hpp"

#include "rules/paths.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

line::line(core& client, std::string directory, rules::naming names)
    : core_(client)
    , directory_(std::move(directory))
    , names_(std::move(names))
    , rules_(names_, client.claims()) {}

rules::line& line::facts() {
    rules_.lease(core_.lease().fit());
    return rules_;
}

bool line::occupied(rules::role as) const noexcept {
    return std::any_of(seats_.begin(), seats_.end(), [as](const auto& entry) {
        const bool alone =
            as == rules::role::exclusive || entry.second.how.rules.as == rules::role::exclusive;
        return entry.second.who != nullptr && alone;
    });
}

rules::contender_key line::enter(std::shared_ptr<entrant> who, entry_terms how) {
    const auto key = how.again && !seats_.contains(how.again) ? how.again : ++last_;
    persistent_parents_ = persistent_parents_ || how.persistent_parents;
    auto& place = seats_[key];
    place.who = std::move(who);
    place.how = std::move(how);
    const auto bytes = place_bytes(place.how.rules);
    if (place.how.paid || core_.node_budget().take(bytes)) {
        place.reserved = bytes;
        join(key);
    } else if (place.how.fail_over_budget) {
        const auto refused = std::move(place.who);
        seats_.erase(key);
        refused->failed(errc::over_budget);
    } else {
        place.waiting = core_.node_budget().wait(bytes, [self = shared_from_this(), key, bytes] {
            const auto it = self->seats_.find(key);
            if (it == self->seats_.end()) return; // closed
            it->second.waiting = 0;
            it->second.reserved = bytes;
            self->join(key);
        });
    }
    return key;
}

void line::join(rules::contender_key who) {
    facts().join(who, seats_.at(who).how.rules);
    carry_out();
}

void line::quit(rules::contender_key who) {
    const auto it = seats_.find(who);
    if (it == seats_.end()) return;
    auto& place = it->second;
    place.left = true;
    place.who.reset();
    if (const auto turn = std::exchange(place.waiting, 0)) {
        core_.node_budget().stop_waiting(turn);
        seats_.erase(it);
        return;
    }
    facts().quit(who);
    carry_out();
}

void line::release(rules::contender_key who) {
    facts().release(who);
    carry_out();
}

void line::downgrade(rules::contender_key who) {
    facts().downgrade(who);
    carry_out();
}

void line::watch_first(bool begin) {
    watching_first_ += begin ? 1 : -1;
    facts().be_curious(watching_first_ > 0);
    carry_out();
}

std::string line::path_of(rules::contender_key who) const {
    const auto name = rules_.name_of(who);
    return name.empty() ? std::string() : path_of(name);
}

void line::on_connected() {
    facts().connected();
    carry_out();
}

void line::on_suspended() {
    facts().disconnected();
    carry_out();
}

void line::on_expired() {
    watches_.clear();
    facts().expired();
    carry_out();
}

void line::on_closed(error_code why) {
    closed_ = true;
    pause_.reset();
    watches_.clear();
    for (const auto& [key, place] : std::exchange(seats_, {})) {
        if (place.waiting) core_.node_budget().stop_waiting(place.waiting);
        if (!place.who) continue;
        if (place.granted)
            place.who->lost(why);
        else
            place.who->failed(why);
    }
}

std::string line::path_of(std::string_view name) const { return rules::child(directory_, name); }

std::size_t line::place_bytes(const rules::terms& how) const {
    return node_bytes(directory_, names_.prefix(core_.claims(), 0, how.as, how.names));
}

bool line::taken(const std::vector<std::string>& names, rules::role as) const {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        const auto said = names_.read(name);
        const bool alone =
            as == rules::role::exclusive || (said && said->as == rules::role::exclusive);
        return said && alone && !rules::own_id(name, core_.claims());
    });
}

} // namespace paddock::detail
