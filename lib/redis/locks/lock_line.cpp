#include "redis/locks/lock_line.hpp"

#include "redis/locks/core.hpp"
#include "redis/locks/error_of.hpp"
#include "redis/locks/key_hold.hpp"
#include "redis/locks/line_call.hpp"
#include "support/argument.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

namespace paddock::redis::detail {

namespace {

/// 128 random bits, as text.
std::string random_text(environment& env) {
    std::array<char, 33> text{};
    std::snprintf(text.data(), text.size(), "%016llx%016llx",
                  static_cast<unsigned long long>(env.random()),
                  static_cast<unsigned long long>(env.random()));
    return text.data();
}

} // namespace

lock_line::lock_line(core& client, const std::string& name)
    : core_(client)
    , keys_(name)
    , rules_(client.timing().ttl, client.size(), [&client] { return client.env().random(); }) {}

rules::line& lock_line::updated_rules() {
    const auto own = holder_.lock();
    rules_.present({.now = core_.now(),
                    .round_trip = core_.round_trip(),
                    .calls = calls_.size(),
                    .immediate = !calls_.empty() && calls_.begin()->second->immediate(),
                    .held = own && own->holds(),
                    .has_guards = !lost_.empty(),
                    .connected = core_.connected()});
    return rules_;
}

template <typename Event, typename... Args>
void lock_line::report(Event event, const Args&... args) {
    (updated_rules().*event)(args...);
    for (const auto& one : rules_.take())
        carry_out(one);
}

void lock_line::carry_out(const action& what) {
    using kind = action::kind;
    switch (what.what) {
    case kind::take_turn:
        return take_turn();
    case kind::leave_turns:
        return core_.attempts().stop_waiting(turn_);
    case kind::attempt:
        return start_attempt(what.one_first);
    case kind::hurry:
        return carry_out(attempt_->hurry());
    case kind::give_up:
        return carry_out(attempt_->give_up());
    case kind::turn_away:
        return turn_first_away();
    case kind::fail:
        return fail_calls(error_of(*rules_.latest_obstacle()));
    case kind::listen:
        return core_.listen(keys_);
    case kind::stop_listening:
        return core_.stop_listening(keys_);
    case kind::set_timer:
        return set_timer(what.until);
    case kind::stop_timer:
        if (timer_) timer_->cancel();
        return;
    case kind::forget:
        return core_.forget(*this, keys_.name);
    }
}

void lock_line::set_timer(time_point until) {
    if (!timer_) timer_ = core_.make_timer();
    timer_->arm(until, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->report(&rules::line::tick);
    });
}

void lock_line::join(std::shared_ptr<line_call> call) {
    const auto own = holder_.lock();
    const bool held = own && own->holds();
    if (call->by() && has_lost_guards(*call->by())) return call->fail(errc::lock_lost);
    if (call->by() && held_by(*call->by())) return call->granted(own);
    if (call->immediate() && (held || !calls_.empty())) return call->finish({}, guard());
    call->number = ++last_call_;
    calls_.emplace(call->number, std::move(call));
    report(&rules::line::joined);
}

bool lock_line::held_by(owner who) const {
    const auto own = holder_.lock();
    return own && own->holds() && own->by() == who;
}

bool lock_line::has_lost_guards(owner by) const {
    const auto lost_by_owner = [&](const std::weak_ptr<key_holder>& one) {
        const auto holder = one.lock();
        return holder && holder->by() == by && holder->has_lost_guards();
    };
    return lost_by_owner(holder_) || std::any_of(lost_.begin(), lost_.end(), lost_by_owner);
}

void lock_line::leave(const line_call& call) {
    if (calls_.erase(call.number) > 0 && calls_.empty()) report(&rules::line::deserted);
}

bool lock_line::may_be_taken() const {
    const auto own = holder_.lock();
    if (own && own->holds()) return true;
    const auto& obstacle = rules_.latest_obstacle();
    return obstacle ? *obstacle == rules::obstacle::taken : core_.connected();
}

void lock_line::take_turn() {
    if (core_.attempts().reserve(1)) return report(&rules::line::turn_got);
    turn_ = core_.attempts().wait(
        1, [self = shared_from_this()] { self->report(&rules::line::turn_got); });
}

void lock_line::start_attempt(bool one_first) {
    ++attempts_;
    const auto& timing = core_.timing();
    const auto about = calls_.empty() ? nullptr : calls_.begin()->second->about();
    value_ = rules::lock_value(std::chrono::floor<std::chrono::milliseconds>(timing.ttl),
                               random_text(core_.env()),
                               about ? about->at(core_.env().wall_clock()) : std::string());
    attempt_.emplace(core_.voters(), one_first, timing, core_.least_validity());
    carry_out(attempt_->start());
}

bool lock_line::attempting() const {
    return attempt_ && attempt_->now() == rules::attempt::state::pending;
}

void lock_line::carry_out(const rules::attempt::requests& what) {
    for (const auto server : what.acquire)
        send(server, rules::script::acquire);
    for (const auto server : what.renew)
        send(server, rules::script::renew);
    release(what);
    if (!attempting()) conclude();
}

void lock_line::send(int server, rules::script which) {
    const auto ttl = std::chrono::floor<std::chrono::milliseconds>(core_.timing().ttl);
    const auto all = core_.deployment(server);
    auto words = which == rules::script::acquire
                     ? rules::acquire_words(keys_, value_, ttl, all)
                     : rules::renew_words(keys_, value_, ttl, all, attempt_->token());
    const auto is_current = [weak = weak_from_this(), n = attempts_] {
        const auto self = weak.lock();
        return self && self->attempts_ == n && self->attempting();
    };
    core_.call(
        server, which, std::move(words), is_current,
        [weak = weak_from_this(), is_current, server, value = value_](const auto& said, auto sent) {
            const auto self = weak.lock();
            if (!self) return;
            if (is_current()) return self->on_answer(server, said, sent);
            // Granted without this answer, which is another vote.
            const auto holder = self->holder_.lock();
            if (said && holder && holder->value() == value) holder->on_answer(server, *said, sent);
        });
}

void lock_line::on_answer(int server, const std::optional<rules::answer>& said, time_point sent) {
    if (said && said->what == rules::answer::kind::taken && said->left.count() < 0)
        complain_about_endless_key();
    carry_out(said ? attempt_->answered(server, *said, sent, core_.now())
                   : attempt_->unreachable(server));
}

/// Of an attempt that has failed.
void lock_line::release(const rules::attempt::requests& last) {
    if (last.release.empty()) return;
    const auto& timing = core_.timing();
    released_ = value_;
    core_.releases().start(
        {keys_, value_, last.release, last.tells, core_.now() + timing.ttl + timing.margin}, {});
}

void lock_line::conclude() {
    core_.attempts().release(1);
    if (attempt_->now() == rules::attempt::state::granted) return grant();
    if (!calls_.empty()) complain_about_spoilt_keys();
    report(&rules::line::refused, *attempt_, core_.obstacle_in(attempt_->refusals()));
}

void lock_line::grant() {
    report(&rules::line::granted);
    const auto by = calls_.empty() ? std::nullopt : calls_.begin()->second->by();
    const auto holder =
        std::make_shared<key_holder>(core_.shared_from_this(), shared_from_this(), keys_, value_,
                                     attempt_->votes(), fencing_token{attempt_->token(), 0}, by);
    holder_ = holder;
    if (calls_.empty()) return holder->release_unused();
    give(holder);
}

void lock_line::give(const std::shared_ptr<key_holder>& holder) {
    const auto& by = holder->by();
    std::vector<std::shared_ptr<line_call>> granted{calls_.begin()->second};
    calls_.erase(calls_.begin());
    if (by) // the owner's other calls have the lock as well
        std::erase_if(calls_, [&](const auto& one) {
            const bool same = one.second->by() == by;
            if (same) granted.push_back(one.second);
            return same;
        });
    for (const auto& one : granted)
        one->granted(holder);
}

/// Redis does not say which key is of another type.
void lock_line::complain_about_spoilt_keys() const {
    const auto& all = attempt_->refusals();
    const auto is_spoilt = [](const auto& one) {
        return one && one->what == rules::answer::kind::spoilt;
    };
    if (std::any_of(all.begin(), all.end(), is_spoilt))
        core_.trouble(log_code::unsuitable_server,
                      "the lock " + keys_.name + " cannot be had: another program has written to " +
                          keys_.counter + ", or to paddock:server",
                      keys_.name);
}

/// A caller that waits may do so for ever.
void lock_line::complain_about_endless_key() {
    if (calls_.empty() || calls_.begin()->second->immediate()) return;
    if (std::exchange(endless_key_told_, true)) return;
    core_.trouble(log_code::foreign_key,
                  "another program has set the key " + keys_.name +
                      " without a time to live: the lock is taken until somebody deletes the key",
                  keys_.name);
}

void lock_line::turn_first_away() {
    const auto call = calls_.extract(calls_.begin()).mapped();
    call->finish(call->why_not_in_time(), guard());
}

void lock_line::fail_calls(error_code why) {
    for (const auto& [number, one] : std::exchange(calls_, {}))
        one->fail(why);
}

void lock_line::on_message(int server, const std::string& value) {
    if (value != released_) report(&rules::line::message, server);
}

void lock_line::on_subscribed(int server) { report(&rules::line::subscribed, server); }

void lock_line::on_unsubscribed(int server) { report(&rules::line::unsubscribed, server); }

void lock_line::on_reachable(int server) {
    if (attempting() && core_.voters()[static_cast<std::size_t>(server)])
        return carry_out(attempt_->reachable(server));
    on_refused();
}

void lock_line::on_refused() { report(&rules::line::servers_changed); }

bool lock_line::pass_on(const key_holder& released) {
    const bool lasts = released.valid_until() - core_.now() >= core_.least_validity();
    if (holder_.lock().get() != &released || !lasts || !updated_rules().pass_on()) return false;
    const auto next = std::make_shared<key_holder>(released, calls_.begin()->second->by());
    holder_ = next;
    give(next);
    return true;
}

void lock_line::hold_ended(const key_holder& of) {
    std::erase_if(lost_, [&](const auto& one) { return one.expired() || one.lock().get() == &of; });
    if (holder_.lock().get() != &of) return report(&rules::line::older_hold_ended);
    if (of.has_lost_guards()) lost_.push_back(holder_);
    holder_.reset();
    report(&rules::line::hold_ended);
}

void lock_line::release_begins(const key_holder& of) {
    rules_.release_begins();
    released_ = of.value();
}

void lock_line::release_ended(std::int64_t listeners) {
    // After the end nobody waits for those that listen.
    report(&rules::line::release_ended, core_.closed() ? 0 : listeners);
}

void lock_line::close(error_code why) {
    timer_.reset(); // a guard can keep the line alive after its execution context
    rules_.closed();
    fail_calls(why);
    if (attempting()) release(attempt_->give_up());
    auto holders = lost_; // their guards may stay, but not what a late renewal has set
    holders.push_back(holder_);
    for (const auto& one : holders)
        if (const auto own = one.lock()) own->close(why);
}

} // namespace paddock::redis::detail
