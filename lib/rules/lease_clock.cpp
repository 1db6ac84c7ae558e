#include "rules/lease_clock.hpp"

#include <algorithm>

namespace paddock::rules {

lease_timing lease_timing_of(boot_clock::duration timeout,
                             const lease_settings& settings) noexcept {
    lease_timing t;
    t.timeout = timeout;
    // A leader that is cut off from its followers answers syncs for longer than a tick.
    const auto report_delay = settings.by_sync ? settings.tick * 3 / 2 : settings.tick;
    t.gap = std::max(timeout / 4, report_delay) + timeout / 20;
    // Two beats are slightly longer than the usual gap, which leaves time for the answer. So each
    // proof counts from the last heartbeat but one, and more than half of the timeout remains.
    t.beat = timeout * 4 / 25;
    t.patience = timeout / 3;
    // Limits margin and least to what a healthy lease has left; more would prevent every grant.
    const auto most = std::max(timeout - t.gap - 2 * t.beat, timeout / 50);
    t.margin = std::min(settings.margin, most / 2);
    const auto least = settings.least > settings.least.zero() ? settings.least : timeout / 4;
    t.least = std::min(least, most - t.margin);
    return t;
}

void lease_clock::connected(boot_clock::time_point handshake) {
    renewed_ = std::max(renewed_, handshake);
}

void lease_clock::touched(boot_clock::time_point sent, boot_clock::time_point answered) {
    const auto apart = timing_.timeout / 100;
    if (!touches_.empty() && answered - touches_.back().answered < apart) return;
    while (!touches_.empty() && answered - touches_.front().answered > timing_.timeout)
        touches_.pop_front();
    touches_.push_back({sent, answered});
}

boot_clock::time_point lease_clock::proved(boot_clock::time_point sent) {
    auto newest = renewed_;
    const auto by_then = sent - timing_.gap;
    while (!touches_.empty() && touches_.front().answered <= by_then) {
        newest = std::max(newest, touches_.front().sent);
        renewed_ = newest;
        touches_.pop_front();
    }
    return newest + timing_.timeout;
}

} // namespace paddock::rules
