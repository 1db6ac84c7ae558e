// Carries out what the rules decide.
#include "queue/lock_queue.hpp"
#include "queue/parents.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

void lock_queue::carry_out() {
    if (std::exchange(carrying_out_, true)) return; // the outer call's loop takes the new actions
    for (auto actions = rules_.take(); !actions.empty() && !closed_; actions = rules_.take())
        for (const auto& action : actions)
            std::visit([this](const auto& a) { carry_out(a); }, action);
    carrying_out_ = false;
    update_stuck_timer();
    if (observers_ > 0) notify_observers();
}

void lock_queue::update_stuck_timer() {
    if (closed_ || !rules_.perhaps_stuck()) return stuck_.stop();
    if (!stuck_.looks()) stuck_.begin(stuck_report());
}

unique_function<void()> lock_queue::stuck_report() {
    return [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        const auto found = self->updated_rules().stuck(self->stuck_.patience());
        const auto& entries = self->entries_;
        const bool permits = !entries.empty() && entries.begin()->second.how.rules.passing;
        self->stuck_.tell(found, permits ? "permits" : "a lock", self->directory_,
                          self->stuck_report());
    };
}

void lock_queue::notify_observers() {
    std::vector<std::shared_ptr<queue_user>> all;
    for (const auto& [key, entry] : entries_)
        if (entry.user) all.push_back(entry.user);
    for (const auto& one : all)
        one->queue_changed();
}

void lock_queue::carry_out(const rules::queue_act::create& a) {
    const auto& how = entries_.at(a.key).how;
    auto path = path_of(names_.prefix(core_.claims(), a.id, how.rules.as, how.rules.names));
    core_.dispatcher().submit(
        lane::lock_work,
        requests::create{std::move(path),
                         how.data,
                         {.mode = create_mode::ephemeral_sequential, .acl = how.acl, .ttl = {}}},
        [self = shared_from_this(), a](const native::reply& r) {
            self->updated_rules().created(a.key, a.id,
                                          {.result = rules::judge(rules::request::create, r.rc),
                                           .code = r.rc,
                                           .name = rules::name_of(r.value),
                                           .czxid = r.stat ? r.stat->czxid : 0});
            self->carry_out();
        },
        [this, key = a.key] { // the answer keeps the queue
            const auto it = entries_.find(key);
            return it != entries_.end() && !it->second.abandoned;
        });
}

void lock_queue::carry_out(const rules::queue_act::list& a) {
    auto done = [self = shared_from_this()](int code, std::vector<std::string> names) {
        const auto result = rules::judge(rules::request::list, code);
        for (const auto& orphan : rules::orphans(names, self->core_.claims()))
            self->core_.sweeper().remove(self->path_of(orphan),
                                         *rules::own_id(orphan, self->core_.claims()), 0);
        self->updated_rules().listed(result, code, names);
        self->carry_out();
    };
    if (a.settle)
        list_after_barrier(core_, lane::lock_work, directory_, std::move(done));
    else
        list(core_, lane::lock_work, directory_, std::move(done));
}

void lock_queue::carry_out(const rules::queue_act::make_parents&) {
    make_directory(core_, directory_, persistent_parents_, [self = shared_from_this()](int code) {
        self->updated_rules().parents_made(rules::judge(rules::request::create, code), code);
        self->carry_out();
    });
}

void lock_queue::carry_out(const rules::queue_act::watch_blocker& a) {
    read_node(a.name, false, [this, name = a.name](const read_result& seen) {
        // Without a watch the rules read the node again after a pause.
        const bool unwatched = seen.result == rules::outcome::done && !seen.watched;
        updated_rules().blocker_watched(name, unwatched ? rules::outcome::later : seen.result);
    });
}

void lock_queue::carry_out(const rules::queue_act::watch_own& a) {
    read_node(a.name, false, [this, a](const read_result& seen) {
        updated_rules().own_watched(a.key, a.id,
                                    {seen.result, seen.czxid, seen.watched, seen.revoke_requested});
    });
}

void lock_queue::carry_out(const rules::queue_act::forget& a) { forget_watch(a.name, true); }

void lock_queue::carry_out(const rules::queue_act::sweep& a) {
    auto& entry = entries_.at(a.key);
    core_.sweeper().remove(path_of(a.name), a.id, std::exchange(entry.reserved, 0));
}

/// One multi replaces the node, so that the lock queue always shows exactly one of the two. If a
/// repeated multi was executed before, its first step fails because the new node exists.
void lock_queue::carry_out(const rules::queue_act::downgrade& a) {
    const auto& acl = entries_.at(a.key).how.acl;
    const auto& data = entries_.at(a.key).how.data;
    core_.dispatcher().submit(
        lane::lock_work,
        requests::multi{{op::create{path_of(a.name), data, create_mode::ephemeral, acl},
                         op::remove{path_of(a.old_name), any_version}}},
        [self = shared_from_this(), a](const native::reply& r) {
            const bool executed_before = zookeeper_error(r.rc) == zk_errc::node_exists;
            const auto result =
                executed_before ? rules::outcome::done : rules::judge(rules::request::create, r.rc);
            self->updated_rules().downgraded(a.key, a.id, result, r.rc);
            self->carry_out();
        });
}

void lock_queue::carry_out(const rules::queue_act::taint& a) {
    entries_.at(a.key).lost_create = true;
    core_.sweeper().taint(directory_, 0);
}

void lock_queue::carry_out(const rules::queue_act::pause&) {
    if (!pause_) pause_ = core_.env().make_timer();
    pause_->arm(core_.env().now() + retry_pause, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->updated_rules().resume();
        self->carry_out();
    });
}

void lock_queue::carry_out(const rules::queue_act::await_lease&) {
    core_.lease().when_fit([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->updated_rules().lease_renewed();
        self->carry_out();
    });
}

void lock_queue::carry_out(const rules::queue_act::warn&) {
    core_.trouble(trouble_kind::exhaustion, "half of the sequence numbers below " + directory_ +
                                                " are used up: drain its locks and delete it");
}

void lock_queue::carry_out(const rules::queue_act::grant& a) {
    auto& entry = entries_.at(a.key);
    entry.granted = true;
    core_.young_holds().add([weak = weak_from_this(), key = a.key] {
        if (const auto self = weak.lock()) self->watch_held_node(key);
    });
    const auto user = entries_.at(a.key).user;
    user->granted(path_of(a.name), a.czxid);
}

void lock_queue::watch_held_node(rules::contender_key key) {
    if (!entries_.contains(key)) return;
    updated_rules().guard_own(key);
    carry_out();
}

void lock_queue::carry_out(const rules::queue_act::give_up& a) {
    if (const auto user = std::exchange(entries_.at(a.key).user, {})) user->given_up();
}

void lock_queue::carry_out(const rules::queue_act::fail& a) {
    const auto user = std::exchange(entries_.at(a.key).user, {});
    if (!user) return;
    switch (a.reason) {
    case rules::queue_act::why::refused:
        return user->failed(zookeeper_error(a.code));
    case rules::queue_act::why::sequence_exhausted:
        return user->failed(errc::sequence_exhausted);
    case rules::queue_act::why::session_expired:
        return user->failed(errc::session_expired);
    case rules::queue_act::why::not_connected:
        return user->failed(errc::not_connected);
    }
}

void lock_queue::carry_out(const rules::queue_act::request_revoke& a) {
    if (const auto user = entries_.at(a.key).user) user->revoke_requested();
}

void lock_queue::carry_out(const rules::queue_act::downgraded& a) {
    if (const auto user = entries_.at(a.key).user) user->downgraded(path_of(a.key));
}

void lock_queue::carry_out(const rules::queue_act::downgrade_refused& a) {
    if (const auto user = entries_.at(a.key).user) user->downgrade_refused(zookeeper_error(a.code));
}

void lock_queue::carry_out(const rules::queue_act::lose& a) {
    if (const auto user = std::exchange(entries_.at(a.key).user, {}))
        user->lost(a.session_ended ? errc::session_expired : errc::node_deleted);
}

void lock_queue::carry_out(const rules::queue_act::out& a) {
    const auto it = entries_.find(a.key);
    const auto entry = std::move(it->second);
    entries_.erase(it);
    if (entry.lost_create && entry.reserved > 0)
        core_.sweeper().taint(directory_, entry.reserved);
    else
        core_.node_budget().give(entry.reserved);
}

/// Reads a node, with a watch if the budget allows one. For a node that the client may not read it
/// only asks whether the node exists: ZooKeeper requires no right for that, but since 3.8.4, and in
/// Debian's 3.8.0, it triggers no watch of a node that the client may not read (CVE-2024-23944).
void lock_queue::read_node(const std::string& name, bool by_exists, read_done done) {
    const auto waiter = by_exists ? std::nullopt : set_watch(name);
    request reads = requests::get{path_of(name), waiter.has_value()};
    if (by_exists) reads = requests::exists{path_of(name)};
    core_.dispatcher().submit(lane::lock_work, std::move(reads),
                              [self = shared_from_this(), name, by_exists, waiter,
                               done = std::move(done)](const native::reply& r) mutable {
                                  self->node_read(name, by_exists, waiter, r, std::move(done));
                              });
}

void lock_queue::node_read(const std::string& name, bool by_exists,
                           std::optional<watch_table::waiter> waiter, const native::reply& r,
                           read_done done) {
    const auto result = rules::judge(rules::request::look, r.rc);
    const auto it = watches_.find(name); // after forget and a new read this is another watch
    if (result != rules::outcome::done && it != watches_.end() && it->second == waiter)
        forget_watch(name, false);
    if (result == rules::outcome::refused && !by_exists)
        return read_node(name, true, std::move(done));
    done(
        {result, r.stat ? r.stat->czxid : 0, waiter.has_value(), r.value == rules::revoke_message});
    carry_out();
}

std::optional<watch_table::waiter> lock_queue::set_watch(const std::string& name) {
    if (const auto it = watches_.find(name); it != watches_.end()) return it->second;
    const auto path = path_of(name);
    if (!core_.watches().room_for(path, watch_kind::data)) return std::nullopt;
    const auto waiter =
        core_.watches().add(path, watch_kind::data,
                            [weak = weak_from_this(), name](error_code ended, watch_event what) {
                                const auto self = weak.lock();
                                if (self && !ended)
                                    self->on_node_event(name, what == watch_event::deleted);
                            });
    watches_.emplace(name, waiter);
    return waiter;
}

void lock_queue::on_node_event(const std::string& name, bool deleted) {
    watches_.erase(name);
    updated_rules().node_event(name, deleted);
    carry_out();
}

void lock_queue::forget_watch(const std::string& name, bool armed) {
    const auto it = watches_.find(name);
    if (it == watches_.end()) return;
    const auto waiter = it->second;
    watches_.erase(it);
    if (armed)
        core_.watches().drop(path_of(name), waiter);
    else
        core_.watches().not_armed(path_of(name), waiter);
}

} // namespace paddock::detail
