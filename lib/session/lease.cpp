#include "session/lease.hpp"

#include "rules/outcome.hpp"
#include "support/log.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {

rules::lease_settings settings_of(const lease_options& o) {
    return {.tick = o.tick_time,
            .margin = o.margin,
            .least = o.min_validity,
            .renew = o.renew_every,
            .by_sync = o.proof == lease_proof::sync};
}

} // namespace

lease::lease(lease_parts parts, const lease_options& options)
    : parts_(std::move(parts))
    , settings_(settings_of(options))
    , term_(std::make_shared<lease_term>(parts_.clock, boot_clock::time_point{})) {}

boot_clock::time_point lease::given_up_at() const noexcept {
    return clock_ ? until_ - clock_->timing().margin : until_;
}

/// A lease that is renewed always has more left.
boot_clock::time_point lease::healthy_until() const noexcept {
    return clock_ ? until_ - clock_->timing().timeout / rules::late_part : until_;
}

/// The margin is shorter: what is late may recover. After a pause the first proofs leave less than
/// later ones, because an idle client asks more rarely; those that come in time are not late.
boot_clock::time_point lease::late_at() const noexcept {
    if (!clock_) return until_;
    const auto renewal = clock_->timing().beat * clock_->timing().beats_of_proof;
    return std::max(healthy_until(), std::max(proof_answered_, used_since_) + renewal * 5 / 4);
}

bool lease::fit(boot_clock::time_point now) const noexcept {
    if (lapsed_) return false;
    const auto& timing = clock_->timing();
    return now + timing.least <= given_up_at() && now < term_->until();
}

void lease::when_fit(unique_function<void()> tell) {
    if (waiting_.empty()) waiting_since_ = parts_.env.now();
    waiting_.push_back(std::move(tell));
    if (waiting_.size() == 1 && beat_) prove(true);
}

void lease::keep(lease_user& user) {
    if (users_.empty()) {
        used_since_ = parts_.env.now();
        beats_ = 0; // the next one has a proof
    }
    users_.push_back(user);
    watch_end();
}

void lease::on_connected(bool new_session, boot_clock::time_point handshake,
                         boot_clock::duration timeout) {
    const bool shorter = !new_session && timeout < clock_->timing().timeout;
    if (shorter) { // a server with other limits: the session may end before the present term
        term_->end();
        until_ = parts_.env.now();
        lapse();
    }
    if (new_session || shorter) clock_.emplace(rules::lease_timing_of(timeout, settings_));
    clock_->connected(handshake);
    // A quorum creates a session; a reconnect needs only one server that knows it.
    if (new_session) begin_term(handshake + timeout);
    last_touch_ = handshake;
    answered_at_.store(parts_.env.now().time_since_epoch().count(), std::memory_order_relaxed);
    beat_ = parts_.env.make_timer();
    patience_ = parts_.env.make_timer();
    reading_ = false;
    beats_ = 0;
    beat_due_ = parts_.env.now(); // the time without a connection was no stall
    beat();
}

boot_clock::duration lease::remaining() const {
    std::unique_lock lock(term_mutex_);
    const auto term = term_;
    lock.unlock();
    return std::max(term->until() - parts_.clock(), boot_clock::duration(0));
}

void lease::on_suspended() {
    note_stall();
    beat_.reset();
    patience_.reset();
}

void lease::end() {
    on_suspended();
    end_.reset();
    clock_.reset();
    lapsed_ = true;
    term_->end();
    waiting_.clear();
    slow_.store(false, std::memory_order_relaxed);
}

void lease::on_answer(const observed_answer& seen) {
    if (!clock_ || !rules::agreed(seen.code)) return;
    const auto now = seen.answered;
    answered_at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    clock_->touched(seen.sent, now);
    last_touch_ = std::max(last_touch_, seen.sent);
    const bool by_quorum = seen.by == answered_by::quorum;
    if (!by_quorum && !(seen.by == answered_by::leader && settings_.by_sync)) return;
    proof_answered_ = now;
    proof_took_ = now - seen.sent;
    proved(seen.sent, by_quorum);
}

/// A lapsed term stays lapsed: a later proof begins another term, for later grants. That proof must
/// be a write that was sent after the lapse.
void lease::proved(boot_clock::time_point sent, bool by_quorum) {
    const auto until = clock_->proved(sent);
    const auto now = parts_.env.now();
    left_before_proof_ = until_ - now;
    if (!lapsed_ && now < given_up_at() && term_->extend(until))
        until_ = std::max(until_, until);
    else if (!lapsed_)
        lapse();
    if (lapsed_ && by_quorum && sent >= given_up_at() && until > now) begin_term(until);
    end_outage();
    if (!waiting_.empty() && fit()) call_waiting();
}

void lease::begin_term(boot_clock::time_point until) {
    {
        const std::lock_guard lock(term_mutex_);
        term_ = std::make_shared<lease_term>(parts_.clock, until);
    }
    until_ = until;
    lapsed_ = false;
    watch_end();
    end_outage();
}

/// The term stays alive until its end, but proofs no longer extend it.
void lease::lapse() {
    lapsed_ = true;
    note_stall();
    if (!users_.empty()) tell_late();
    while (!users_.empty()) {
        auto& user = users_.front();
        users_.pop_front();
        user.on_lapse();
    }
}

void lease::explain_lapse() {
    tell_late();
    if (!clock_) return;
    note_stall();
    const auto& timing = clock_->timing();
    const bool recent = parts_.env.now() - stall_seen_ < timing.beat;
    // A lease that is renewed in time has more than that left.
    if (recent && stall_ >= timing.timeout / rules::late_part) parts_.losses.stalled(stall_);
}

/// The timer only calls the users: alive() is false from the end on, also before the timer fires.
/// An extension does not arm the timer again.
void lease::watch_end() {
    if (end_ || users_.empty()) return;
    end_ = parts_.env.make_timer();
    end_due_ = late_told_ ? given_up_at() : std::min(late_at(), given_up_at());
    end_->arm(end_due_, [this] {
        note_stall();
        const auto fired = std::exchange(end_, {});
        const auto now = parts_.env.now();
        if (lapsed_ || now >= given_up_at()) return lapse();
        if (now >= late_at() && !users_.empty()) tell_late();
        watch_end();
    });
}

void lease::tell_late() {
    if (std::exchange(late_told_, true)) return;
    const auto left = until_ - parts_.env.now();
    parts_.observers.lease_late(nullptr, {}, std::max(left, left.zero()));
}

/// If the lease is healthy again: the next outage has its own warning.
void lease::end_outage() {
    if (parts_.env.now() >= healthy_until() || !std::exchange(late_told_, false)) return;
    end_.reset();
    watch_end();
}

void lease::tell_renewed() {
    if (!users_.empty()) parts_.observers.lease_renewed(nullptr, {}, left_before_proof_);
}

void lease::call_waiting() {
    slow_.store(false, std::memory_order_relaxed);
    for (auto& tell : std::exchange(waiting_, {}))
        tell();
}

/// While the lease has users, or calls wait for it, proofs renew it. A read goes before each: it is
/// answered whether there is a quorum or not, and so tells a silent server from a slow leader; a
/// read behind an unanswered proof tells nothing. Without users any answered request is enough.
void lease::beat() {
    const auto now = parts_.env.now();
    const auto& timing = clock_->timing();
    note_stall();
    beat_due_ = now + timing.beat;
    beat_->arm(beat_due_, [this] { beat(); });
    const bool needed = !users_.empty() || !waiting_.empty();
    const bool proves = needed && (beats_++ % timing.beats_of_proof == 0 || !waiting_.empty());
    if (needed || now - last_touch_ >= timing.beat) read();
    if (proves) prove(lapsed_ || !settings_.by_sync);
    if (waiting_.empty() || now - waiting_since_ < clock_->timing().timeout) return;
    waiting_since_ = now;
    slow_.store(true, std::memory_order_relaxed);
    parts_.log.write(log_code::slow_ensemble, why_not_fit(now), now);
}

std::string lease::why_not_fit(boot_clock::time_point now) const {
    const auto& timing = clock_->timing();
    const std::string no_lock =
        "no lock can be granted under the session timeout of " + in_words(timing.timeout) + ": ";
    const std::string proof = settings_.by_sync ? "sync" : "write";
    if (now - proof_answered_ >= timing.timeout)
        return no_lock + "the server has answered no " + proof +
               " for longer than that. Does the ensemble have a quorum and a leader, and is this "
               "server connected to it?";
    // A proof counts from a touch that is up to a beat older than the gap wants it.
    const auto most = timing.timeout - timing.gap - timing.beat - timing.margin - timing.least;
    return no_lock + "the last " + proof + " took " + in_words(proof_took_) +
           ", and should take at most " + in_words(std::max(most, most.zero())) +
           ". Raise session_timeout, or look after the ensemble's load and the network";
}

void lease::read() {
    if (std::exchange(reading_, true)) return;
    read_at_ = parts_.env.now();
    const bool first = parts_.dispatcher.only_reads();
    parts_.dispatcher.submit(lane::urgent, requests::exists{native::known_node},
                             [this, number = ++reads_](const native::reply& r) {
                                 if (number != reads_) return;
                                 reading_ = false;
                                 if (patience_) patience_->cancel();
                                 if (rules::agreed(r.rc) && std::exchange(silent_, false))
                                     parts_.on_answer();
                             });
    if (!first) return; // the read waits behind a write, so it only shows that the leader is slow
    const auto& timing = clock_->timing();
    const auto jitter = boot_clock::duration(
        parts_.env.random() % (timing.patience.count() / rules::part_of_patience_at_random));
    patience_->arm(parts_.env.now() + timing.patience + jitter, [this] { lose_patience(); });
}

/// Another server may be faster. At most once in three times the patience: when all servers are
/// slow, the client must not keep reconnecting.
void lease::lose_patience() {
    const auto now = parts_.env.now();
    if (dropped_at_ && now - *dropped_at_ < 3 * clock_->timing().patience) return;
    dropped_at_ = now;
    silent_ = true;
    parts_.on_silence(read_at_);
}

/// A timer that fires late tells that the event loop stood still. Whatever the loop does first
/// then, the holds that it has cost must know.
void lease::note_stall() {
    if (!clock_) return;
    const auto now = parts_.env.now();
    boot_clock::duration late{};
    if (beat_) late = std::max(late, now - beat_due_);
    if (end_) late = std::max(late, now - end_due_);
    if (now - stall_seen_ >= clock_->timing().beat) stall_ = {};
    if (late <= stall_) return; // the timers that fire next are late by less
    stall_ = late;
    stall_seen_ = now;
    parts_.observers.loop_delay(late);
}

void lease::prove(bool by_quorum) {
    request proof = requests::sync{native::known_node};
    if (by_quorum) proof = requests::multi{{op::check{native::known_node, any_version}}};
    parts_.dispatcher.submit(lane::urgent, std::move(proof), [this](const native::reply& r) {
        if (rules::agreed(r.rc)) tell_renewed();
    });
}

} // namespace paddock::detail
