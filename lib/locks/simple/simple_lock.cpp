#include "locks/simple/simple_lock.hpp"

#include "queue/restore_data.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "rules/request_bytes.hpp"
#include "rules/revoke_requests.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

using rules::simple;

simple_call::simple_call(std::shared_ptr<simple_lock> what, handler<void(error_code, guard)>&& h,
                         kind how)
    : node_call(what->settings().client, std::move(h), how), lock_(std::move(what)) {}

void simple_call::join() {
    lock_->join(key_, std::static_pointer_cast<simple_call>(shared_from_this()));
}

void simple_call::abandoned() { lock_->quit(key_); }

bool simple_call::known_blocked() const { return lock_->known_blocked(); }

std::string_view simple_call::lock_path() const { return lock_->settings().path; }

const counted_lock* simple_call::counted() const noexcept {
    return lock_->settings().counted.get();
}

std::string simple_call::rights() const { return rights_in(lock_->settings().directory); }

void simple_resource::release() { lock_->report(&simple::release, id_); }

void simple_resource::when_deleted(unique_function<void(error_code)> gone) {
    lock_->settings().client->sweeper().when_deleted(marker_, std::move(gone));
}

void simple_resource::hold_ended(error_code why) {
    if (why == errc::node_deleted) lock_->report(&simple::gone, id_); // verify() has read it
}

simple_lock::~simple_lock() {
    if (!started_) return;
    core_.post([zk = settings_.client, watch = std::move(watch_), timer = std::move(pause_),
                pausing = std::exchange(pausing_, std::nullopt), stuck = std::move(stuck_),
                leftover = std::move(leftover_)] {
        if (watch) watch->forget();
    });
}

/// Not in the constructor, which may run on any thread.
void simple_lock::start() {
    if (std::exchange(started_, true)) return;
    watch_ = std::make_shared<rearming_watch>(core_.watches(), settings_.path, watch_kind::data,
                                              [weak = weak_from_this()](watch_event what) {
                                                  const auto self = weak.lock();
                                                  if (self)
                                                      self->report(&simple::changed,
                                                                   what == watch_event::deleted);
                                              });
    core_.listen(weak_from_this());
    make_rules(
        core_.claims(),
        rules::simple_terms{.fail_on_expiry = settings_.on_expiry == on_expiry::fail,
                            .fail_over_budget = settings_.on_over_budget == on_over_budget::fail});
}

void simple_lock::join(rules::caller_key& key, caller call) {
    start();
    if (const auto why = use_.begin(settings_.path, rules::lock_kind::simple_mutex))
        return call->fail(why);
    key = ++last_; // before the rules can complete the call
    const bool immediate = call->immediate();
    callers_.emplace(key, std::move(call));
    report(&simple::join, key, immediate);
}

void simple_lock::quit(rules::caller_key key) {
    if (callers_.erase(key) == 0) return;
    tell_leftovers();
    report(&simple::quit, key);
}

void simple_lock::after_actions() {
    if (rules_ && !rules_->in_use()) use_.end();
}

void simple_lock::on_closed(error_code why) {
    end_rules();
    if (const auto held = hold_.lock()) held->end(why);
    for (const auto& [key, one] : std::exchange(callers_, {}))
        one->finish(why, {});
}

std::string simple_lock::marker(rules::node_id id) const {
    return rules::child(settings_.directory,
                        rules::marker_name(core_.claims(), id, rules::name_of(settings_.path)));
}

bool simple_lock::of_session(const native::reply& r) const {
    return r.stat && r.stat->ephemeral_owner == core_.session_id();
}

/// The bytes of both nodes in the node budget.
std::size_t simple_lock::node_bytes() const {
    return settings_.path.size() + marker(0).size() + 2 * rules::length_field;
}

void simple_lock::carry_out(const rules::simple_act::glance& a) {
    if (settings_.sync_first) catch_up(core_.dispatcher(), lane::user, settings_.path);
    core_.dispatcher().submit(lane::user, requests::exists{settings_.path},
                              [self = shared_from_this(), key = a.key](const native::reply& r) {
                                  self->report(&simple::glanced, key,
                                               rules::judge(rules::request_kind::look, r.rc), r.rc);
                              });
}

void simple_lock::carry_out(const rules::simple_act::reserve&) {
    auto& all = core_.node_budget();
    if (!all.can_fit(node_bytes())) return report(&simple::too_large);
    if (all.reserve(node_bytes())) return report(&simple::reserved);
    core_.tell_over_budget(settings_.path);
    waiting_ = all.wait(node_bytes(), [self = shared_from_this()] {
        self->waiting_ = 0;
        self->report(&simple::reserved);
    });
    report(&simple::crowded);
}

void simple_lock::carry_out(const rules::simple_act::unreserve&) {
    if (const auto turn = std::exchange(waiting_, 0))
        core_.node_budget().stop_waiting(turn);
    else
        core_.node_budget().release(node_bytes());
}

void simple_lock::carry_out(const rules::simple_act::race& a) {
    raced_at_ = core_.env().wall_clock();
    data_ = settings_.data.at(raced_at_, core_.claims().text(a.id));
    core_.dispatcher().submit(
        lane::lock_work,
        requests::multi{{op::create{marker(a.id), data_, create_mode::ephemeral, settings_.acl},
                         op::create{settings_.path, data_, create_mode::ephemeral, settings_.acl}}},
        [self = shared_from_this(), id = a.id](const native::reply& r) {
            self->report(&simple::raced, id, rules::judge(rules::request_kind::create, r.rc), r.rc);
        },
        [this, id = a.id] {
            return rules_ && rules_->wants(id);
        }); // the answer keeps the lock alive
}

void simple_lock::carry_out(const rules::simple_act::look& a) {
    const auto waiter = watch_->set();
    core_.dispatcher().submit(
        lane::lock_work, requests::get{settings_.path, waiter != 0},
        [self = shared_from_this(), waiter, number = a.number](const native::reply& r) {
            self->report(
                &simple::looked, number,
                simple::looked_answer{.result = rules::judge(rules::request_kind::look, r.rc),
                                      .code = r.rc,
                                      .own_data = r.value == self->data_,
                                      .of_session = self->of_session(r),
                                      .czxid = r.stat ? r.stat->czxid : 0,
                                      .watched = self->watch_->answered(waiter, r.rc == 0),
                                      .revoke = rules::revoke_request_in(r.value, r.stat)});
            self->has_children_ = r.stat && r.stat->num_children > 0;
            self->report(&simple::owner_left, rules::left_since(r.stat));
        });
}

/// A node with children is no leftover of a simple lock, which is ephemeral and has none.
void simple_lock::explain(rules::leftover_nodes& nodes) {
    if (!has_children_ || std::exchange(nodes.found, {}).empty()) return;
    core_.trouble(log_code::two_kinds_of_lock,
                  "callers wait for the simple_mutex " + settings_.path +
                      " for ever: the node at its path has children, so it is the directory of "
                      "other locks. Give one of them another path",
                  settings_.path);
}

void simple_lock::carry_out(const rules::simple_act::forget&) { watch_->forget(); }

/// The check of the marker: a node that another contender has made meanwhile is not written to.
void simple_lock::carry_out(const rules::simple_act::restore_data& a) {
    const auto data = settings_.data.at(raced_at_, core_.claims().text(a.id), time_of(a.requested));
    restore_data(core_, requests::multi{{op::check{marker(a.id), any_version},
                                         op::set{settings_.path, data, a.version}}});
}

void simple_lock::carry_out(const rules::simple_act::request_revoke&) {
    const auto held = hold_.lock();
    if (!held) return;
    held->request_revoke();
    if (settings_.revocable) held->end(errc::revoked);
}

void simple_lock::carry_out(const rules::simple_act::sweep& a) {
    const auto path = marker(a.id);
    if (a.both)
        core_.sweeper().remove(path, a.id, node_bytes());
    else
        core_.sweeper().remove_alone(path, a.id, node_bytes());
    core_.sweeper().when_deleted(path, [self = shared_from_this(), id = a.id](error_code) {
        self->report(&simple::swept, id);
    });
}

void simple_lock::carry_out(const rules::simple_act::taint&) {
    core_.sweeper().taint(settings_.directory, 0);
}

void simple_lock::carry_out(const rules::simple_act::grant& a) {
    core_.prepare_releases();
    const auto what = std::make_shared<simple_resource>(shared_from_this(), a.id, marker(a.id));
    const auto held =
        std::make_shared<node_hold>(settings_.client, what, settings_.counted, settings_.path,
                                    settings_.path.size(), fencing_token{a.czxid, 0});
    held->add_node(marker(a.id));
    held->limit(settings_.hold_limit, core_.env().now());
    hold_ = held;
    finish(a.key, {}, access::make<guard>(held));
}

void simple_lock::carry_out(const rules::simple_act::give_up& a) { finish(a.key, {}, {}); }

void simple_lock::carry_out(const rules::simple_act::fail& a) {
    finish(a.key, failure_of(a.reason, a.code), {});
}

void simple_lock::carry_out(const rules::simple_act::lose& a) {
    if (const auto held = hold_.lock())
        held->end(a.session_ended ? errc::session_expired : errc::node_deleted);
}

/// Completes a call, unless it was completed before.
void simple_lock::finish(rules::caller_key key, error_code why, guard what) {
    const auto it = callers_.find(key);
    if (it == callers_.end()) return;
    const auto one = std::move(it->second);
    callers_.erase(it);
    if (core_.closed()) why = core_.close_reason();
    if (why)
        one->fail(why);
    else
        one->finish({}, std::move(what));
}

} // namespace paddock::detail
