// What the ensemble says, and what follows from it.
#include "rules/leases.hpp"
#include "rules/names.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace paddock::rules {

void leases::created(node_id id, const created_answer& answer) {
    if (strays_.contains(id)) return stray_created(id, answer);
    auto* const one = find(id);
    if (!one || one->at != presence::creating) return;
    if (answer.result == outcome::done) {
        one->at = presence::there;
        one->name = answer.name;
        return;
    }
    if (answer.result == outcome::lost) {
        actions_.push_back(lease_act::taint{});
        one->at = presence::unknown;
        one->needs = listings_ + 1;
        if (connected_)
            need_listing(); // it happens while disconnected; else there is no need to wait
        return;
    }
    ids_.release(id);
    *one = {};
    switch (answer.result) {
    case outcome::missing:
        return need_parents();
    case outcome::refused:
    case outcome::rarely:
        return fail(lease_act::why::refused, answer.code);
    case outcome::later:
        return need_pause();
    default: // not sent: connected() starts it again
        return;
    }
}

/// Nobody wants it any more.
void leases::stray_created(node_id id, const created_answer& answer) {
    strays_.erase(id);
    if (answer.result == outcome::done) {
        actions_.push_back(lease_act::sweep{id, std::string(answer.name)});
    } else {
        if (answer.result == outcome::lost) actions_.push_back(lease_act::taint{});
        ids_.release(id);
    }
    leave_when_clear();
}

void leases::listed(std::uint64_t number, const looked_answer& answer,
                    std::span<const std::string> names) {
    if (at_ != stage::acquiring || !listing_ || number != listings_) return;
    listing_ = false;
    switch (answer.result) {
    case outcome::done:
        judge(number, names);
        break;
    case outcome::missing:
        judge(number, {});
        break;
    case outcome::later:
        return need_pause();
    case outcome::refused:
    case outcome::rarely:
        return fail(lease_act::why::refused, answer.code);
    case outcome::lost:
    case outcome::not_sent: // connected() asks again
        return;
    }
    directory_watched_ = answer.watched && answer.result == outcome::done;
    go();
    if (std::exchange(wanted_, false) && !listing_) need_listing();
    decide();
}

/// Compares a listing with what we think is there.
void leases::judge(std::uint64_t number, std::span<const std::string> names) {
    std::unordered_map<node_id, const std::string*> ours;
    for (const auto& name : names)
        if (const auto id = own_id(name, ids_)) ours.emplace(*id, &name);
    nodes_ = names.size();
    seen_ = true;
    for (auto& one : leases_) {
        const auto found = ours.find(one.id);
        const bool judged = one.needs <= number && one.at != presence::creating;
        if (judged && one.at != presence::absent) {
            if (found != ours.end()) {
                one.at = presence::there;
                one.name = *found->second;
                continue;
            }
            ids_.release(one.id); // it was not executed, or is gone: another takes its place
            one = {};
        }
        seen_ = false;
    }
}

void leases::decide() {
    if (at_ != stage::acquiring || !seen_ || listing_) return;
    if (!how_.permits && !permits_known_) return;
    const auto permits = std::max(how_.permits.value_or(permits_), 0);
    if (nodes_ <= static_cast<std::size_t>(permits)) return grant();
    if (how_.immediate) {
        actions_.push_back(lease_act::give_up{});
        return finish();
    }
    if (!directory_watched_ || (!how_.permits && !counter_watched_)) need_pause();
}

void leases::grant() {
    if (!session_fit_) {
        if (!std::exchange(awaiting_session_, true)) actions_.push_back(lease_act::await_lease{});
        return;
    }
    at_ = stage::held;
    lease_act::grant granted;
    for (const auto& one : leases_)
        granted.names.push_back(one.name);
    actions_.push_back(lease_act::forget{});
    actions_.push_back(std::move(granted));
    actions_.push_back(lease_act::leave{});
}

void leases::permits_read(std::uint64_t number, const looked_answer& answer, std::int32_t permits) {
    if (at_ != stage::acquiring || !reading_ || number != readings_) return;
    reading_ = false;
    switch (answer.result) {
    case outcome::done:
        permits_ = permits;
        permits_known_ = true;
        counter_watched_ = answer.watched;
        if (std::exchange(reading_wanted_, false)) need_permits();
        return decide();
    case outcome::missing: // somebody deletes it whenever it is made
    case outcome::later:
        return need_pause();
    case outcome::refused:
    case outcome::rarely:
        return fail(lease_act::why::refused, answer.code);
    case outcome::lost:
    case outcome::not_sent: // connected() asks again
        return;
    }
}

void leases::own_watched(node_id id, const looked_answer& answer) {
    auto* const one = find(id);
    if (at_ != stage::held || !one || one->own != watching::asked) return;
    if (answer.result == outcome::missing) return lose();
    const bool armed = answer.result == outcome::done && answer.watched;
    const bool again = answer.result == outcome::done || answer.result == outcome::later;
    one->own = armed ? watching::armed : again ? watching::later : watching::no;
    if (one->own == watching::later) need_pause();
}

void leases::parents_made(outcome result, int code) {
    making_parents_ = false;
    if (result == outcome::done) return go();
    if (at_ != stage::acquiring) return;
    if (result == outcome::later) return need_pause();
    if (result == outcome::refused || result == outcome::rarely)
        fail(lease_act::why::refused, code);
}

void leases::directory_changed() {
    if (at_ != stage::acquiring) return;
    seen_ = false;
    if (connected_) need_listing();
}

void leases::counter_changed() {
    if (at_ != stage::acquiring) return;
    permits_known_ = false;
    if (connected_) need_permits();
}

void leases::own_changed(node_id id, bool deleted) {
    auto* const one = find(id);
    if (at_ != stage::held || !one) return;
    if (deleted) return lose();
    one->own = watching::no; // an event ends the watch
    if (connected_) watch_own(*one);
}

/// The other leases stay until they are given back: the application's code may still be at work.
void leases::lose() {
    at_ = stage::lost;
    actions_.push_back(lease_act::lose{false});
}

} // namespace paddock::rules
