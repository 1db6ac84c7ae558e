#include "sim/process.hpp"

#include "session/make_core.hpp"
#include "sim/c_client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <utility>

namespace paddock::test::sim {

struct process::locks {
    locks(const client& zk, const contested_locks& all)
        : a(zk, all.mutex.directory)
        , other(zk, all.other.directory, {.name = "other"})
        , b(zk, all.shared.directory)
        , c(zk, all.simple.directory)
        , d(zk, "/locks/d", all.semaphore.permits)
        , e(zk, all.election.directory) {}

    mutex a, other;
    shared_mutex b;
    simple_mutex c;
    semaphore d;
    election e;
};

struct process::call {
    job what;
    std::string name;
    asio::cancellation_signal stop{};
    guard held{};
    int completions = 0;
    int unlocked = 0;
    bool over = false;
};

process::process(ensemble& all, checker& check, contested_locks& contests, std::string name,
                 std::string_view servers, client_options options)
    : check_(check), contested_(contests), host_(std::make_shared<host>(all, std::move(name))) {
    detail::world outside{make_environment(host_),
                          [here = host_] { return std::make_unique<c_client>(here); },
                          &timeline::latest_now};
    client_.emplace(detail::make_core(host_->io().get_executor(), std::move(outside), servers,
                                      std::move(options)));
    locks_ = std::make_unique<locks>(*client_, contested_);
}

process::~process() { die(); }

void process::die() {
    if (!client_) return;
    check_.forget(host_.get());
    host_->die();
    calls_.clear();
    locks_.reset();
    client_.reset();
    host_->end();
    under_way_ = 0;
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
    default:
        return contested_.shared;
    }
}

void process::begin(const job& what) {
    if (!client_) return;
    static constexpr const char* names[] = {"lock",   "other",  "read",    "write",
                                            "simple", "permit", "campaign"};
    const auto c = std::make_shared<call>();
    c->what = what;
    c->name = host_->name + ' ' + std::to_string(calls_.size() + 1) + ' ' + names[what.what];
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

void process::ask(const std::shared_ptr<call>& c) {
    ask_as(c->what,
           asio::bind_cancellation_slot(c->stop.slot(), [this, c](error_code why, guard g) {
               must(++c->completions == 1, c->name + " is completed twice");
               answered(c, why, std::move(g));
           }));
}

template <typename Token>
void process::ask_as(const job& what, Token token) {
    const auto ask_exclusively = [&](auto& lock) {
        switch (what.how) {
        case job::wait:
            return lock.lock(std::move(token));
        case job::only_if_free:
            return lock.try_lock(std::move(token));
        case job::limited:
            return lock.try_lock_for(what.limit, std::move(token));
        }
    };
    switch (what.what) {
    case job::campaign: // there is no other way to ask
        return locks_->e.campaign(std::move(token));
    case job::mutex:
        return ask_exclusively(locks_->a);
    case job::other:
        return ask_exclusively(locks_->other);
    case job::write:
        return ask_exclusively(locks_->b);
    case job::simple:
        return ask_exclusively(locks_->c);
    case job::read:
        if (what.how == job::wait) return locks_->b.lock_shared(std::move(token));
        if (what.how == job::limited)
            return locks_->b.try_lock_shared_for(what.limit, std::move(token));
        return locks_->b.try_lock_shared(std::move(token));
    case job::permit:
        if (what.how == job::wait) return locks_->d.acquire(std::move(token));
        if (what.how == job::limited)
            return locks_->d.try_acquire_for(1, what.limit, std::move(token));
        return locks_->d.try_acquire(1, std::move(token));
    }
}

void process::answered(const std::shared_ptr<call>& c, error_code why, guard g) {
    host_->time().note([&] {
        return c->name + (why ? " fails: " + why.message() : g ? " is granted" : " is given up");
    });
    if (why || !g) {
        const bool expected =
            !why || why == asio::error::operation_aborted || why == errc::not_connected;
        must(expected, c->name + " fails: " + why.message());
        return done(c);
    }
    c->held = std::move(g);
    check_.granted({&lock_of(c->what.what), c->what.what != job::read, host_.get(), &c->held,
                    client_->session_id(), c->name});
    hold(c);
}

void process::hold(const std::shared_ptr<call>& c) {
    host_->time().after(c->what.held_for, [this, weak = std::weak_ptr(c), here = host_] {
        const auto self = weak.lock();
        if (!self || here->dead()) return;
        here->post([this, weak] {
            if (const auto again = weak.lock()) give_back(again);
        });
    });
}

void process::give_back(const std::shared_ptr<call>& c) {
    host_->time().note(
        [&] { return c->name + (c->held.valid() ? " lets go" : " lets go of what is lost"); });
    check_.released(&c->held);
    if (!c->what.unlocks) {
        c->held = guard();
        return done(c);
    }
    c->held.unlock([this, c](error_code) {
        must(++c->unlocked == 1, c->name + " is unlocked twice");
        done(c);
    });
}

void process::done(const std::shared_ptr<call>& c) {
    c->over = true;
    --under_way_;
}

std::string process::story() const {
    std::string out;
    for (const auto& c : calls_)
        if (!c->over)
            out += ' ' + c->name + (c->held ? " (holds)" : c->unlocked ? " (unlocks)" : "");
    return out;
}

} // namespace paddock::test::sim
