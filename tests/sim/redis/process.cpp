#include "sim/redis/process.hpp"

#include "client/shutdown_service.hpp"
#include "redis/locks/core.hpp"
#include "redis/rules/url.hpp"
#include "sim/violation.hpp"

#include <paddock/detail/access.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace paddock::test::sim {

namespace asio = boost::asio;
using boost::system::error_code;

/// One call, and what it holds.
struct redis_process::call {
    redis_job what;
    std::string name;
    asio::cancellation_signal stop{};
    guard held{};
    int completions = 0;
    int unlocked = 0;
    int verified = 0;
    int lost = 0;
    int under_way = 1; ///< operations, and the time between them

    bool waits() const { return what.how == redis_job::wait && !what.cancelled_after; }
};

redis_process::redis_process(redis_network& net, redis_checker& check, redis_setup how)
    : check_(check)
    , how_(std::move(how))
    , loop_(std::make_shared<event_loop>(net.time(), net.chance(), how_.name)) {
    witness_ = std::make_shared<witness>(how_.name, loop_->time());
    auto options = how_.options;
    options.observer = witness_;
    const auto core = std::make_shared<redis::detail::core>(
        loop_->io().get_executor(),
        redis::detail::world{make_redis_environment(net, loop_), &timeline::latest_now},
        redis::rules::parse_url(how_.url).servers, std::move(options));
    detail::end_with_context(core);
    client_ = detail::access::make<redis::client>(core);
    for (const auto& name : how_.locks)
        locks_.emplace_back(*client_, name, redis::mutex_options{how_.limit});
}

redis_process::~redis_process() { die(); }

void redis_process::die() {
    if (loop_->dead()) return;
    check_.forget(*this);
    loop_->die();
    calls_.clear();
    locks_.clear();
    client_.reset();
    loop_->end();
    under_way_ = 0;
}

void redis_process::look_at_statistics() const {
    if (client_) witness_->compare(client_->statistics());
}

void redis_process::look_at_the_end() const {
    if (!client_) return;
    look_at_statistics();
    witness_->look_at_the_end();
}

/// Errors that an operation may have.
bool redis_process::expected(const redis_job& what, error_code why) const {
    if (!why || (left_ && why == errc::closed)) return true;
    if (why == asio::error::operation_aborted) return what.cancelled_after.has_value();
    if (why == errc::unsuitable_server) return how_.unsuitable_servers;
    return why == errc::not_connected && what.how != redis_job::wait;
}

void redis_process::begin(const redis_job& what) {
    if (loop_->dead()) return;
    const auto c = std::make_shared<call>();
    c->what = what;
    c->name = how_.name + std::to_string(calls_.size() + 1);
    calls_.push_back(c);
    ++under_way_;
    loop_->time().note([&] {
        static constexpr const char* ways[] = {" asks", " asks now", " asks for a while"};
        return c->name + ways[what.how] + " for " + how_.locks[what.lock];
    });
    if (c->waits()) check_.waits(how_.locks[what.lock]);
    ask(c);
    loop_->wake();
    if (!what.cancelled_after) return;
    loop_->time().after(*what.cancelled_after, [weak = std::weak_ptr(c), here = loop_] {
        const auto self = weak.lock();
        if (!self || here->dead()) return;
        here->time().note([&] { return self->name + " is cancelled"; });
        self->stop.emit(asio::cancellation_type::total);
        here->wake();
    });
}

void redis_process::ask(const call_ptr& c) {
    auto answer = asio::bind_cancellation_slot(c->stop.slot(), [this, c](error_code why, guard g) {
        must(++c->completions == 1, c->name + " is completed twice");
        if (c->waits()) check_.waits_no_more(how_.locks[c->what.lock]);
        loop_->time().note([&] {
            return c->name + (why ? " fails: " + why.message() : g ? " succeeds" : " is given up");
        });
        if (!expected(c->what, why)) throw violation(c->name + " fails: " + why.message());
        if (!why && !g && c->what.how == redis_job::wait)
            throw violation(c->name + " has nothing to show");
        if (why || !g) return done(c);
        got_guard(c, std::move(g));
    });
    auto& lock = locks_[c->what.lock];
    if (c->what.how == redis_job::immediate) return lock.try_lock(std::move(answer));
    if (c->what.how == redis_job::limited)
        return lock.try_lock_for(c->what.limit, std::move(answer));
    lock.lock(std::move(answer));
}

void redis_process::got_guard(const call_ptr& c, guard g) {
    c->held = std::move(g);
    check_.granted(*this, c->held, c->name);
    if (c->what.listens) {
        ++c->under_way;
        c->held.lost([this, c](error_code why, error_code) {
            must(!why && ++c->lost == 1, c->name + " loses its guard twice");
            done(c);
        });
    }
    if (c->what.verifies) {
        ++c->under_way;
        later(c->what.held_for / 2, c, &redis_process::verify);
    }
    later(c->what.held_for, c, &redis_process::give_back);
}

void redis_process::verify(const call_ptr& c) {
    if (!c->held) return done(c);
    c->held.verify([this, c](error_code why) {
        loop_->time().note([&] { return c->name + " is verified: " + why.message(); });
        must(++c->verified == 1, c->name + " is verified twice");
        must(!why || why == errc::lock_lost || (left_ && why == errc::closed),
             c->name + " cannot be verified: " + why.message());
        done(c);
    });
}

void redis_process::give_back(const call_ptr& c) {
    if (!c->held) return done(c);
    loop_->time().note(
        [&] { return c->name + (c->held.valid() ? " lets go" : " lets go of what is lost"); });
    check_.released(c->held);
    if (!c->what.unlocks) {
        c->held = guard();
        return done(c);
    }
    c->held.unlock([this, c](error_code why) {
        loop_->time().note([&] { return c->name + " is unlocked: " + why.message(); });
        must(++c->unlocked == 1, c->name + " is unlocked twice");
        must(!why || why == errc::lock_lost || (left_ && why == errc::closed),
             c->name + " cannot be unlocked: " + why.message());
        done(c);
    });
}

void redis_process::done(const call_ptr& c) {
    if (--c->under_way == 0) --under_way_;
}

void redis_process::connect(std::optional<duration> limit) {
    if (loop_->dead() || left_) return;
    ++under_way_;
    const redis_job as{.how = limit ? redis_job::limited : redis_job::wait};
    auto answer = [this, as](error_code why) {
        loop_->time().note([&] { return how_.name + " connects: " + why.message(); });
        must(expected(as, why), how_.name + " cannot connect: " + why.message());
        --under_way_;
    };
    if (limit)
        client_->connect_for(*limit, std::move(answer));
    else
        client_->connect(std::move(answer));
    loop_->wake();
}

void redis_process::leave(bool drops_guards) {
    if (loop_->dead() || std::exchange(left_, true)) return;
    loop_->time().note([&] { return how_.name + " leaves"; });
    check_.forget(*this);
    if (drops_guards)
        for (const auto& c : calls_)
            c->held = guard();
    ++under_way_;
    client_->close([this](error_code why) {
        must(!why, how_.name + " cannot leave: " + why.message());
        loop_->time().note([&] { return how_.name + " has left"; });
        for (const auto& c : calls_)
            must(!c->held.valid(), c->name + " has a guard of a closed client");
        --under_way_;
    });
    loop_->wake();
}

void redis_process::later(duration after, const call_ptr& c,
                          void (redis_process::*what)(const call_ptr&)) {
    loop_->time().after(after, [this, weak = std::weak_ptr(c), here = loop_, what] {
        if (weak.expired() || here->dead()) return;
        asio::post(here->io(), [this, weak, what] {
            if (const auto self = weak.lock()) (this->*what)(self);
        });
        here->wake();
    });
}

std::string redis_process::story() const {
    std::string out;
    for (const auto& c : calls_)
        if (c->under_way > 0) out += ' ' + c->name + (c->held ? " (holds)" : "");
    return out.empty() && !idle() ? ' ' + how_.name : out;
}

} // namespace paddock::test::sim
