// The ensemble's answers and watch events.
#include "rules/names.hpp"
#include "rules/permits.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace paddock::rules {

void permits::created(node_id id, const created_answer& answer) {
    if (unwanted_creates_.contains(id)) return unwanted_created(id, answer);
    auto* const one = find(id);
    if (!one || one->at != presence::creating) return;
    if (answer.result == outcome::done) {
        one->at = presence::exists;
        one->name = answer.name;
        return;
    }
    if (answer.result == outcome::lost) {
        actions_.push_back(permit_act::taint{});
        one->at = presence::unknown;
        one->first_listing = listings_sent_ + 1;
        if (session_.is_connected()) need_listing(); // else connected() asks for it
        return;
    }
    ids_.release(id);
    *one = {};
    switch (session_.unless_late(answer.result)) {
    case outcome::missing:
        return session_.need_parents(actions_);
    case outcome::refused:
    case outcome::rarely:
        return fail(permit_act::why::refused, answer.code);
    case outcome::later:
        return session_.need_pause(actions_);
    default: // not sent: connected() repeats it
        return;
    }
}

/// The call has given the node up while its create was in flight.
void permits::unwanted_created(node_id id, const created_answer& answer) {
    unwanted_creates_.erase(id);
    if (answer.result == outcome::done) {
        actions_.push_back(permit_act::sweep{id, std::string(answer.name)});
    } else {
        if (answer.result == outcome::lost) actions_.push_back(permit_act::taint{});
        ids_.release(id);
    }
    leave_when_clear();
}

void permits::listed(std::uint64_t number, const looked_answer& answer,
                     std::span<const std::string> names) {
    if (at_ != stage::acquiring || !listing_in_flight_ || number != listings_sent_) return;
    listing_in_flight_ = false;
    switch (session_.unless_late(answer.result)) {
    case outcome::done:
        apply_listing(number, names);
        break;
    case outcome::missing:
        apply_listing(number, {});
        break;
    case outcome::later:
        return session_.need_pause(actions_);
    case outcome::refused:
    case outcome::rarely:
        return fail(permit_act::why::refused, answer.code);
    case outcome::lost:
    case outcome::not_sent: // connected() repeats it
        return;
    }
    directory_watched_ = answer.watched && answer.result == outcome::done;
    send_missing();
    if (std::exchange(listing_wanted_, false) && !listing_in_flight_) need_listing();
    grant_or_wait();
}

/// Updates the own permit nodes from a listing.
void permits::apply_listing(std::uint64_t number, std::span<const std::string> names) {
    std::unordered_map<node_id, const std::string*> ours;
    for (const auto& name : names)
        if (const auto id = own_id(name, ids_)) ours.emplace(*id, &name);
    node_count_ = names.size();
    others_.clear();
    if (!how_.permits || node_count_ > static_cast<std::size_t>(*how_.permits))
        for (const auto& name : names)
            if (!own_id(name, ids_)) others_.insert(name);
    complete_ = true;
    for (auto& one : nodes_) {
        const auto found = ours.find(one.id);
        const bool covered = one.first_listing <= number && one.at != presence::creating;
        if (covered && one.at != presence::absent) {
            if (found != ours.end()) {
                one.at = presence::exists;
                one.name = *found->second;
                continue;
            }
            ids_.release(one.id); // not executed, or deleted: send_missing() creates another
            one = {};
        }
        complete_ = false;
    }
}

void permits::grant_or_wait() {
    if (at_ != stage::acquiring || !complete_ || listing_in_flight_) return;
    if (!how_.permits && !permits_known_) return;
    const auto permits = std::max(how_.permits.value_or(permits_), 0);
    const bool lacked = too_few_free_;
    too_few_free_ = node_count_ > static_cast<std::size_t>(permits);
    if (too_few_free_ && !lacked) lacking_since_ = session_.now();
    if (!too_few_free_) return grant();
    if (how_.immediate) {
        actions_.push_back(permit_act::give_up{});
        return finish();
    }
    if (!directory_watched_ || (!how_.permits && !counter_watched_)) session_.need_pause(actions_);
}

void permits::grant() {
    if (session_.must_await_lease(actions_)) return;
    at_ = stage::held;
    permit_act::grant granted;
    for (const auto& one : nodes_)
        granted.names.push_back(one.name);
    actions_.push_back(permit_act::forget{});
    actions_.push_back(std::move(granted));
    actions_.push_back(permit_act::leave{});
}

void permits::permits_read(std::uint64_t number, const looked_answer& answer,
                           std::int32_t permits) {
    if (at_ != stage::acquiring || !counter_read_in_flight_ || number != counter_reads_sent_)
        return;
    counter_read_in_flight_ = false;
    switch (session_.unless_late(answer.result)) {
    case outcome::done:
        permits_ = permits;
        permits_known_ = true;
        counter_watched_ = answer.watched;
        if (std::exchange(counter_read_wanted_, false)) need_permits();
        return grant_or_wait();
    case outcome::missing: // another client deletes the counter as soon as it is made
    case outcome::later:
        return session_.need_pause(actions_);
    case outcome::refused:
    case outcome::rarely:
        return fail(permit_act::why::refused, answer.code);
    case outcome::lost:
    case outcome::not_sent: // connected() repeats it
        return;
    }
}

void permits::own_watched(node_id id, const looked_answer& answer) {
    auto* const one = find(id);
    if (at_ != stage::held || !one || one->own_watch != watching::asked) return;
    if (answer.result == outcome::missing) return lose();
    const auto result = session_.unless_late(answer.result);
    if (result == outcome::done && answer.revoke) revoke_seen(*one, *answer.revoke);
    const bool armed = result == outcome::done && answer.watched;
    const bool again = result == outcome::done || result == outcome::later;
    one->own_watch = armed ? watching::armed : again ? watching::later : watching::no;
    if (one->own_watch == watching::later) session_.need_pause(actions_);
}

void permits::revoke_seen(permit_node& at, const revoke_request& one) {
    if (!at.revokes.saw(one)) return;
    if (first_revoke_ == 0) {
        first_revoke_ = one.time;
        actions_.push_back(permit_act::request_revoke{});
    }
    actions_.push_back(permit_act::restore_data{at.id, at.name, one.version, first_revoke_});
}

void permits::other_seen(const std::string& name, outcome result,
                         std::optional<std::int64_t> ctime) {
    if (result == outcome::done)
        leftovers_.saw(name, ctime, lacking_since_);
    else
        seen_.erase(name);
}

/// So few at a time that healthy holders, and servers that refuse, are not bothered: the next ones
/// come a session timeout later, which is early enough for a line in the log.
void permits::look_at_others() {
    constexpr std::size_t most_looks = 64;
    std::erase_if(seen_, [this](const std::string& name) { return !others_.contains(name); });
    std::size_t looks = 0;
    for (const auto& name : others_) {
        if (looks == most_looks) break;
        if (!seen_.insert(name).second) continue;
        actions_.push_back(permit_act::look{name});
        ++looks;
    }
}

leftover_nodes permits::leftover(boot_clock::duration patience) {
    if (!perhaps_leftover()) return {};
    if (lacking_since_ + patience > session_.now()) return {{}, lacking_since_ + patience};
    if (next_looks_ <= session_.now()) {
        look_at_others();
        next_looks_ = session_.now() + patience;
    }
    auto all = leftovers_.due(session_.now(), patience,
                              [this](const std::string& name) { return others_.contains(name); });
    all.next = session_.now() + patience;
    return all;
}

void permits::parents_made(outcome result, int code) {
    session_.parents_made();
    result = session_.unless_late(result);
    if (result == outcome::done) return send_missing();
    if (at_ != stage::acquiring) return;
    if (result == outcome::later) return session_.need_pause(actions_);
    if (result == outcome::refused || result == outcome::rarely)
        fail(permit_act::why::refused, code);
}

void permits::directory_changed() {
    if (at_ != stage::acquiring) return;
    complete_ = false;
    if (session_.is_connected()) need_listing();
}

void permits::counter_changed() {
    if (at_ != stage::acquiring) return;
    permits_known_ = false;
    if (session_.is_connected()) need_permits();
}

void permits::own_changed(node_id id, bool deleted) {
    auto* const one = find(id);
    if (at_ != stage::held || !one) return;
    if (deleted) return lose();
    one->own_watch = watching::no; // an event ends the watch
    if (session_.is_connected()) watch_own(*one);
}

/// The other permit nodes stay until release(): the application's code may still run.
void permits::lose() {
    at_ = stage::lost;
    actions_.push_back(permit_act::lose{false});
}

} // namespace paddock::rules
