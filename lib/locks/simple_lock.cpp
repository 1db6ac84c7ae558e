// Who waits, and the session's ups and downs. The race itself is in simple_race.cpp.
#include "locks/simple_lock.hpp"

#include "line/parents.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::detail {

namespace {
using namespace std::chrono_literals;
constexpr auto patience = 250ms; ///< before what could not be done is tried again
} // namespace

simple_asking::simple_asking(std::shared_ptr<simple_lock> what,
                             handler<void(error_code, guard)>&& h, kind how)
    : asking(what->terms().client, std::move(h), how), lock_(std::move(what)) {}

void simple_asking::begin() {
    lock_->enter(std::static_pointer_cast<simple_asking>(shared_from_this()));
}

void simple_asking::abandoned() { lock_->leave(*this); }

void simple_tenure::release() { lock_->give_back(*this); }

void simple_tenure::when_gone(unique_function<void(error_code)> gone) {
    lock_->terms().client->sweeper().when_gone(marker, std::move(gone));
}

void simple_tenure::ended(error_code why) {
    if (why == errc::node_deleted) lock_->gone_by_hand(*this); // verify() has found out
}

simple_lock::~simple_lock() {
    if (following_ == 0) return;
    client().post([zk = terms_.client, who = following_, path = terms_.path, watch = watch_,
                   timer = std::move(pause_)] {
        zk->stop_waiting(who);
        if (watch != 0) zk->watches().drop(path, watch);
    });
}

void simple_lock::enter(caller who) {
    follow_session();
    if (who->only_if_free()) return look_first(std::move(who));
    waiting_.push_back(std::move(who));
    go_on();
}

/// Nothing is written when the lock is taken: what this object knows comes first, then a look.
void simple_lock::look_first(caller who) {
    if (!connected()) return who->fail(errc::not_connected, terms_.on_over_budget);
    if (stage_ != stage::idle || !waiting_.empty()) return who->finish({}, {});
    if (terms_.sync_first) catch_up(client(), lane::user, terms_.path);
    client().gate().submit(
        lane::user, answered_by::server, 0,
        [path = terms_.path](native::calls& c, std::unique_ptr<native::completion> done) {
            return c.exists(path, false, std::move(done));
        },
        [self = shared_from_this(), who](const native::reply& r) {
            if (!who->open()) return;
            if (self->client().closed()) return who->finish(self->client().close_reason(), {});
            const auto result = rules::judge(rules::request::look, r.rc);
            if (result == rules::outcome::lost || result == rules::outcome::not_sent)
                return who->fail(errc::not_connected, self->terms_.on_over_budget);
            const bool idle = self->stage_ == stage::idle && self->waiting_.empty();
            if (result == rules::outcome::done || !idle) return who->finish({}, {});
            if (result != rules::outcome::missing) return who->finish(zookeeper_error(r.rc), {});
            self->waiting_.push_back(who);
            self->go_on();
        });
}

void simple_lock::leave(const simple_asking& who) {
    std::erase_if(waiting_, [&](const caller& one) { return one.get() == &who; });
    if (!waiting_.empty()) return;
    switch (stage_) {
    case stage::saving:
        client().node_budget().stop_waiting(std::exchange(saving_, 0));
        break;
    case stage::unsure:
    case stage::settling:
        perhaps_made();
        break;
    case stage::watching:
        break;
    default: // what is under way comes to its end
        return go_on();
    }
    ++turn_;
    stage_ = stage::idle;
    go_on();
}

/// Takes the next step, if one can be taken.
void simple_lock::go_on() {
    if (stage_ != stage::idle || paused_) return;
    if (waiting_.empty()) return forget_watch(true);
    if (!connected()) return;
    reserve();
}

void simple_lock::pause() {
    paused_ = true;
    if (!pause_) pause_ = client().env().make_timer();
    pause_->arm(client().env().now() + patience, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->paused_ = false;
        if (self->connected()) self->on_state(client_state::connected);
    });
}

void simple_lock::reserve() {
    constexpr std::size_t length_fields = 8;
    const auto marker = rules::marker_name(client().claims(), 0, rules::name_of(terms_.path));
    const auto bytes =
        terms_.path.size() + terms_.directory.size() + 1 + marker.size() + length_fields;
    if (client().node_budget().take(bytes)) {
        bytes_ = bytes;
        return race();
    }
    if (terms_.on_over_budget == on_over_budget::fail) return fail_all(errc::over_budget);
    dismiss_impatient({});
    if (waiting_.empty()) return;
    stage_ = stage::saving;
    saving_ = client().node_budget().wait(bytes, [self = shared_from_this(), bytes] {
        self->saving_ = 0;
        self->bytes_ = bytes;
        if (self->connected()) return self->race();
        self->client().node_budget().give(std::exchange(self->bytes_, 0));
        self->stage_ = stage::idle;
    });
}

/// Those who only wanted to know whether it is free are told.
void simple_lock::dismiss_impatient(error_code why) {
    for (const auto& one : waiting_)
        if (one->only_if_free()) one->fail(why, terms_.on_over_budget);
    std::erase_if(waiting_, [](const caller& one) { return !one->open(); });
}

void simple_lock::prepare() {
    stage_ = stage::preparing;
    make_directory(client(), terms_.directory, terms_.persistent_parents,
                   [self = shared_from_this(), turn = turn_](int code) {
                       if (turn != self->turn_) return;
                       self->stage_ = stage::idle;
                       const auto result = rules::judge(rules::request::create, code);
                       if (result == rules::outcome::refused)
                           self->fail_all(zookeeper_error(code));
                       else if (result == rules::outcome::later)
                           self->pause();
                       self->go_on();
                   });
}

void simple_lock::fail_all(error_code why) {
    for (const auto& one : std::exchange(waiting_, {}))
        one->fail(why, terms_.on_over_budget);
    if (stage_ == stage::idle) go_on();
}

void simple_lock::give_back(const simple_tenure& what) {
    if (tenure_.get() != &what) return; // it was lost
    const auto marker = what.marker;
    client().sweeper().remove(marker, what.id, what.bytes);
    tenure_.reset();
    forget_watch(false); // the delete uses it up
    ++turn_;
    stage_ = stage::idle;
    if (waiting_.empty()) return;
    stage_ = stage::leaving;
    client().sweeper().when_gone(marker, [self = shared_from_this(), turn = turn_](error_code) {
        if (turn != self->turn_) return;
        self->stage_ = stage::idle;
        self->go_on();
    });
}

/// The marker goes alone: whoever has made a node of the lock's name since then is another.
void simple_lock::gone_by_hand(const simple_tenure& what) {
    if (tenure_.get() != &what) return;
    const auto lost = std::exchange(tenure_, {});
    client().sweeper().remove_alone(lost->marker, lost->id, lost->bytes);
    ++turn_;
    stage_ = stage::idle;
    if (const auto held = lost->held.lock()) held->end(errc::node_deleted);
    go_on();
}

void simple_lock::follow_session() {
    if (following_ != 0) return;
    following_ =
        client().when_not(client_state::connecting, [weak = weak_from_this()](client_state now) {
            const auto self = weak.lock();
            if (self) self->on_state(now);
            return self != nullptr;
        });
}

void simple_lock::on_state(client_state now) {
    if (now == client_state::expired) return on_expired();
    if (now == client_state::closed) return on_closed();
    if (now != client_state::connected) return;
    paused_ = false;
    if (pause_) pause_->cancel();
    if (stage_ == stage::unsure)
        settle();
    else if ((stage_ == stage::watching || stage_ == stage::holding) && !armed_)
        look();
    else
        go_on();
}

void simple_lock::on_expired() {
    ++turn_;
    watch_ = 0;
    armed_ = false;
    client().node_budget().give(std::exchange(bytes_, 0));
    if (stage_ != stage::saving) stage_ = stage::idle;
    if (const auto lost = std::exchange(tenure_, {})) {
        client().node_budget().give(lost->bytes);
        if (const auto held = lost->held.lock()) held->end(errc::session_expired);
    }
    if (terms_.on_expiry != on_expiry::fail) return;
    client().node_budget().stop_waiting(std::exchange(saving_, 0));
    stage_ = stage::idle;
    fail_all(errc::session_expired);
}

void simple_lock::on_closed() {
    ++turn_;
    watch_ = 0;
    pause_.reset();
    stage_ = stage::idle;
    if (saving_ != 0) client().node_budget().stop_waiting(std::exchange(saving_, 0));
    const auto why = client().close_reason();
    if (const auto lost = std::exchange(tenure_, {}))
        if (const auto held = lost->held.lock()) held->end(why);
    fail_all(why);
}

} // namespace paddock::detail
