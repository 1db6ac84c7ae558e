#include "redis/locks/lock_line.hpp"

#include "redis/locks/core.hpp"
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

using namespace std::chrono_literals;

/// So many grants one client may have without a pause while calls of it wait: then it releases its
/// keys, and the clients that hear of it come first. The waiters in between need no request: fewer
/// cost more requests, more let other clients wait for longer.
constexpr int most_grants_in_a_row = 16;

/// For an answer to a call that does not wait for the lock: less than a second, but long enough for
/// a server that is only slow.
constexpr auto longest_immediate = 900ms;

/// A lock that is wanted again soon needs no new subscription, and remembers that others want it.
/// For longer, a client that uses many locks one after the other would keep more of them.
constexpr auto line_rest = 5s;

/// For the answer of the server that is asked before the others: far more than usual, because the
/// others then get requests in vain; but not much of the time to live.
constexpr int trips_of_first_server = 10;
constexpr auto time_of_first_server = 10ms; ///< besides: a processor may be busy
constexpr int part_of_ttl_for_first_server = 10;

/// For the message to another client, and its request.
constexpr int trips_of_rest = 2;

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
    , pace_(client.timing().ttl)
    , subscribed_(static_cast<std::size_t>(client.size())) {}

void lock_line::arm(boot_clock::duration time, void (lock_line::*what)()) {
    if (!timer_) timer_ = core_.make_timer();
    timer_->arm(core_.now() + time, [weak = weak_from_this(), what] {
        if (const auto self = weak.lock()) ((*self).*what)();
    });
}

void lock_line::join(std::shared_ptr<line_call> call) {
    const auto own = holder_.lock();
    const bool held = own && own->holds();
    if (call->by() && has_lost_guards(*call->by())) return call->fail(errc::lock_lost);
    if (held && call->by() && call->by() == own->by()) return call->granted(own);
    if (call->immediate() && (held || !calls_.empty())) return call->finish({}, guard());
    call->number = ++last_call_;
    calls_.emplace(call->number, std::move(call));
    if (stage_ == stage::yielding) listen(); // to know whether another client uses it
    proceed();
}

bool lock_line::has_lost_guards(owner by) const {
    const auto lost_by_owner = [&](const std::weak_ptr<key_holder>& one) {
        const auto holder = one.lock();
        return holder && holder->by() == by && holder->has_lost_guards();
    };
    return lost_by_owner(holder_) || std::any_of(lost_.begin(), lost_.end(), lost_by_owner);
}

void lock_line::leave(const line_call& call) {
    if (calls_.erase(call.number) == 0 || !calls_.empty()) return;
    if (stage_ == stage::attempting) return give_up();
    if (stage_ == stage::yielding) return; // to the end, or the next call would come first
    if (stage_ == stage::queued) core_.attempts().stop_waiting(turn_);
    if (timer_) timer_->cancel(); // rest_if_unused() may leave it as it is
    stage_ = stage::idle;
    rest_if_unused();
}

bool lock_line::may_be_taken() const {
    const auto own = holder_.lock();
    if (own && own->holds()) return true;
    return obstacle_ ? *obstacle_ == rules::obstacle::taken : core_.connected();
}

void lock_line::proceed() {
    if (calls_.empty()) return rest_if_unused();
    const auto own = holder_.lock();
    if (stage_ != stage::idle || (own && own->holds())) return;
    if (core_.attempts().reserve(1)) return attempt_now();
    stage_ = stage::queued;
    turn_ = core_.attempts().wait(1, [self = shared_from_this()] { self->attempt_now(); });
}

void lock_line::attempt_now() {
    const bool one_first = std::exchange(one_first_next_, false);
    stage_ = stage::attempting;
    ++attempts_;
    const auto& timing = core_.timing();
    value_ = rules::lock_value(std::chrono::floor<std::chrono::milliseconds>(timing.ttl),
                               random_text(core_.env()));
    heard_.assign(static_cast<std::size_t>(core_.size()), false);
    attempt_.emplace(core_.voters(), one_first, timing, core_.least_validity());
    if (one_first)
        arm(std::min<boot_clock::duration>(trips_of_first_server * core_.round_trip() +
                                               time_of_first_server,
                                           timing.ttl / part_of_ttl_for_first_server),
            &lock_line::on_slow_server);
    else
        arm(patience(), &lock_line::on_slow_attempt);
    carry_out(attempt_->start());
}

void lock_line::on_slow_server() {
    arm(patience(), &lock_line::on_slow_attempt);
    carry_out(attempt_->hurry());
}

/// For how long an attempt waits for answers: a vote lasts for nine tenths of the ttl, so that a
/// grant after half of it has enough left. Who does not want to wait for the lock does not wait
/// long for servers that stand still, either.
boot_clock::duration lock_line::patience() const {
    const auto usual = core_.timing().ttl / 2;
    const bool immediate = !calls_.empty() && calls_.begin()->second->immediate();
    return immediate ? std::min<boot_clock::duration>(usual, longest_immediate) : usual;
}

void lock_line::on_slow_attempt() { give_up(); }

void lock_line::give_up() { carry_out(attempt_->give_up()); }

void lock_line::carry_out(const rules::attempt::requests& what) {
    for (const auto server : what.acquire)
        send(server, rules::script::acquire);
    for (const auto server : what.renew)
        send(server, rules::script::renew);
    release(what);
    if (attempt_->now() != rules::attempt::state::pending) conclude();
}

void lock_line::send(int server, rules::script which) {
    const auto ttl = std::chrono::floor<std::chrono::milliseconds>(core_.timing().ttl);
    const auto all = core_.deployment(server);
    auto words = which == rules::script::acquire
                     ? rules::acquire_words(keys_, value_, ttl, all)
                     : rules::renew_words(keys_, value_, ttl, all, attempt_->token());
    const auto is_current = [weak = weak_from_this(), n = attempts_] {
        const auto self = weak.lock();
        return self && self->attempts_ == n && self->stage_ == stage::attempting;
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
    if (timer_) timer_->cancel();
    stage_ = stage::idle;
    core_.attempts().release(1);
    if (attempt_->now() == rules::attempt::state::granted)
        grant();
    else
        refused();
}

void lock_line::grant() {
    obstacle_.reset();
    pace_.granted();
    kept_since_ = core_.now();
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

void lock_line::refused() {
    grants_in_a_row_ = 0;
    const auto plan = pace_.after(*attempt_, core_.round_trip(), hears(), core_.env().random());
    one_first_next_ = plan.one_first;
    if (calls_.empty()) return rest_if_unused(); // given up: what has no answer yet is no obstacle
    obstacle_ = core_.obstacle_in(attempt_->refusals());
    complain_about_spoilt_keys();
    if (const auto why = error_of(*obstacle_)) return fail_all(why);
    if (calls_.begin()->second->immediate()) {
        const auto call = calls_.extract(calls_.begin()).mapped();
        call->finish(call->why_not_in_time(), guard());
        if (calls_.empty()) return rest_if_unused();
    }
    listen();
    if (obstacle_ == rules::obstacle::servers && !core_.connected()) {
        stage_ = stage::sleeping; // until it hears of a server: many lines cost nothing meanwhile
        return;
    }
    if (released_meanwhile()) return race();
    sleep(plan.sleep, stage::sleeping);
}

/// A server that refused the lock has told of a release since.
bool lock_line::released_meanwhile() const {
    for (std::size_t n = 0; n < heard_.size(); ++n)
        if (heard_[n] && attempt_->refusals()[n]) return true;
    return false;
}

void lock_line::fail_calls(error_code why) {
    for (const auto& [number, one] : std::exchange(calls_, {}))
        one->fail(why);
}

void lock_line::fail_all(error_code why) {
    fail_calls(why);
    rest_if_unused();
}

bool lock_line::pass_on(const key_holder& released) {
    const bool lasts = released.valid_until() - core_.now() >= core_.least_validity();
    if (calls_.empty() || stage_ != stage::idle || holder_.lock().get() != &released || !lasts ||
        grants_in_a_row_ + 1 >= most_grants_in_a_row)
        return false;
    ++grants_in_a_row_;
    const auto next = std::make_shared<key_holder>(released, calls_.begin()->second->by());
    holder_ = next;
    give(next);
    return true;
}

void lock_line::hold_ended(const key_holder& of) {
    std::erase_if(lost_, [&](const auto& one) { return one.expired() || one.lock().get() == &of; });
    if (holder_.lock().get() != &of) return rest_if_unused();
    if (of.has_lost_guards()) lost_.push_back(holder_);
    holder_.reset();
    const bool many = !calls_.empty() && ++grants_in_a_row_ >= most_grants_in_a_row;
    if (stage_ != stage::idle) return proceed();
    auto rest = rest_for_others();
    if (many) rest = std::max(rest, trips_of_rest * core_.round_trip());
    if (!many && rest == boot_clock::duration::zero()) return proceed();
    grants_in_a_row_ = 0;
    if (!calls_.empty()) listen();
    sleep(rest, stage::yielding);
}

void lock_line::release_begins(const key_holder& of) {
    ++releases_;
    released_ = of.value();
}

void lock_line::release_ended(std::int64_t listeners) {
    --releases_;
    const bool knew = others_listen_;
    others_listen_ = !core_.closed() && listeners > (listens_ ? 1 : 0);
    const auto own = holder_.lock();
    const bool may_yield =
        (stage_ == stage::idle || stage_ == stage::yielding) && !(own && own->holds());
    const bool news = others_listen_ && !knew;
    const auto rest = news && may_yield ? rest_for_others() : boot_clock::duration();
    if (rest > boot_clock::duration::zero()) sleep(rest, stage::yielding);
    rest_if_unused();
}

/// How long the clients that listen may ask first.
boot_clock::duration lock_line::rest_for_others() {
    if (!others_listen_) return {};
    return pace_.yield(core_.now() - kept_since_, core_.round_trip());
}

void lock_line::listen() {
    if (!std::exchange(listens_, true)) core_.listen(keys_);
}

/// Without a call and a hold the line is of no use.
void lock_line::rest_if_unused() {
    const auto own = holder_.lock();
    if (!calls_.empty() || stage_ != stage::idle || (own && own->holds()) || !lost_.empty() ||
        releases_ > 0)
        return;
    if (listens_ || others_listen_) return arm(line_rest, &lock_line::on_unused);
    core_.forget(*this, keys_.name);
}

void lock_line::on_unused() {
    if (!calls_.empty() || stage_ != stage::idle) return;
    if (std::exchange(listens_, false)) core_.stop_listening(keys_);
    subscribed_.assign(subscribed_.size(), false);
    others_listen_ = false;
    rest_if_unused();
}

void lock_line::close(error_code why) {
    timer_.reset(); // a guard can keep the line alive after its execution context
    listens_ = others_listen_ = false;
    fail_calls(why);
    if (std::exchange(stage_, stage::idle) == stage::attempting) release(attempt_->give_up());
    auto holders = lost_; // their guards may stay, but not what a late renewal has set
    holders.push_back(holder_);
    for (const auto& one : holders)
        if (const auto own = one.lock()) own->close(why);
}

} // namespace paddock::redis::detail
