#include "sim/redis/contender.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

using namespace redis::rules;

void redis_world::publish() {
    for (auto& one : listeners)
        if (!chance.one_in(10)) time.after(delay(), [&one] { one(); });
}

redis_contender::redis_contender(redis_world& where, std::string name, habits how)
    : world_(where)
    , name_(std::move(name))
    , how_(how)
    , timing_(how.ttl)
    , times_left_(how.times)
    , pace_(how.ttl) {
    if (how.ignores_margin) timing_.margin = timing_.ttl / 100;
    if (how.waits_own_ttl) how_.max_ttl = how.ttl;
    for (std::size_t n = 0; n < where.servers.size(); ++n)
        links_.push_back(std::make_shared<link>(where.time));
}

/// Not while the process is stopped, and not if another step has begun meanwhile.
void redis_contender::later(duration delay, void (redis_contender::*what)()) {
    world_.time.at(std::max(now() + delay, paused_until_), [this, what, step = step_] {
        if (step != step_) return;
        if (now() < paused_until_) return later(duration(0), what);
        (this->*what)();
    });
}

void redis_contender::begin() {
    if (done()) return;
    ask(false);
}

void redis_contender::ask(bool one_first) {
    ++step_;
    state_ = state::asking;
    asked_ = now();
    if (!how_.reuses_value || value_.empty())
        value_ = lock_value(how_.ttl, name_ + std::to_string(++attempts_));
    attempt_.emplace(std::vector<bool>(links_.size(), true), one_first, timing_, timing_.ttl / 4);
    carry_out(attempt_->start());
    later(timing_.ttl, &redis_contender::conclude);
}

void redis_contender::send(int server, verb what) {
    const auto n = static_cast<std::size_t>(server);
    links_[n]->there.send(world_.delay(), [this, n, server, what, value = value_, token = token_,
                                           sent = now(), by = std::weak_ptr(links_[n])] {
        auto& at = world_.servers[n];
        const redis_model::terms call{value, how_.ttl, how_.max_ttl};
        redis_model::answer said;
        ++world_.commands;
        if (what == verb::acquire) said = at.acquire(now(), call);
        if (what == verb::renew) said = at.renew(now(), call, how_.forgets_token ? 0 : token);
        if (what == verb::release) said = at.release(now(), value);
        const auto back = by.lock();
        if (back != links_[n]) return; // the connection is gone
        back->back.send(world_.delay(), [this, server, what, value, said, sent] {
            deliver(server, what, value, said, sent);
        });
    });
}

void redis_contender::deliver(int server, verb what, const std::string& value,
                              const redis_model::answer& said, time_point sent) {
    if (now() < paused_until_) {
        return world_.time.at(paused_until_, [this, server, what, value, said, sent] {
            deliver(server, what, value, said, sent);
        });
    }
    if (value != value_ || what == verb::release) return;
    if (state_ == state::asking) {
        carry_out(attempt_->answered(server, said, sent, now()));
    } else if (state_ == state::holding) {
        votes_->answered(server, said, sent, now());
        extend();
    }
}

void redis_contender::carry_out(const attempt::requests& next) {
    if (attempt_->token() != 0) token_ = attempt_->token();
    for (const auto server : next.acquire)
        send(server, verb::acquire);
    for (const auto server : next.renew)
        send(server, verb::renew);
    for (const auto server : next.release)
        send(server, verb::release);
    if (next.tells || (how_.publishes_failures && !next.release.empty())) world_.publish();
    if (attempt_->now() != attempt::state::pending) conclude();
}

void redis_contender::conclude() {
    if (attempt_->now() == attempt::state::pending) return carry_out(attempt_->give_up());
    if (attempt_->now() == attempt::state::granted) return hold();
    ++step_;
    state_ = state::sleeping;
    round_trip_ = now() - asked_;
    const auto plan = pace_.after(*attempt_, round_trip_, true, world_.chance.next());
    one_first_next_ = plan.one_first;
    later(plan.sleep, &redis_contender::slept);
}

void redis_contender::hear() {
    if (state_ != state::sleeping || now() < paused_until_) return;
    ++step_;
    state_ = state::racing;
    one_first_next_ = true;
    later(pace_.after_message(round_trip_, world_.chance.next()), &redis_contender::slept);
}

void redis_contender::slept() { ask(one_first_next_); }

void redis_contender::hold() {
    ++step_;
    state_ = state::holding;
    pace_.granted();
    votes_ = attempt_->votes();
    token_ = attempt_->token();
    valid_until_ = votes_->valid_until();
    granted(token_);
    later(duration(0), &redis_contender::renew);
    world_.time.after(how_.held_for, [this, step = step_] {
        if (step == step_) later(duration(0), &redis_contender::release);
    });
}

void redis_contender::renew() {
    auto next = time_point::max();
    for (std::size_t n = 0; n < links_.size(); ++n) {
        const auto server = static_cast<int>(n);
        if (votes_->renewal_due(server) <= now()) {
            votes_->renewing(server, now());
            send(server, verb::renew);
        }
        next = std::min(next, votes_->renewal_due(server));
    }
    if (now() < valid_until_) later(next - now(), &redis_contender::renew);
}

/// A validity that is over is never extended.
void redis_contender::extend() {
    if (now() >= valid_until_ || votes_->impossible()) return release();
    if (votes_->valid_until() <= valid_until_) return;
    valid_until_ = votes_->valid_until();
    extended();
}

void redis_contender::release() {
    ++step_;
    state_ = state::idle;
    for (std::size_t n = 0; n < links_.size(); ++n)
        send(static_cast<int>(n), verb::release);
    world_.publish();
    token_ = 0;
    --times_left_;
    later(world_.delay(), &redis_contender::begin);
}

void redis_contender::lose_connections() {
    for (std::size_t n = 0; n < links_.size(); ++n) {
        if (world_.chance.one_in(2)) continue;
        links_[n]->back.lose();
        // What has left may still arrive, behind what the next connection brings.
        const auto old = std::exchange(links_[n], std::make_shared<link>(world_.time));
        if (world_.chance.one_in(2)) world_.time.after(timing_.ttl, [old] {});
        if (state_ == state::asking) carry_out(attempt_->unreachable(static_cast<int>(n)));
    }
}

void redis_contender::pause(duration time) {
    paused_until_ = std::max(paused_until_, now() + time);
}

} // namespace paddock::test::sim
