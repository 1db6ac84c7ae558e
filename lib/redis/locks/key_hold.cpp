#include "redis/locks/key_hold.hpp"

#include "client/pending_call.hpp"
#include "redis/locks/lock_line.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace paddock::redis::detail {

key_holder::key_holder(std::shared_ptr<core> client, std::shared_ptr<lock_line> line,
                       rules::lock_keys keys, std::string value, const rules::votes& votes,
                       const fencing_token& token, std::optional<owner> by)
    : core_(std::move(client))
    , line_(std::move(line))
    , keys_(std::move(keys))
    , value_(std::move(value))
    , token_(token)
    , votes_(votes)
    , asked_(static_cast<std::size_t>(core_->size()))
    , term_(std::make_shared<lease_term>(core_->clock(), votes.valid_until()))
    , by_(by)
    , last_sent_(core_->now())
    , due_(last_sent_) {}

key_holder::key_holder(const key_holder& released, std::optional<owner> by)
    : key_holder(released.core_, released.line_, released.keys_, released.value_, released.votes_,
                 {released.token_.zxid, released.token_.sub + 1}, by) {
    last_sent_ = released.last_sent_;
    late_told_ = released.late_told_;
}

std::shared_ptr<key_hold> key_holder::add_hold(const hold_limit& limit,
                                               const std::shared_ptr<const counted_lock>& counted) {
    std::erase_if(holds_, [](const auto& one) { return one.expired(); });
    auto one = std::make_shared<key_hold>(core_, shared_from_this(), counted, keys_.name, token_);
    one->limit(limit, core_->now()); // the first hold may have begun long ago
    holds_.push_back(one);
    ++guards_;
    if (!counted_) counted_ = counted;
    if (!timer_) {
        timer_ = core_->make_timer();
        tick();
    }
    return one;
}

bool key_holder::has_lost_guards() const noexcept {
    return guards_ > 0 && std::any_of(holds_.begin(), holds_.end(), [](const auto& one) {
               const auto hold = one.lock();
               return hold && hold->ended();
           });
}

void key_holder::end_holds(error_code why) {
    const auto all = holds_; // releases change it
    for (const auto& one : all)
        if (const auto hold = one.lock()) hold->end(why);
}

/// A healthy lease always has more left: it is renewed from a third of the time to live on.
boot_clock::time_point key_holder::late_at() const {
    return term_->until() - core_->timing().ttl / 3;
}

void key_holder::tell_late() {
    if (std::exchange(late_told_, true)) return;
    const auto left = std::max(term_->last_until() - core_->now(), time_point::duration::zero());
    core_->observers().lease_late(counted_.get(), keys_.name, left);
}

void key_holder::tick() {
    if (released_ || lost_) return;
    if (!term_->alive()) return lose(errc::lease_lapsed);
    if (late_at() <= core_->now()) tell_late();
    auto next = late_told_ ? term_->until() : late_at();
    for (int server = 0; server < core_->size(); ++server) {
        const auto n = static_cast<std::size_t>(server);
        if (!asked_[n] && votes_.renewal_due(server) <= core_->now()) renew(server);
        if (!asked_[n]) next = std::min(next, votes_.renewal_due(server));
    }
    due_ = next;
    delay_told_ = false;
    timer_->arm(next, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->note_delay();
        self->tick();
    });
}

void key_holder::renew(int server) {
    last_sent_ = core_->now();
    votes_.renewing(server, last_sent_);
    asked_[static_cast<std::size_t>(server)] = true;
    const auto ttl = std::chrono::floor<std::chrono::milliseconds>(core_->timing().ttl);
    core_->call(
        server, rules::script::renew,
        rules::renew_words(keys_, value_, ttl, core_->deployment(server), token_.zxid),
        [weak = weak_from_this()] {
            const auto self = weak.lock();
            return self && !self->released_;
        },
        [weak = weak_from_this(), server](const auto& said, auto sent) {
            const auto self = weak.lock();
            if (!self) return;
            self->asked_[static_cast<std::size_t>(server)] = false;
            if (said) return self->on_answer(server, *said, sent);
            self->tick();
        });
}

void key_holder::on_answer(int server, const rules::answer& said, time_point sent) {
    if (released_ || lost_) return;
    votes_.answered(server, said, sent, core_->now());
    if (votes_.impossible()) return lose(errc::node_deleted);
    const auto before = term_->until();
    if (!term_->extend(votes_.valid_until())) return lose(errc::lease_lapsed);
    if (term_->until() > before)
        core_->observers().lease_renewed(counted_.get(), keys_.name, before - core_->now());
    if (core_->now() < late_at()) late_told_ = false;
    tell_verified();
    tick();
}

void key_holder::lose(error_code why) {
    lost_ = true;
    timer_.reset();
    if (why == errc::lease_lapsed) tell_late();
    end_holds(why);
    term_->end();
    line_->hold_ended(*this);
}

/// How late the timer is; told once, by whoever runs first.
boot_clock::duration key_holder::note_delay() {
    const auto late = std::max(core_->now() - due_, time_point::duration::zero());
    if (late > late.zero() && !std::exchange(delay_told_, true))
        core_->observers().loop_delay(late);
    return late;
}

void key_holder::explain_lapse() {
    tell_late();
    const auto late = note_delay();
    // A hold that is renewed in time has more than that left.
    if (late >= core_->timing().ttl / 3) core_->losses().stalled(late);
}

void key_holder::release() {
    if (--guards_ == 0) release_unused();
}

void key_holder::release_unused() {
    released_ = true;
    timer_.reset();
    term_->end();
    if (line_->pass_on(*this)) return deleted({});
    line_->release_begins(*this);
    std::vector<int> all(static_cast<std::size_t>(core_->size()));
    std::iota(all.begin(), all.end(), 0);
    const auto& timing = core_->timing();
    core_->releases().start(
        {keys_, value_, std::move(all), true, last_sent_ + timing.ttl + timing.margin},
        [self = shared_from_this()](error_code why, auto listeners) {
            self->line_->release_ended(listeners);
            self->deleted(why);
        });
    line_->hold_ended(*this);
}

void key_holder::close(error_code why) {
    end_holds(why);
    const auto all = holds_;
    for (const auto& one : all)
        if (const auto hold = one.lock()) hold->release();
}

void key_holder::when_deleted(unique_function<void(error_code)> deleted) {
    if (!released_) return deleted({}); // the keys stay for the owner's other guards
    if (deleted_) return deleted(*deleted_);
    deleted_callbacks_.push_back(std::move(deleted));
}

void key_holder::deleted(error_code why) {
    deleted_ = why;
    for (auto& one : std::exchange(deleted_callbacks_, {}))
        one(why);
}

void key_holder::verify(const key_hold& by, client_call_ptr<> call) {
    std::erase_if(verifications_, [](const auto& one) { return !one.call->open(); });
    verifications_.push_back({&by, core_->now(), std::move(call)});
    for (int server = 0; server < core_->size(); ++server)
        renew(server);
}

void key_holder::tell_verified() {
    std::erase_if(verifications_, [this](const auto& one) {
        if (!votes_.confirmed_since(one.since)) return false;
        one.call->complete({});
        return true;
    });
}

void key_holder::end_verifications(const key_hold& by, error_code why) {
    std::erase_if(verifications_, [&](const auto& one) {
        if (one.by != &by) return false;
        one.call->fail(why);
        return true;
    });
}

key_hold::key_hold(std::shared_ptr<core> client, std::shared_ptr<key_holder> keys,
                   std::shared_ptr<const counted_lock> counted, std::string name,
                   const fencing_token& token)
    : hold(std::move(client), keys->term(), keys, std::move(counted), token)
    , name_(std::move(name))
    , keys_(std::move(keys)) {}

void key_hold::start_verify(handler<void(error_code)> h) {
    const auto call = make_pending_call(client(), std::move(h));
    call->start_open([self = shared_from_this(), this, call] {
        if (!valid()) return call->fail(errc::lock_lost);
        keys_->verify(*this, call);
    });
}

void key_hold::on_end() {
    if (reason() == errc::lease_lapsed) keys_->explain_lapse();
    keys_->end_verifications(*this, reason() == errc::closed ? errc::closed : errc::lock_lost);
}

void key_hold::start_transaction(handler<void(error_code, std::vector<operation_result>)> h,
                                 std::vector<operation>) {
    make_pending_call(client(), std::move(h))->fail(errc::not_supported);
}

} // namespace paddock::redis::detail
