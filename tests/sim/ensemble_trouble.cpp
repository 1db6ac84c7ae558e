// Leaders and followers, and the faults between them.
#include "sim/ensemble.hpp"
#include "sim/leader.hpp"

#include <algorithm>

namespace paddock::test::sim {

bool ensemble::reachable(int number) const {
    const auto n = static_cast<std::size_t>(number);
    return cut_until_[n] <= time_.now() && accepts(number);
}

void ensemble::pulse() {
    for (const auto& one : servers_)
        one->pulse();
    consider_election();
    time_.after(options_.tick / 2, [this] { pulse(); });
}

/// The newest leader that is followed.
server* ensemble::established() const {
    server* best = nullptr;
    for (const auto& one : servers_) {
        auto* const leads = one->leading();
        if (!leads || !reachable(one->id) || !leads->is_followed()) continue;
        if (!best || leads->epoch() > best->leading()->epoch()) best = one.get();
    }
    return best;
}

void ensemble::join(int one, int other) {
    between(one, other).open = between(other, one).open = true;
}

void ensemble::part(int one, int other) {
    for (auto* const l : {&between(one, other), &between(other, one)}) {
        l->way.lose();
        l->open = false;
    }
}

/// The connection between two servers breaks: messages under way in it are lost.
void ensemble::disconnect(int one, int other) {
    part(one, other);
    if (!reachable(one) || !reachable(other)) return; // they do not notice
    for (const auto& [a, b] : {std::pair(one, other), std::pair(other, one)}) {
        if (at(a).is() == server::role::following && at(a).follows() == b) lose_leader(a);
        if (auto* const leads = at(a).leading()) leads->dismiss(b);
    }
}

void ensemble::lose_leader(int number) {
    const int before = at(number).follows();
    at(number).look_for_leader();
    if (before >= 0) disconnect(number, before);
}

void ensemble::stop_following(int number) {
    for (const auto& one : servers_)
        if (one->is() == server::role::following && one->follows() == number) lose_leader(one->id);
}

void ensemble::step_down(int number) {
    time_.note([&] { return "server " + std::to_string(number) + " has no majority any more"; });
    time_.after(duration(0), [this, number] {
        if (at(number).is() != server::role::leading) return;
        at(number).look_for_leader();
        if (reachable(number)) stop_following(number);
    });
}

/// Cuts a server off from all servers. At once: they see their connections reset; else all messages
/// are held, until a timeout. Clients are not cut off.
void ensemble::cut_off(int number, duration how_long, bool at_once) {
    time_.note([&] {
        return "server " + std::to_string(number) + " is cut off" +
               (at_once ? ", and all servers know it" : "");
    });
    auto& end = cut_until_[static_cast<std::size_t>(number)];
    end = std::max(end, time_.now() + how_long);
    for (int other = 0; other < size(); ++other) {
        if (other == number) continue;
        between(number, other).way.hold_until(end);
        between(other, number).way.hold_until(end);
        if (!at_once) continue;
        part(number, other);
        if (at(other).is() == server::role::following && at(other).follows() == number)
            at(other).look_for_leader();
        if (auto* const leads = at(other).leading()) leads->dismiss(number);
    }
}

void ensemble::restart(int number, duration down) {
    time_.note([&] { return "server " + std::to_string(number) + " is restarted"; });
    auto& until = down_until_[static_cast<std::size_t>(number)];
    const bool led = at(number).is() == server::role::leading;
    const int followed = at(number).is() == server::role::following ? at(number).follows() : -1;
    at(number).look_for_leader();
    if (led) stop_following(number);
    if (followed >= 0) disconnect(number, followed);
    until = std::max(until, time_.now() + down);
}

void ensemble::stall_requests(int number, duration how_long) {
    time_.note([&] { return "requests wait in server " + std::to_string(number); });
    at(number).stall_requests(time_.now() + how_long);
}

void ensemble::lose_data(duration down) {
    time_.note([] { return std::string("all servers lose their data"); });
    for (int n = 0; n < size(); ++n)
        restart(n, down);
    for (const auto& [ends, one] : links_)
        one->way.lose(); // to itself, too
    for (const auto& one : servers_)
        one->lose_data();
    replaced_until_ = time_.now() + down;
    epoch_ = 0;
    truth_ = tree();
    history_.clear();
    ends_.clear();
    successors_.clear();
    youngest_.clear();
}

void ensemble::heal() {
    options_.slow_one_in = options_.broken_one_in = 0;
    for (const auto& one : servers_)
        one->stall_requests(time_.now());
    for (const auto& [ends, one] : links_)
        one->way.hold_until(time_.now());
    for (auto* const each : {&cut_until_, &down_until_})
        for (auto& until : *each)
            until = std::min(until, time_.now());
}

/// A server that looks for a leader finds the present one, or elects a new one with a majority.
void ensemble::consider_election() {
    const auto looking = std::count_if(servers_.begin(), servers_.end(), [&](const auto& one) {
        return one->is() == server::role::looking && reachable(one->id);
    });
    if (looking == 0 || election_under_way_ || (!established() && looking < majority())) return;
    election_under_way_ = true;
    const auto delay = chance_.between(options_.tick / 40, options_.tick);
    time_.after(delay, [this] {
        election_under_way_ = false;
        elect();
    });
}

void ensemble::elect() {
    std::vector<server*> looking;
    for (const auto& one : servers_)
        if (one->is() == server::role::looking && reachable(one->id)) looking.push_back(one.get());
    if (auto* const leads = established()) {
        for (auto* const one : looking)
            one->follow(*leads);
        return;
    }
    if (static_cast<int>(looking.size()) < majority()) return;
    auto* const leads =
        *std::max_element(looking.begin(), looking.end(), [](auto* one, auto* other) {
            return one->credentials() < other->credentials();
        });
    time_.note([&] {
        return "server " + std::to_string(leads->id) + " leads, with " +
               std::to_string(leads->log().size()) + " transactions";
    });
    std::erase(looking, leads);
    leads->lead(++epoch_, looking);
}

} // namespace paddock::test::sim
