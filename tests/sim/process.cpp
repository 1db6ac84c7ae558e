#include "session/make_core.hpp"
#include "sim/c_client.hpp"
#include "sim/process_parts.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::test::sim {

namespace {

bool is_reentrant(job::kind what) {
    return what == job::recursive || what == job::read_again || what == job::write_again;
}

bool is_exclusive(job::kind what) { return what != job::read && what != job::read_again; }

} // namespace

process::process(ensemble& all, checker& check, contested_locks& contests, std::string name,
                 std::string_view servers, client_options options, const lock_options& how)
    : check_(check), contested_(contests), host_(std::make_shared<host>(all, std::move(name))) {
    detail::world outside{make_environment(host_),
                          [here = host_] { return std::make_unique<c_client>(here); },
                          &timeline::latest_now,
                          {host_->name, 1000}};
    witness_ = std::make_shared<witness>(host_->name, host_->time());
    options.observer = witness_;
    client_ = detail::access::make<client>(detail::make_core(
        host_->io().get_executor(), std::move(outside), servers, std::move(options)));
    locks_ = std::make_unique<locks>(*client_, contested_, how);
}

process::~process() { die(); }

void process::die() {
    if (!client_) return;
    check_.forget(host_.get());
    host_->die();
    for (const auto& one : with_work_)
        one->wake_up = {};
    calls_.clear();
    locks_.reset();
    client_.reset();
    host_->end();
    with_work_.clear();
    under_way_ = 0;
}

void process::look() const {
    witness_->look();
    if (client_ && client_->lease_remaining() > duration(client_->session_timeout()) / 3)
        witness_->healthy();
}

void process::look_at_statistics() const {
    if (client_) witness_->compare(client_->statistics());
}

void process::look_at_the_end() const {
    if (!client_) return;
    look_at_statistics();
    witness_->look_at_the_end();
}

int process::holds() const {
    return static_cast<int>(
        std::count_if(calls_.begin(), calls_.end(), [](const auto& c) { return c->held.valid(); }));
}

void process::leave() {
    host_->time().note([&] { return host_->name + " leaves"; });
    left_ = true;
    under_way_ = 1;
    for (const auto& c : std::exchange(calls_, {})) {
        check_.released(&c->held);
        if (c->completions == 0) ++under_way_; // it will complete
        c->held = guard();
    }
    client_->close([this, session = client_->session_id(),
                    limit = host_->time().now() + std::chrono::seconds(1)](error_code why) {
        must(!why, host_->name + " cannot leave: " + why.message());
        --under_way_;
        if (host_->time().now() >= limit) return;
        for (const auto& [path, node] : host_->servers().truth().nodes())
            must(node.stat.ephemeral_owner != session, host_->name + " has left, but not " + path);
    });
    host_->wake();
}

contested& process::lock_of(job::kind what) const {
    switch (what) {
    case job::mutex:
        return contested_.mutex;
    case job::other:
        return contested_.other;
    case job::simple:
        return contested_.simple;
    case job::permit:
        return contested_.semaphore;
    case job::campaign:
        return contested_.election;
    case job::recursive:
        return contested_.recursive;
    case job::read_again:
    case job::write_again:
        return contested_.reentrant;
    default:
        return contested_.shared;
    }
}

void process::begin(const job& what) {
    if (!client_) return;
    static constexpr const char* names[] = {"lock",       "other",       "read",     "write",
                                            "simple",     "permit",      "campaign", "recursive",
                                            "read again", "write again", "several"};
    const auto c = std::make_shared<call>();
    c->what = what;
    c->name = host_->name + ' ' + std::to_string(calls_.size() + 1) + ' ' + names[what.what] +
              (what.by_key ? " by key" : "");
    calls_.push_back(c);
    ++under_way_;
    host_->time().note([&] { return c->name + " asks"; });
    ask(c);
    host_->wake();
    if (!what.cancelled_after) return;
    host_->time().after(*what.cancelled_after, [weak = std::weak_ptr(c), here = host_] {
        const auto self = weak.lock();
        if (!self || here->dead()) return;
        here->time().note([&] { return self->name + " is cancelled"; });
        self->stop.emit(asio::cancellation_type::total);
    });
}

/// An operation that completes once, and may be cancelled until then.
template <typename What>
auto process::answer_of(const call_ptr& c, void (process::*got)(const call_ptr&, What)) {
    c->completions = 0;
    return asio::bind_cancellation_slot(c->stop.slot(), [this, c, got](error_code why, What what) {
        must(++c->completions == 1, c->name + " is completed twice");
        host_->time().note([&] {
            return c->name + (why    ? " fails: " + why.message()
                              : what ? " succeeds"
                                     : " is given up");
        });
        if (!why && what && !left_) return (this->*got)(c, std::move(what));
        const bool expected = !why || why == asio::error::operation_aborted ||
                              why == errc::not_connected || (left_ && why == errc::closed) ||
                              (why == errc::lock_lost && c->what.how == job::queued) ||
                              (why == errc::hold_expired && c->what.what == job::several) ||
                              (why == errc::would_deadlock && is_reentrant(c->what.what));
        must(expected, c->name + " fails: " + why.message());
        done(c);
    });
}

void process::ask(const call_ptr& c) {
    if (c->what.what == job::several) return ask_for_all(c);
    if (c->what.how == job::scoped) return ask_with_work(c);
    if (c->what.how == job::queued) return enqueue(c);
    ask_as(c->what, answer_of(c, &process::got_guard));
}

template <typename Lock, typename Token, typename... Owner>
void process::ask_exclusively(Lock& lock, const job& what, Token token, Owner... by) {
    if (what.how == job::immediate) return lock.try_lock(by..., std::move(token));
    if (what.how == job::limited) return lock.try_lock_for(by..., what.limit, std::move(token));
    lock.lock(by..., std::move(token));
}

template <typename Lock, typename Token, typename... Owner>
void process::ask_to_share(Lock& lock, const job& what, Token token, Owner... by) {
    if (what.how == job::immediate) return lock.try_lock_shared(by..., std::move(token));
    if (what.how == job::limited)
        return lock.try_lock_shared_for(by..., what.limit, std::move(token));
    lock.lock_shared(by..., std::move(token));
}

template <typename Token>
void process::ask_as(const job& what, Token token) {
    switch (what.what) {
    case job::campaign: // there is no other way to ask
        return locks_->e.campaign(std::move(token));
    case job::mutex:
        if (what.by_key) return ask_exclusively(locks_->family, what, std::move(token), "a");
        return ask_exclusively(locks_->a, what, std::move(token));
    case job::other:
        return ask_exclusively(locks_->other, what, std::move(token));
    case job::write:
        return ask_exclusively(locks_->b, what, std::move(token));
    case job::simple:
        return ask_exclusively(locks_->c, what, std::move(token));
    case job::recursive:
        return ask_exclusively(locks_->g, what, std::move(token), locks_->owners[what.owner]);
    case job::write_again:
        return ask_exclusively(locks_->h, what, std::move(token), locks_->owners[what.owner]);
    case job::read_again:
        return ask_to_share(locks_->h, what, std::move(token), locks_->owners[what.owner]);
    case job::read:
        return ask_to_share(locks_->b, what, std::move(token));
    default:
        if (what.how == job::limited)
            return locks_->d.try_acquire_for(1, what.limit, std::move(token));
        if (what.how == job::immediate) return locks_->d.try_acquire(1, std::move(token));
        return locks_->d.acquire(std::move(token));
    }
}

void process::ask_for_all(const call_ptr& c) {
    std::vector<lock_request> all{locks_->f};
    for (const auto kind : c->what.with)
        all.push_back(request_of(kind));
    auto answer = answer_of(c, &process::got_all);
    if (c->what.how == job::wait) return lock_all(all, std::move(answer));
    if (c->what.how == job::immediate) return try_lock_all(all, std::move(answer));
    try_lock_all_for(all, c->what.limit, std::move(answer));
}

lock_request process::request_of(job::kind what) const {
    switch (what) {
    case job::read:
        return shared(locks_->b);
    case job::write:
        return exclusive(locks_->b);
    case job::permit:
        return permits(locks_->d);
    default:
        return locks_->a;
    }
}

void process::enqueue(const call_ptr& c) {
    auto answer = answer_of(c, &process::got_ticket);
    if (c->what.by_key) return locks_->family.enqueue("a", std::move(answer));
    switch (c->what.what) {
    case job::mutex:
        return locks_->a.enqueue(std::move(answer));
    case job::other:
        return locks_->other.enqueue(std::move(answer));
    case job::write:
        return locks_->b.enqueue(std::move(answer));
    case job::read:
        return locks_->b.enqueue_shared(std::move(answer));
    default:
        return locks_->d.enqueue(std::move(answer));
    }
}

void process::got_ticket(const call_ptr& c, ticket place) {
    c->place = std::move(place);
    later(c->what.limit, c, &process::use_ticket);
}

void process::use_ticket(const call_ptr& c) {
    host_->time().note(
        [&] { return c->name + (c->what.drops ? " drops its ticket" : " uses its ticket"); });
    if (!c->what.drops) return c->place.acquired(answer_of(c, &process::got_guard));
    c->place = ticket();
    done(c);
}

void process::got_guard(const call_ptr& c, guard g) {
    c->held = std::move(g);
    const bool fresh = !is_reentrant(c->what.what) && c->what.how != job::queued;
    hold(c, c->held, lock_of(c->what.what), is_exclusive(c->what.what), fresh);
    if (c->what.downgrades) later(c->what.held_for / 2, c, &process::downgrade);
    later(c->what.held_for, c, &process::give_back);
}

void process::got_all(const call_ptr& c, guard_set all) {
    c->all = std::move(all);
    hold(c, c->all[0], contested_.second, true, false);
    for (std::size_t i = 1; i < c->all.size(); ++i) {
        const auto kind = c->what.with[i - 1];
        hold(c, c->all[i], lock_of(kind), is_exclusive(kind), false);
    }
    later(c->what.held_for, c, &process::give_back);
}

void process::hold(const call_ptr& c, const guard& one, contested& of, bool exclusive, bool fresh) {
    check_.granted({&of, exclusive, host_.get(), &one, client_->session_id(), c->name, fresh});
}

void process::downgrade(const call_ptr& c) {
    host_->time().note([&] { return c->name + " shares from now on"; });
    check_.shared(&c->held);
    ++c->under_way;
    c->held.downgrade([this, c](error_code) {
        must(++c->downgraded == 1, c->name + " is downgraded twice");
        done(c);
    });
}

/// Nothing waits for the outcome, which may come after the release.
void process::write(const call_ptr& c) {
    const std::vector<operation> steps{
        op::set{contested_.mutex.directory, to_string(c->held.fencing_token()), any_version}};
    ++c->under_way;
    c->held.transaction(steps, [this, c](error_code, const std::vector<operation_result>&) {
        must(++c->written == 1, c->name + " has written twice");
        if (!left_) done(c);
    });
}

void process::give_back(const call_ptr& c) {
    if (c->what.writes && c->held) write(c);
    host_->time().note([&] {
        const bool valid = c->held.valid() || c->all.valid();
        return c->name + (valid ? " lets go" : " lets go of what is lost");
    });
    check_.released(&c->held);
    for (std::size_t i = 0; i < c->all.size(); ++i)
        check_.released(&c->all[i]);
    auto gone = [this, c](error_code) {
        must(++c->unlocked == 1, c->name + " is unlocked twice");
        done(c);
    };
    if (c->what.unlocks)
        return c->all ? c->all.unlock(std::move(gone)) : c->held.unlock(std::move(gone));
    c->held = guard();
    c->all = guard_set();
    done(c);
}

void process::done(const call_ptr& c) {
    if (--c->under_way == 0) --under_way_;
}

void process::later(duration after, const call_ptr& c, void (process::*what)(const call_ptr&)) {
    host_->time().after(after, [this, weak = std::weak_ptr(c), here = host_, what] {
        if (weak.expired() || here->dead()) return;
        asio::post(here->io(), [this, weak, what] {
            if (const auto self = weak.lock()) (this->*what)(self);
        });
        here->wake();
    });
}

std::string process::story() const {
    std::string out;
    for (const auto& c : calls_)
        if (c->under_way > 0) out += ' ' + c->name + (c->held || c->all ? " (holds)" : "");
    return out;
}

} // namespace paddock::test::sim
