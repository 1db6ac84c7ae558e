// Carries out what the rules decide.
#include "queue/lock_queue.hpp"
#include "queue/other_kinds.hpp"
#include "queue/restore_data.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "support/invariant.hpp"

#include <utility>

namespace paddock::detail {

std::string_view lock_queue::lock_path() const {
    return turn_only_ ? rules::parent(directory_) : directory_;
}

/// Where a grant is only a turn the calls look, at the lock's own path.
void lock_queue::look_for_other_kinds(const std::vector<std::string>& names) {
    const auto own = rules::kind_of(names_);
    if (!own || entries_.empty() || turn_only_) return;
    auto& others = core_.use<other_kinds>();
    if (others.due(directory_)) others.look(directory_, *own, names);
}

void lock_queue::after_actions() {
    if (entries_.empty())
        if (auto unused = delete_unused_directory())
            core_.dispatcher().submit(lane::urgent, std::move(*unused), [](const auto&) {});
    if (observers_ == 0) return;
    std::vector<std::shared_ptr<queue_user>> all;
    for (const auto& [key, entry] : entries_)
        if (entry.user) all.push_back(entry.user);
    for (const auto& one : all)
        one->queue_changed();
}

void lock_queue::carry_out(const rules::queue_act::create& a) {
    auto& entry = entries_.at(a.key);
    entry.revoke_requested = {};
    const auto& how = entry.how;
    auto path = path_of(names_.prefix(core_.claims(), a.id, how.rules.as, how.rules.style));
    core_.dispatcher().submit(
        lane::lock_work,
        requests::create{.path = std::move(path),
                         .data = entry.data(),
                         .how = how.nodes->how,
                         .mergeable = true,
                         .with_directory = a.with_directory},
        [self = shared_from_this(), key = a.key, id = a.id](const native::reply& r) {
            const auto result = rules::judge(rules::request_kind::create, r.rc);
            const bool sure = result != rules::outcome::lost && result != rules::outcome::missing;
            if (result == rules::outcome::done || !sure) self->unused_directory_ = false;
            self->report(&rules::queue::created, key, id,
                         rules::queue::created_answer{.result = result,
                                                      .code = r.rc,
                                                      .name = rules::name_of(r.value),
                                                      .czxid = r.stat ? r.stat->czxid : 0});
        },
        [this, key = a.key] { // the answer keeps the queue alive
            const auto it = entries_.find(key);
            return it != entries_.end() && !it->second.abandoned;
        });
}

void lock_queue::carry_out(const rules::queue_act::list& a) {
    auto done = [self = shared_from_this()](int code, std::vector<std::string> names) {
        const auto result = rules::judge(rules::request_kind::list, code);
        for (const auto& orphan : rules::orphans(names, self->core_.claims()))
            self->core_.sweeper().remove_orphan(self->path_of(orphan),
                                                *rules::own_id(orphan, self->core_.claims()));
        self->look_for_other_kinds(names);
        self->report(&rules::queue::listed, result, code, names);
    };
    if (a.settle)
        list_after_barrier(core_.dispatcher(), core_.claims(), lane::lock_work, directory_,
                           std::move(done));
    else
        list(core_.dispatcher(), lane::lock_work, directory_, std::move(done));
}

void lock_queue::carry_out(const rules::queue_act::watch_blocker& a) {
    read_node(a.name, false, [this, name = a.name](const rules::queue::own_answer& seen) {
        // Without a watch the rules read the node again after a pause.
        const bool unwatched = seen.result == rules::outcome::done && !seen.watched;
        report(&rules::queue::blocker_watched, name,
               unwatched ? rules::outcome::later : seen.result);
        if (seen.left_since) report(&rules::queue::blocker_left, name, *seen.left_since);
    });
}

void lock_queue::carry_out(const rules::queue_act::watch_own& a) {
    read_node(a.name, false, [this, a](const rules::queue::own_answer& seen) {
        report(&rules::queue::own_watched, a.key, a.id, seen);
    });
}

void lock_queue::carry_out(const rules::queue_act::forget& a) { forget_watch(a.name); }

void lock_queue::carry_out(const rules::queue_act::sweep& a) {
    const auto bytes = std::exchange(entries_.at(a.key).reserved, 0);
    if (a.with_directory)
        core_.sweeper().remove_with_directory(path_of(a.name), a.id, bytes);
    else
        core_.sweeper().remove(path_of(a.name), a.id, bytes, a.exists, keyed_ || made_by_locks());
}

void lock_queue::carry_out(const rules::queue_act::directory_refused& a) {
    core_.own_directories().refused(directory_, a.code);
}

void lock_queue::carry_out(const rules::queue_act::directory_shared&) {
    core_.own_directories().shared(directory_);
}

void lock_queue::carry_out(const rules::queue_act::directory_left& a) {
    core_.own_directories().left(directory_, a.made);
}

/// One multi replaces the node, so that the lock queue always shows exactly one of the two. If a
/// repeated multi was executed before, its first step fails because the new node exists.
void lock_queue::carry_out(const rules::queue_act::downgrade& a) {
    const auto& entry = entries_.at(a.key);
    core_.dispatcher().submit(
        lane::lock_work,
        requests::multi{{op::create{path_of(a.name), entry.data(), create_mode::ephemeral,
                                    entry.how.nodes->how->acl},
                         op::remove{path_of(a.old_name), any_version}}},
        [self = shared_from_this(), a](const native::reply& r) {
            const bool executed_before = zookeeper_error(r.rc) == zk_errc::node_exists;
            const auto result = executed_before ? rules::outcome::done
                                                : rules::judge(rules::request_kind::create, r.rc);
            self->report(&rules::queue::downgraded, a.key, a.id, result, r.rc);
        });
}

void lock_queue::carry_out(const rules::queue_act::taint& a) {
    entries_.at(a.key).lost_create = true;
    core_.sweeper().taint(directory_, 0);
}

void lock_queue::carry_out(const rules::queue_act::warn&) {
    core_.trouble(log_code::sequence_exhausted,
                  "half of the sequence numbers below " + directory_ +
                      " are used up: drain its locks and delete it",
                  directory_);
}

void lock_queue::carry_out(const rules::queue_act::grant& a) {
    auto& entry = entries_.at(a.key);
    invariant("a call is answered once", [&] { return entry.user && !entry.granted; });
    entry.granted = true;
    core_.young_holds().add([weak = weak_from_this(), key = a.key] {
        if (const auto self = weak.lock()) self->watch_held_node(key);
    });
    const auto user = entries_.at(a.key).user;
    user->granted(path_of(a.name), names_.token(a.name, a.czxid));
}

void lock_queue::watch_held_node(rules::contender_key key) {
    if (entries_.contains(key)) report(&rules::queue::watch_hold, key);
}

void lock_queue::carry_out(const rules::queue_act::give_up& a) {
    if (const auto user = take_answered(a.key)) user->given_up();
}

void lock_queue::carry_out(const rules::queue_act::fail& a) {
    if (const auto user = take_answered(a.key)) user->failed(failure_of(a.reason, a.code));
}

void lock_queue::carry_out(const rules::queue_act::request_revoke& a) {
    if (const auto user = entries_.at(a.key).user) user->revoke_requested();
}

void lock_queue::carry_out(const rules::queue_act::restore_data& a) {
    const auto it = entries_.find(a.key);
    if (it == entries_.end()) return;
    auto& entry = it->second;
    entry.revoke_requested = time_of(a.requested);
    restore_data(core_, requests::set{path_of(a.name), entry.data(), a.version});
}

void lock_queue::carry_out(const rules::queue_act::downgraded& a) {
    auto& entry = entries_.at(a.key);
    entry.how.rules.as = rules::role::shared; // see local_blocker()
    if (const auto user = entry.user) user->downgraded(path_of(a.key));
}

void lock_queue::carry_out(const rules::queue_act::downgrade_refused& a) {
    if (const auto user = entries_.at(a.key).user) user->downgrade_refused(zookeeper_error(a.code));
}

void lock_queue::carry_out(const rules::queue_act::lose& a) {
    if (const auto user = take_user(entries_.at(a.key)))
        user->lost(a.session_ended ? errc::session_expired : errc::node_deleted);
}

void lock_queue::carry_out(const rules::queue_act::out& a) {
    const auto it = entries_.find(a.key);
    take_user(it->second);
    const auto entry = std::move(it->second);
    entries_.erase(it);
    if (entry.lost_create && entry.reserved > 0)
        core_.sweeper().taint(directory_, entry.reserved);
    else
        core_.node_budget().release(entry.reserved);
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
                           std::optional<watch_table::waiter_id> waiter, const native::reply& r,
                           read_done done) {
    const auto result = rules::judge(rules::request_kind::look, r.rc);
    const auto it = watches_.find(name); // after forget and a new read this is another watch
    if (result == rules::outcome::done && waiter)
        core_.watches().armed(path_of(name), *waiter);
    else if (it != watches_.end() && it->second == waiter)
        forget_watch(name);
    if (result == rules::outcome::refused && !by_exists)
        return read_node(name, true, std::move(done));
    done({.result = result,
          .czxid = r.stat ? r.stat->czxid : 0,
          .watched = waiter.has_value(),
          .revoke = rules::revoke_request_in(r.value, r.stat),
          .left_since = rules::left_since(r.stat)});
}

std::optional<watch_table::waiter_id> lock_queue::set_watch(const std::string& name) {
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
    report(&rules::queue::node_event, name, deleted);
}

void lock_queue::forget_watch(const std::string& name) {
    const auto it = watches_.find(name);
    if (it == watches_.end()) return;
    const auto waiter = it->second;
    watches_.erase(it);
    core_.watches().drop(path_of(name), waiter);
}

} // namespace paddock::detail
