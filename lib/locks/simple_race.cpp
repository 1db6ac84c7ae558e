// One race of a simple_lock: the questions, and what their answers mean.
#include "locks/simple_lock.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"

#include <array>
#include <utility>

namespace paddock::detail {

namespace {

constexpr std::size_t envelope = 64; // of a request, around paths and data

bool lost(rules::outcome what) {
    return what == rules::outcome::lost || what == rules::outcome::not_sent;
}

} // namespace

std::string simple_lock::marker() const {
    return rules::child(terms_.directory,
                        rules::marker_name(client().claims(), id_, rules::name_of(terms_.path)));
}

void simple_lock::race() {
    auto& ids = client().claims();
    stage_ = stage::racing;
    id_ = ids.claim();
    data_ = terms_.data.at(client().env().wall_clock(), ids.text(id_));
    made_ = made::no;
    refused_ = 0;
    client().gate().submit(
        lane::line, answered_by::quorum, bytes_ + 2 * (data_.size() + envelope),
        [self = shared_from_this(), turn = turn_,
         marker = marker()](native::calls& c, std::unique_ptr<native::completion> done) {
            if (turn != self->turn_ || self->waiting_.empty()) return native::code::invalid_state;
            const auto& t = self->terms_;
            const std::array<operation, 2> both{
                op::create{marker, self->data_, create_mode::ephemeral, t.acl},
                op::create{t.path, self->data_, create_mode::ephemeral, t.acl}};
            return c.multi(both, std::move(done));
        },
        [self = shared_from_this(), turn = turn_](const native::reply& r) {
            if (turn == self->turn_) self->raced(r);
        });
    look();
}

void simple_lock::raced(const native::reply& r) {
    refused_ = r.rc;
    if (r.rc == 0)
        made_ = made::yes;
    else if (rules::judge(rules::request::create, r.rc) == rules::outcome::lost)
        made_ = made::unknown;
}

/// Reads the lock's node, with a watch if there is room for one.
void simple_lock::look() {
    if (watch_ == 0 && client().watches().room_for(terms_.path))
        watch_ =
            client().watches().add(terms_.path, watch_kind::data,
                                   [weak = weak_from_this()](error_code over, watch_event what) {
                                       const auto self = weak.lock();
                                       if (self && !over) self->hear(what == watch_event::deleted);
                                   });
    client().gate().submit(
        lane::line, answered_by::server, terms_.path.size() + envelope,
        [path = terms_.path, watched = watch_ != 0](native::calls& c,
                                                    std::unique_ptr<native::completion> done) {
            return c.get(path, watched, std::move(done));
        },
        [self = shared_from_this(), turn = turn_, waiter = watch_](const native::reply& r) {
            if (turn == self->turn_) self->looked(waiter, r);
        });
}

void simple_lock::looked(watch_table::waiter waiter, const native::reply& r) {
    // An event that came first has used up the waiter, though not the watch that was set now.
    armed_ = r.rc == 0 && watch_ != 0 && watch_ == waiter;
    switch (stage_) {
    case stage::racing:
        return judge_race(r);
    case stage::settling:
        return judge_settling(r);
    case stage::watching:
        return judge_watch(r);
    case stage::holding:
        return judge_hold(r);
    default:
        return;
    }
}

void simple_lock::judge_race(const native::reply& r) {
    const auto seen = rules::judge(rules::request::look, r.rc);
    if (made_ == made::no) return lost_race(r);
    if (made_ == made::unknown || lost(seen) || seen == rules::outcome::later)
        return become_unsure();
    if (seen == rules::outcome::refused) { // the list of rights does not let us read our own node
        hand_over(true);
        stage_ = stage::idle;
        return fail_all(zookeeper_error(r.rc));
    }
    if (r.rc == 0 && r.value == data_) return grant(r.stat ? r.stat->czxid : 0);
    // Somebody has deleted it at once. What is there now is not ours.
    hand_over(false);
    if (r.rc == 0) return begin_to_watch();
    stage_ = stage::idle;
    go_on();
}

void simple_lock::become_unsure() {
    stage_ = stage::unsure;
    dismiss_impatient(errc::not_connected);
    if (waiting_.empty()) { // nobody needs to know
        perhaps_made();
        stage_ = stage::idle;
    }
    pause(); // a new connection ends it earlier
}

/// The multi was certainly not executed.
void simple_lock::lost_race(const native::reply& r) {
    const auto why = rules::judge(rules::request::create, refused_);
    not_made();
    stage_ = stage::idle;
    if (static_cast<zk_errc>(refused_) == zk_errc::node_exists) {
        const auto seen = rules::judge(rules::request::look, r.rc);
        // Gone already, or nobody knows: the next race tells.
        if (seen != rules::outcome::missing && !lost(seen)) return begin_to_watch();
    } else if (why == rules::outcome::missing) {
        return prepare();
    } else if (why == rules::outcome::refused) {
        return fail_all(zookeeper_error(refused_));
    } else if (why == rules::outcome::later) {
        return pause();
    } else if (why == rules::outcome::not_sent) {
        dismiss_impatient(errc::not_connected);
    }
    go_on();
}

void simple_lock::settle() {
    stage_ = stage::settling;
    look();
}

/// The ids in the node's data say whose it is. A server that lags behind may not show our node yet:
/// then it is deleted, and made again.
void simple_lock::judge_settling(const native::reply& r) {
    const auto seen = rules::judge(rules::request::look, r.rc);
    if (lost(seen) || seen == rules::outcome::later) return become_unsure();
    if (r.rc == 0 && r.value == data_) return grant(r.stat ? r.stat->czxid : 0);
    perhaps_made();
    if (r.rc == 0) return begin_to_watch();
    stage_ = stage::idle;
    if (seen == rules::outcome::refused) pause();
    go_on();
}

void simple_lock::begin_to_watch() {
    stage_ = stage::watching;
    dismiss_impatient({});
    if (waiting_.empty()) {
        stage_ = stage::idle;
        return go_on();
    }
    if (armed_) return;
    if (watch_ == 0 && client().watches().room_for(terms_.path))
        look(); // its event came before the answer
    else
        pause(); // it may not be read, or there is no room: look again and again
}

void simple_lock::judge_watch(const native::reply& r) {
    const auto seen = rules::judge(rules::request::look, r.rc);
    if (lost(seen)) return; // on_state() looks again
    if (seen != rules::outcome::missing) return begin_to_watch();
    stage_ = stage::idle;
    go_on();
}

void simple_lock::judge_hold(const native::reply& r) {
    const auto seen = rules::judge(rules::request::look, r.rc);
    const bool another = r.rc == 0 && r.stat && r.stat->czxid != czxid_;
    if (seen == rules::outcome::missing || another) return gone_by_hand(*tenure_);
    if (lost(seen) || armed_) return;
    if (r.rc == 0 && watch_ == 0 && client().watches().room_for(terms_.path))
        look();
    else
        pause();
}

void simple_lock::grant(std::int64_t czxid) {
    stage_ = stage::holding;
    czxid_ = czxid;
    tenure_ = std::make_shared<simple_tenure>(shared_from_this(), marker(), id_,
                                              std::exchange(bytes_, 0));
    if (waiting_.empty()) return give_back(*tenure_);
    client().expect_returns();
    const auto held = std::make_shared<hold>(terms_.client, tenure_, terms_.path, czxid);
    held->add_node(tenure_->marker);
    tenure_->held = held;
    const auto who = std::move(waiting_.front());
    waiting_.pop_front();
    dismiss_impatient({});
    who->finish({}, guard(held));
    if (!armed_) look();
}

void simple_lock::not_made() {
    client().claims().release(std::exchange(id_, 0));
    client().node_budget().give(std::exchange(bytes_, 0));
}

/// Nobody needs the nodes of this race, if there are any; and a server may yet make them.
void simple_lock::perhaps_made() {
    hand_over(true);
    client().sweeper().taint(terms_.directory, 0);
}

/// The marker is the sweeper's from now on, with the lock's node or alone.
void simple_lock::hand_over(bool both) {
    const auto path = marker();
    const auto id = std::exchange(id_, 0);
    const auto bytes = std::exchange(bytes_, 0);
    if (both)
        client().sweeper().remove(path, id, bytes);
    else
        client().sweeper().remove_alone(path, id, bytes);
}

void simple_lock::hear(bool deleted) {
    watch_ = 0;
    armed_ = false;
    if (stage_ == stage::holding) {
        if (deleted) return gone_by_hand(*tenure_);
        look();
    } else if (stage_ == stage::watching) {
        if (!deleted) return look();
        stage_ = stage::idle;
        ++turn_;
        go_on();
    }
}

void simple_lock::forget_watch(bool tell) {
    const auto waiter = std::exchange(watch_, 0);
    const bool armed = std::exchange(armed_, false);
    if (waiter == 0) return;
    if (tell && armed)
        client().watches().drop(terms_.path, waiter);
    else
        client().watches().not_armed(terms_.path, waiter);
}

} // namespace paddock::detail
