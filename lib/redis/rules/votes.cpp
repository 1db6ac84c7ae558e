#include "redis/rules/votes.hpp"

#include <algorithm>

namespace paddock::redis::rules {

lock_timing::lock_timing(boot_clock::duration time_to_live) noexcept
    : ttl(time_to_live), margin(ttl / 10), renewal(ttl / 3), retry(ttl / 30) {}

votes::votes(int servers, const lock_timing& timing)
    : timing_(timing), all_(static_cast<std::size_t>(servers)) {}

void votes::confirmed(int server, time_point sent) {
    auto& one = of(server);
    one.until = std::max(one.until, sent + timing_.ttl - timing_.margin);
    one.confirmed = std::max(one.confirmed, sent);
    one.due = sent + timing_.renewal;
    one.denied = false;
}

void votes::answered(int server, const answer& said, time_point sent, time_point now) {
    auto& one = of(server);
    const bool of_age = said.left.count() == 0;
    // What a server that may have lost data says about a key proves nothing, unless its vote
    // still lasts: it cannot have forgotten another client's key then. The request may have been
    // executed long after it was sent.
    const bool lasts = now < one.until;
    switch (said.what) {
    case answer::kind::granted:
        confirmed(server, sent);
        one.due = now; // its counter stands at another token
        return;
    case answer::kind::renewed:
        if (of_age || lasts) confirmed(server, sent);
        return;
    case answer::kind::set:
        if (of_age) confirmed(server, sent);
        return;
    case answer::kind::taken: // asked again: the other key may go
        one.denied = true;
        one.due = now + timing_.renewal;
        return;
    default:
        return;
    }
}

votes::time_point votes::valid_until() const {
    std::vector<time_point> ends;
    for (const auto& one : all_)
        ends.push_back(one.until);
    const auto last_needed = ends.begin() + (quorum() - 1);
    std::nth_element(ends.begin(), last_needed, ends.end(), std::greater<>());
    return *last_needed;
}

bool votes::impossible() const noexcept {
    const auto left =
        std::count_if(all_.begin(), all_.end(), [](const vote& one) { return !one.denied; });
    return left < quorum();
}

bool votes::confirmed_since(time_point then) const noexcept {
    const auto since = std::count_if(all_.begin(), all_.end(),
                                     [&](const vote& one) { return one.confirmed >= then; });
    return since >= quorum();
}

void votes::renewing(int server, time_point now) { of(server).due = now + timing_.retry; }

votes::time_point votes::renewal_due(int server) const {
    return all_.at(static_cast<std::size_t>(server)).due;
}

} // namespace paddock::redis::rules
