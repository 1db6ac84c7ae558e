#include "redis/rules/line.hpp"

#include <algorithm>
#include <chrono>

namespace paddock::redis::rules {

namespace {

/// So many grants one client may have without a pause while calls of it wait: then it releases its
/// keys, and the clients that hear of it come first. The waiters in between need no request: fewer
/// cost more requests, more let other clients wait for longer.
constexpr int most_grants_in_a_row = 16;

/// For an answer to a call that does not wait for the lock: less than a second, but long enough for
/// a server that is only slow.
constexpr std::chrono::milliseconds longest_immediate{900};

/// A lock that is wanted again soon needs no new subscription, and remembers that others want it.
/// For longer, a client that uses many locks one after the other would keep more of them.
constexpr std::chrono::seconds line_rest{5};

/// For the answer of the server that is asked before the others: far more than usual, because the
/// others then get requests in vain; but not much of the time to live.
constexpr int trips_of_first_server = 10;
constexpr std::chrono::milliseconds time_of_first_server{10}; ///< besides: a processor may be busy
constexpr int part_of_ttl_for_first_server = 10;

/// For the message to another client, and its request.
constexpr int trips_of_rest = 2;

} // namespace

line::line(duration ttl, int servers, std::function<std::uint64_t()> random)
    : ttl_(ttl)
    , random_(std::move(random))
    , pace_(ttl)
    , subscribed_(static_cast<std::size_t>(servers))
    , heard_(subscribed_) {}

void line::set_timer(duration time) {
    actions_.push_back({.what = kind::set_timer, .until = facts_.now + time});
}

void line::joined() {
    if (stage_ == stage::yielding) listen(); // to know whether another client uses it
    proceed();
}

void line::deserted() {
    if (stage_ == stage::attempting) return add(kind::give_up);
    if (stage_ == stage::yielding) return; // to the end, or the next call would come first
    if (stage_ == stage::queued) add(kind::leave_turns);
    add(kind::stop_timer); // rest_if_unused() may leave it as it is
    stage_ = stage::idle;
    rest_if_unused();
}

void line::proceed() {
    if (facts_.calls == 0) return rest_if_unused();
    if (stage_ != stage::idle || facts_.held) return;
    stage_ = stage::queued;
    add(kind::take_turn);
}

void line::turn_got() {
    stage_ = stage::attempting;
    one_first_ = std::exchange(one_first_next_, false);
    heard_.assign(heard_.size(), false);
    // Before the attempt, which may end at once.
    set_timer(one_first_ ? std::min<duration>(trips_of_first_server * facts_.round_trip +
                                                  time_of_first_server,
                                              ttl_ / part_of_ttl_for_first_server)
                         : patience());
    actions_.push_back({.what = kind::attempt, .one_first = one_first_});
}

/// For how long an attempt waits for answers: a vote lasts for nine tenths of the ttl, so that a
/// grant after half of it has enough left. Who does not want to wait for the lock does not wait
/// long for servers that stand still, either.
line::duration line::patience() const {
    return facts_.immediate ? std::min<duration>(ttl_ / 2, longest_immediate) : ttl_ / 2;
}

void line::attempt_ended() {
    stage_ = stage::idle;
    add(kind::stop_timer);
}

void line::granted() {
    attempt_ended();
    obstacle_.reset();
    pace_.granted();
    kept_since_ = facts_.now;
}

void line::refused(const attempt& failed, obstacle why) {
    attempt_ended();
    grants_in_a_row_ = 0;
    const auto plan = pace_.after(failed, facts_.round_trip, hears(), random_());
    one_first_next_ = plan.one_first;
    // Given up: what has no answer yet is no obstacle.
    if (facts_.calls == 0) return rest_if_unused();
    obstacle_ = why;
    if (!heals(why)) {
        add(kind::fail);
        facts_.calls = 0;
        return rest_if_unused();
    }
    if (facts_.immediate) {
        add(kind::turn_away);
        if (--facts_.calls == 0) return rest_if_unused();
    }
    listen();
    if (why == obstacle::servers && !facts_.connected) {
        stage_ = stage::sleeping; // until it hears of a server: many lines cost nothing meanwhile
        return;
    }
    if (released_meanwhile(failed)) return race();
    sleep(plan.sleep, stage::sleeping);
}

/// A server that refused the lock has told of a release since.
bool line::released_meanwhile(const attempt& failed) const {
    for (std::size_t n = 0; n < heard_.size(); ++n)
        if (heard_[n] && failed.refusals()[n]) return true;
    return false;
}

void line::tick() {
    switch (stage_) {
    case stage::idle:
        return on_unused();
    case stage::queued:
        return;
    case stage::attempting:
        if (!std::exchange(one_first_, false)) return add(kind::give_up);
        set_timer(patience());
        return add(kind::hurry);
    case stage::sleeping:
    case stage::racing:
    case stage::yielding:
        return wake(one_first_next_);
    }
}

void line::sleep(duration time, stage how) {
    stage_ = how;
    sleeps_until_ = facts_.now + time;
    set_timer(time);
}

void line::wake(bool one_first) {
    add(kind::stop_timer);
    stage_ = stage::idle;
    one_first_next_ = one_first;
    proceed();
}

void line::race() {
    one_first_next_ = true;
    sleep(pace_.after_message(facts_.round_trip, random_()), stage::racing);
}

void line::message(int server) {
    pace_.rival_had_it();
    if (stage_ == stage::attempting) heard_[static_cast<std::size_t>(server)] = true;
    if (stage_ == stage::sleeping) return race();
    if (stage_ == stage::yielding) wake(true); // another client has had it
}

void line::subscribed(int server) {
    subscribed_[static_cast<std::size_t>(server)] = true;
    if (stage_ == stage::attempting) heard_[static_cast<std::size_t>(server)] = true;
    if (stage_ == stage::sleeping) wake(true);
}

/// The release may be missed from now on, so the next attempt does not wait for it.
void line::unsubscribed(int server) {
    subscribed_[static_cast<std::size_t>(server)] = false;
    const bool long_sleep =
        stage_ == stage::sleeping && sleeps_until_ > facts_.now + pace::longest_sleep;
    if (long_sleep && !hears()) sleep(pace::longest_sleep, stage::sleeping);
}

void line::servers_changed() {
    if (stage_ == stage::sleeping && obstacle_ == obstacle::servers) wake(false);
}

/// The keys of a hold are on a quorum, one of which then tells of the release.
bool line::hears() const {
    const auto count = std::count(subscribed_.begin(), subscribed_.end(), true);
    return static_cast<std::size_t>(count) > subscribed_.size() / 2;
}

bool line::pass_on() {
    if (facts_.calls == 0 || stage_ != stage::idle || grants_in_a_row_ + 1 >= most_grants_in_a_row)
        return false;
    ++grants_in_a_row_;
    return true;
}

void line::hold_ended() {
    const bool many = facts_.calls > 0 && ++grants_in_a_row_ >= most_grants_in_a_row;
    if (stage_ != stage::idle) return;
    auto rest = rest_for_others();
    if (many) rest = std::max(rest, trips_of_rest * facts_.round_trip);
    if (!many && rest == duration::zero()) return proceed();
    grants_in_a_row_ = 0;
    if (facts_.calls > 0) listen();
    sleep(rest, stage::yielding);
}

void line::release_ended(std::int64_t listeners) {
    --releases_;
    const bool knew = others_listen_;
    others_listen_ = listeners > (listens_ ? 1 : 0);
    const bool may_yield = (stage_ == stage::idle || stage_ == stage::yielding) && !facts_.held;
    const bool news = others_listen_ && !knew;
    const auto rest = news && may_yield ? rest_for_others() : duration();
    if (rest > duration::zero()) sleep(rest, stage::yielding);
    rest_if_unused();
}

/// How long the clients that listen may ask first.
line::duration line::rest_for_others() {
    if (!others_listen_) return {};
    return pace_.yield(facts_.now - kept_since_, facts_.round_trip);
}

void line::listen() {
    if (!std::exchange(listens_, true)) add(kind::listen);
}

/// Without a call and a hold the line is of no use.
void line::rest_if_unused() {
    if (facts_.calls > 0 || stage_ != stage::idle || facts_.held || facts_.has_guards ||
        releases_ > 0)
        return;
    if (listens_ || others_listen_) return set_timer(line_rest);
    add(kind::forget);
}

void line::on_unused() {
    if (facts_.calls > 0) return;
    if (std::exchange(listens_, false)) add(kind::stop_listening);
    subscribed_.assign(subscribed_.size(), false);
    others_listen_ = false;
    rest_if_unused();
}

void line::closed() noexcept {
    listens_ = others_listen_ = false;
    stage_ = stage::idle;
}

} // namespace paddock::redis::rules
