// What the rules decide, carried out.
#include "locks/semaphore/semaphore_call.hpp"
#include "queue/other_kinds.hpp"
#include "queue/restore_data.hpp"
#include "rules/names.hpp"
#include "rules/paths.hpp"
#include "rules/revoke_requests.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

std::string semaphore_call::path_of(std::string_view name) const {
    return rules::child(lock_->directory, name);
}

std::shared_ptr<rearming_watch> semaphore_call::make_watch(std::string path, watch_kind kind,
                                                           void (*heard)(semaphore_call&,
                                                                         watch_event)) {
    return std::make_shared<rearming_watch>(client()->watches(), std::move(path), kind,
                                            [weak = weak_self(), heard](watch_event what) {
                                                if (const auto self = weak.lock())
                                                    heard(*self, what);
                                            });
}

/// The rules decide the sweeps before, so that the next contender finds the permit nodes deleted.
void semaphore_call::carry_out(const rules::permit_act::leave&) {
    if (const auto turn = std::exchange(waiting_, 0))
        return client()->node_budget().stop_waiting(turn);
    const auto key = std::exchange(key_, 0);
    if (std::exchange(admitted_, false))
        queue_->release(key, false);
    else
        queue_->quit(key);
}

void semaphore_call::carry_out(const rules::permit_act::create& a) {
    const auto path = path_of(lease_prefix(*lock_, a.id));
    const auto& nodes = *lock_->queue.nodes;
    const auto now = created_at_[a.id] = client()->env().wall_clock();
    client()->dispatcher().submit(
        lane::lock_work, requests::create{path, nodes.data.at(now), nodes.how, true},
        [self = self(), id = a.id](const native::reply& r) {
            self->report(&rules::permits::created, id,
                         rules::permits::created_answer{
                             .result = rules::judge(rules::request_kind::create, r.rc),
                             .code = r.rc,
                             .name = rules::name_of(r.value)});
        },
        [this] { return !settled_; }); // the answer keeps the call alive
}

void semaphore_call::carry_out(const rules::permit_act::list& a) {
    if (!directory_watch_)
        directory_watch_ = make_watch(lock_->directory, watch_kind::children,
                                      [](semaphore_call& call, watch_event) {
                                          call.report(&rules::permits::directory_changed);
                                      });
    const auto waiter = directory_watch_->set();
    auto done = [self = self(), watch = directory_watch_, waiter,
                 number = a.number](int code, std::vector<std::string> names) {
        auto& client = *self->client();
        const bool watched = watch->answered(waiter, code == 0);
        if (!self->rules_) return;
        for (const auto& orphan : rules::orphans(names, client.claims()))
            client.sweeper().remove(self->path_of(orphan), *rules::own_id(orphan, client.claims()),
                                    0);
        const auto result = rules::judge(rules::request_kind::list, code);
        self->report(&rules::permits::listed, number,
                     rules::permits::looked_answer{result, code, watched}, names);
    };
    if (a.settle)
        list_after_barrier(client()->dispatcher(), client()->claims(), lane::lock_work,
                           lock_->directory, std::move(done), waiter != 0);
    else
        list(client()->dispatcher(), lane::lock_work, lock_->directory, std::move(done),
             waiter != 0);
    look_for_other_kinds();
}

/// Of the lock's path, which its queue and its permit nodes are below.
void semaphore_call::look_for_other_kinds() {
    const std::string path(lock_path());
    if (!client()->use<other_kinds>().due(path)) return;
    list(client()->dispatcher(), lane::lock_work, path,
         [self = self(), path](int, const std::vector<std::string>& names) {
             self->client()->use<other_kinds>().look(path, rules::lock_kind::semaphore, names);
         });
}

void semaphore_call::carry_out(const rules::permit_act::read_permits& a) {
    if (!counter_watch_)
        counter_watch_ =
            make_watch(lock_->counter, watch_kind::data, [](semaphore_call& call, watch_event) {
                call.report(&rules::permits::counter_changed);
            });
    watch_permits(*client(), lock_, counter_watch_,
                  [self = self(), number = a.number](const permits_answer& said) {
                      const auto result = rules::judge(rules::request_kind::list, said.code);
                      self->report(&rules::permits::permits_read, number,
                                   rules::permits::looked_answer{result, said.code, said.watched},
                                   said.permits);
                  });
}

void semaphore_call::carry_out(const rules::permit_act::forget&) {
    directory_watch_.reset();
    counter_watch_.reset();
    own_.clear();
}

void semaphore_call::carry_out(const rules::permit_act::watch_own& a) {
    auto& watch = own_[a.id];
    if (!watch)
        watch = std::make_shared<rearming_watch>(
            client()->watches(), path_of(a.name), watch_kind::data,
            [weak = weak_self(), id = a.id](watch_event what) {
                if (const auto self = weak.lock())
                    self->report(&rules::permits::own_changed, id, what == watch_event::deleted);
            });
    const auto waiter = watch->set();
    client()->dispatcher().submit(
        lane::lock_work, requests::get{watch->path(), waiter != 0},
        [self = self(), watch, waiter, id = a.id](const native::reply& r) {
            const bool watched = watch->answered(waiter, r.rc == 0);
            const auto result = rules::judge(rules::request_kind::look, r.rc);
            self->report(&rules::permits::own_watched, id,
                         rules::permits::looked_answer{result, r.rc, watched,
                                                       rules::revoke_request_in(r.value, r.stat)});
        });
}

void semaphore_call::carry_out(const rules::permit_act::restore_data& a) {
    const auto& data = lock_->queue.nodes->data;
    restore_data(*client(),
                 requests::set{path_of(a.name),
                               data.at(created_at_[a.id], {}, time_of(a.requested)), a.version});
}

void semaphore_call::carry_out(const rules::permit_act::request_revoke&) {
    const auto held = hold_.lock();
    if (!held) return;
    held->request_revoke();
    if (lock_->queue.revocable) held->end(errc::revoked);
}

void semaphore_call::carry_out(const rules::permit_act::look& a) {
    client()->dispatcher().submit(lane::lock_work, requests::exists{path_of(a.name)},
                                  [self = self(), name = a.name](const native::reply& r) {
                                      self->report(&rules::permits::other_seen, name,
                                                   rules::judge(rules::request_kind::look, r.rc),
                                                   rules::left_since(r.stat));
                                      self->look_for_leftovers();
                                  });
}

/// The sweeper releases the bytes, unless the call will create another permit node instead.
void semaphore_call::carry_out(const rules::permit_act::sweep& a) {
    created_at_.erase(a.id);
    const auto bytes = settled_ ? std::min(bytes_each_, bytes_) : 0;
    bytes_ -= bytes;
    client()->sweeper().remove(path_of(a.name), a.id, bytes);
}

void semaphore_call::carry_out(const rules::permit_act::taint&) {
    lost_create_ = true;
    client()->sweeper().taint(lock_->directory, 0);
}

void semaphore_call::carry_out(const rules::permit_act::grant& a) {
    for (const auto& name : a.names)
        paths_.push_back(path_of(name));
    client()->prepare_releases();
    const auto granted =
        std::make_shared<node_hold>(client(), self(), lock_->queue.counted, paths_.front(),
                                    rules::parent(lock_->directory).size(), fencing_token());
    for (std::size_t i = 1; i < paths_.size(); ++i)
        granted->add_node(paths_[i]);
    granted->limit(lock_->queue.hold_limit, client()->env().now());
    hold_ = granted;
    held_ = true;
    queue_->outside_hold(true);
    client()->young_holds().add([weak = weak_self()] {
        if (const auto self = weak.lock()) self->report(&rules::permits::watch_hold);
    });
    finish({}, access::make<guard>(granted));
    if (revoke_requested_) carry_out(rules::permit_act::request_revoke{});
}

void semaphore_call::carry_out(const rules::permit_act::give_up&) {
    end_attempts();
    fail({});
}

void semaphore_call::carry_out(const rules::permit_act::fail& a) {
    end_attempts();
    fail(failure_of(a.reason, a.code));
}

void semaphore_call::carry_out(const rules::permit_act::lose& a) {
    if (const auto held = hold_.lock())
        held->end(a.session_ended ? errc::session_expired : errc::node_deleted);
}

void semaphore_call::carry_out(const rules::permit_act::out&) {
    if (std::exchange(held_, false)) queue_->outside_hold(false);
    const auto rest = std::exchange(bytes_, 0);
    if (lost_create_ && rest > 0)
        client()->sweeper().taint(lock_->directory, rest);
    else
        client()->node_budget().release(rest);
    use_.end();
    alive_.reset();
}

} // namespace paddock::detail
