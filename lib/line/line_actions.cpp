// What the rules decide, carried out.
#include "line/line.hpp"
#include "line/parents.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

void line::carry_out() {
    if (std::exchange(carrying_out_, true)) return; // the loop below sees what was added
    for (auto actions = rules_.take(); !actions.empty() && !closed_; actions = rules_.take())
        for (const auto& action : actions)
            std::visit([this](const auto& a) { carry_out(a); }, action);
    carrying_out_ = false;
    if (observers_ > 0) tell_moves();
}

void line::tell_moves() {
    std::vector<std::shared_ptr<entrant>> all;
    for (const auto& [key, place] : seats_)
        if (place.who) all.push_back(place.who);
    for (const auto& one : all)
        one->moved();
}

void line::carry_out(const rules::act::create& a) {
    const auto& terms = seats_.at(a.who).how.rules;
    auto path = path_of(names_.prefix(core_.claims(), a.id, terms.as, terms.names));
    const auto bytes = path.size() + seats_.at(a.who).how.data.size() + request_envelope;
    core_.gate().submit(
        lane::line, answered_by::quorum, bytes,
        [self = shared_from_this(), a,
         path = std::move(path)](native::calls& c, std::unique_ptr<native::completion> done) {
            const auto it = self->seats_.find(a.who);
            if (it == self->seats_.end() || it->second.left) return native::code::invalid_state;
            const auto& how = it->second.how;
            return c.create(path, how.data,
                            {.mode = create_mode::ephemeral_sequential, .acl = how.acl, .ttl = {}},
                            std::move(done));
        },
        [self = shared_from_this(), a](const native::reply& r) {
            self->facts().created(a.who, a.id,
                                  {.result = rules::judge(rules::request::create, r.rc),
                                   .code = r.rc,
                                   .name = rules::name_of(r.value),
                                   .czxid = r.stat ? r.stat->czxid : 0});
            self->carry_out();
        });
}

void line::carry_out(const rules::act::list& a) {
    auto done = [self = shared_from_this()](int code, std::vector<std::string> names) {
        const auto result = rules::judge(rules::request::list, code);
        for (const auto& orphan : rules::orphans(names, self->core_.claims()))
            self->core_.sweeper().remove(self->path_of(orphan),
                                         *rules::own_id(orphan, self->core_.claims()), 0);
        self->facts().listed(result, code, names);
        self->carry_out();
    };
    if (a.settle)
        list_after_barrier(core_, lane::line, directory_, std::move(done));
    else
        list(core_, lane::line, directory_, std::move(done));
}

void line::carry_out(const rules::act::make_parents&) {
    make_directory(core_, directory_, persistent_parents_, [self = shared_from_this()](int code) {
        self->facts().parents_made(rules::judge(rules::request::create, code), code);
        self->carry_out();
    });
}

void line::carry_out(const rules::act::watch_blocker& a) {
    look(a.name, false, [this, name = a.name](const look_result& seen) {
        // Without a watch the node is looked at again and again.
        const bool unwatched = seen.result == rules::outcome::done && !seen.watched;
        facts().blocker_watched(name, unwatched ? rules::outcome::later : seen.result);
    });
}

void line::carry_out(const rules::act::watch_own& a) {
    look(a.name, false, [this, a](const look_result& seen) {
        facts().own_watched(a.who, a.id, {seen.result, seen.czxid, seen.watched, seen.asked_back});
    });
}

void line::carry_out(const rules::act::forget& a) { forget_watch(a.name, true); }

void line::carry_out(const rules::act::sweep& a) {
    auto& place = seats_.at(a.who);
    core_.sweeper().remove(path_of(a.name), a.id, std::exchange(place.reserved, 0));
}

/// A multi, so that there is no moment without a node, and none with two. If it was executed
/// before, its first step finds the node there.
void line::carry_out(const rules::act::downgrade& a) {
    const auto& acl = seats_.at(a.who).how.acl;
    const auto& data = seats_.at(a.who).how.data;
    std::vector<operation> steps{op::create{path_of(a.name), data, create_mode::ephemeral, acl},
                                 op::remove{path_of(a.old_name), any_version}};
    core_.gate().submit(
        lane::line, answered_by::quorum, directory_.size() * 2 + data.size() + 2 * request_envelope,
        [steps = std::move(steps)](native::calls& c, std::unique_ptr<native::completion> done) {
            return c.multi(steps, std::move(done));
        },
        [self = shared_from_this(), a](const native::reply& r) {
            const bool before = zookeeper_error(r.rc) == zk_errc::node_exists;
            const auto result =
                before ? rules::outcome::done : rules::judge(rules::request::look, r.rc);
            self->facts().downgraded(a.who, a.id, result);
            self->carry_out();
        });
}

void line::carry_out(const rules::act::taint& a) {
    seats_.at(a.who).lost_create = true;
    core_.sweeper().taint(directory_, 0);
}

void line::carry_out(const rules::act::pause&) {
    if (!pause_) pause_ = core_.env().make_timer();
    pause_->arm(core_.env().now() + retry_pause, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->facts().resume();
        self->carry_out();
    });
}

void line::carry_out(const rules::act::await_lease&) {
    core_.lease().when_fit([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->facts().lease_renewed();
        self->carry_out();
    });
}

void line::carry_out(const rules::act::warn&) {
    core_.trouble("half of the sequence numbers below " + directory_ +
                  " are used up: drain its locks and delete it");
}

void line::carry_out(const rules::act::grant& a) {
    auto& place = seats_.at(a.who);
    place.granted = true;
    core_.young_holds().add([weak = weak_from_this(), who = a.who] {
        if (const auto self = weak.lock()) self->grown_old(who);
    });
    const auto who = seats_.at(a.who).who;
    who->granted(path_of(a.name), a.czxid);
}

void line::grown_old(rules::contender_key who) {
    if (!seats_.contains(who)) return;
    facts().guard_own(who);
    carry_out();
}

void line::carry_out(const rules::act::give_up& a) {
    if (const auto who = std::exchange(seats_.at(a.who).who, {})) who->given_up();
}

void line::carry_out(const rules::act::fail& a) {
    const auto who = std::exchange(seats_.at(a.who).who, {});
    if (!who) return;
    switch (a.reason) {
    case rules::act::why::refused:
        return who->failed(zookeeper_error(a.code));
    case rules::act::why::sequence_exhausted:
        return who->failed(errc::sequence_exhausted);
    case rules::act::why::session_expired:
        return who->failed(errc::session_expired);
    case rules::act::why::not_connected:
        return who->failed(errc::not_connected);
    }
}

void line::carry_out(const rules::act::ask_back& a) {
    if (const auto who = seats_.at(a.who).who) who->asked_back();
}

void line::carry_out(const rules::act::downgraded& a) {
    if (const auto who = seats_.at(a.who).who) who->downgraded(path_of(a.who));
}

void line::carry_out(const rules::act::lose& a) {
    if (const auto who = std::exchange(seats_.at(a.who).who, {}))
        who->lost(a.session_over ? errc::session_expired : errc::node_deleted);
}

void line::carry_out(const rules::act::out& a) {
    const auto it = seats_.find(a.who);
    const auto place = std::move(it->second);
    seats_.erase(it);
    if (place.lost_create && place.reserved > 0)
        core_.sweeper().taint(directory_, place.reserved);
    else
        core_.node_budget().give(place.reserved);
}

/// Reads a node, with a watch if there is room for one. One that may not be read is only looked
/// for: ZooKeeper asks for no right to see whether a node exists, but since 3.8.4, and in
/// Debian's 3.8.0, it tells no watch of a node that may not be read (CVE-2024-23944).
void line::look(const std::string& name, bool by_exists, looked done) {
    const auto waiter = by_exists ? std::nullopt : set_watch(name);
    const bool watched = waiter.has_value();
    const auto path = path_of(name);
    core_.gate().submit(
        lane::line, answered_by::server, path.size() + request_envelope,
        [path, by_exists, watched](native::calls& c, std::unique_ptr<native::completion> answer) {
            return by_exists ? c.exists(path, false, std::move(answer))
                             : c.get(path, watched, std::move(answer));
        },
        [self = shared_from_this(), name, by_exists, waiter,
         done = std::move(done)](const native::reply& r) mutable {
            self->look_answered(name, by_exists, waiter, r, std::move(done));
        });
}

void line::look_answered(const std::string& name, bool by_exists,
                         std::optional<watch_table::waiter> waiter, const native::reply& r,
                         looked done) {
    const auto result = rules::judge(rules::request::look, r.rc);
    const auto it = watches_.find(name); // another, if it was forgotten and asked for again
    if (result != rules::outcome::done && it != watches_.end() && it->second == waiter)
        forget_watch(name, false);
    if (result == rules::outcome::refused && !by_exists) return look(name, true, std::move(done));
    done(
        {result, r.stat ? r.stat->czxid : 0, waiter.has_value(), r.value == rules::revoke_message});
    carry_out();
}

std::optional<watch_table::waiter> line::set_watch(const std::string& name) {
    if (const auto it = watches_.find(name); it != watches_.end()) return it->second;
    const auto path = path_of(name);
    if (!core_.watches().room_for(path)) return std::nullopt;
    const auto waiter = core_.watches().add(
        path, watch_kind::data, [weak = weak_from_this(), name](error_code over, watch_event what) {
            const auto self = weak.lock();
            if (self && !over) self->hear(name, what == watch_event::deleted);
        });
    watches_.emplace(name, waiter);
    return waiter;
}

void line::hear(const std::string& name, bool deleted) {
    watches_.erase(name);
    facts().node_event(name, deleted);
    carry_out();
}

void line::forget_watch(const std::string& name, bool armed) {
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
