#include "rules/lease_clock.hpp"

#include "support/invariant.hpp"

#include <algorithm>

namespace paddock::rules {

namespace {

using namespace std::chrono_literals;

/// However long the timeout is. A trade: less costs idle clients more reads, more lets a call wait
/// for longer at a dead server (about a minute, with the beat before).
constexpr boot_clock::duration longest_silence = 30s;

/// Slightly more than half of the usual gap, 6/20: see lease_timing_of().
boot_clock::duration usual_beat(boot_clock::duration timeout) noexcept { return timeout * 4 / 25; }

/// For a reconnect that succeeds at once: 0.4 s of 10. A trade against the time for lost answers.
boot_clock::duration time_to_reconnect(boot_clock::duration timeout) noexcept {
    return timeout / 25;
}

boot_clock::duration gap_of(boot_clock::duration timeout, const lease_settings& settings) noexcept {
    // Servers usually give no session less than two ticks: half a tick is at most a quarter. What
    // is added is for a leader or a network that is late.
    const auto report_delay = settings.by_sync ? sync_gap(settings.tick) : settings.tick;
    return std::max(timeout / 4, report_delay) + timeout / 20;
}

} // namespace

boot_clock::duration longest_renewal(boot_clock::duration timeout,
                                     const lease_settings& settings) noexcept {
    const auto beat = usual_beat(timeout);
    const auto left =
        timeout - gap_of(timeout, settings) - beat - settings.margin - time_to_reconnect(timeout);
    return std::max(std::min(left / 2, timeout / 4), beat);
}

lease_timing lease_timing_of(boot_clock::duration timeout,
                             const lease_settings& settings) noexcept {
    lease_timing t;
    t.timeout = timeout;
    t.gap = gap_of(timeout, settings);
    // Two beats are slightly longer than the usual gap, which leaves time for the answer. So each
    // proof counts from the last heartbeat but one, and more than half of the timeout remains.
    const auto beat = usual_beat(timeout);
    const auto renew = settings.renew > settings.renew.zero()
                           ? std::min(settings.renew, longest_renewal(timeout, settings))
                           : beat;
    const auto longest_beat = std::min(beat, longest_silence);
    t.beats_of_proof = static_cast<int>((renew + longest_beat - 1ns) / longest_beat);
    t.beat = renew / t.beats_of_proof;
    // Half of the time after which the C client gives a silent server up, 2/3 of the timeout.
    t.patience = std::min(timeout / 3, longest_silence);
    // Rare proofs leave less time to find a silent server: a proof counts from the newest touch
    // that is older than the gap, the patience grows at random, and then comes the reconnect.
    // Less than a tenth would take a server that is only slow for a silent one.
    const auto age = t.beat * (t.gap / t.beat + 1);
    const auto left = timeout - age - renew - settings.margin - time_to_reconnect(timeout);
    if (settings.renew > settings.renew.zero())
        t.patience =
            std::clamp(left * part_of_patience_at_random / (part_of_patience_at_random + 1),
                       std::min(timeout / 10, t.patience), t.patience);
    // Limits margin and least to what a healthy lease has left; more would prevent every grant. A
    // fiftieth of the timeout stays where a long tick leaves nothing.
    const auto most = std::max(timeout - t.gap - 2 * beat, timeout / 50);
    t.margin = std::min(settings.margin, most / 2);
    const auto least = settings.least > settings.least.zero() ? settings.least : timeout / 4;
    t.least = std::min(least, most - t.margin);
    return t;
}

void lease_clock::connected(boot_clock::time_point handshake) {
    renewed_ = std::max(renewed_, handshake);
}

void lease_clock::touched(boot_clock::time_point sent, boot_clock::time_point answered) {
    const auto apart =
        timing_.timeout / 100; // at most 100 are kept; a lease may end earlier by that
    if (!touches_.empty() && answered - touches_.back().answered < apart) return;
    while (!touches_.empty() && answered - touches_.front().answered > timing_.timeout)
        touches_.pop_front();
    touches_.push_back({sent, answered});
}

boot_clock::time_point lease_clock::proved(boot_clock::time_point sent) {
    const auto before = renewed_;
    auto newest = renewed_;
    const auto by_then = sent - timing_.gap;
    while (!touches_.empty() && touches_.front().answered <= by_then) {
        newest = std::max(newest, touches_.front().sent);
        renewed_ = newest;
        touches_.pop_front();
    }
    detail::invariant("a lease never grows backwards, nor beyond what its proof can say",
                      [&] { return newest >= before && newest <= sent; });
    return newest + timing_.timeout;
}

} // namespace paddock::rules
