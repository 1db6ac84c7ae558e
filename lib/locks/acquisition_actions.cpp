// What the rules decide, carried out.
#include "line/parents.hpp"
#include "locks/acquisition.hpp"
#include "rules/names.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

void acquisition::carry_out() {
    if (!rules_ || std::exchange(carrying_out_, true)) return; // the loop below sees what was added
    const auto alive = self();                                 // "out" may be the last
    for (auto actions = rules_->take(); !actions.empty(); actions = rules_->take()) {
        for (const auto& action : actions)
            std::visit([this](const auto& a) { carry_out(a); }, action);
        if (!rules_) break; // closed
    }
    carrying_out_ = false;
}

std::string acquisition::path_of(std::string_view name) const {
    return rules::child(lock_->directory, name);
}

std::string acquisition::lease_prefix(rules::node_id id) const {
    return rules::naming::of_leases().prefix(client()->claims(), id);
}

std::shared_ptr<lookout> acquisition::look_out(std::string path, watch_kind kind,
                                               void (*heard)(acquisition&, watch_event)) {
    return std::make_shared<lookout>(client()->watches(), std::move(path), kind,
                                     [weak = weak_self(), heard](watch_event what) {
                                         const auto self = weak.lock();
                                         if (!self || !self->rules_) return;
                                         heard(*self, what);
                                         self->carry_out();
                                     });
}

/// Sweeps come before it, so that whoever is let in next finds the leases gone.
void acquisition::carry_out(const rules::lease_act::leave&) {
    if (const auto turn = std::exchange(waiting_, 0))
        return client()->node_budget().stop_waiting(turn);
    const auto key = std::exchange(key_, 0);
    if (std::exchange(placed_, false))
        line_->release(key);
    else
        line_->quit(key);
}

void acquisition::carry_out(const rules::lease_act::create& a) {
    const auto path = path_of(lease_prefix(a.id));
    const auto data = lock_->place.data.at(client()->env().wall_clock());
    client()->gate().submit(
        lane::line, answered_by::quorum, path.size() + data.size() + request_envelope,
        [self = self(), path, data](native::calls& c, std::unique_ptr<native::completion> done) {
            if (self->settled_) return native::code::invalid_state;
            const create_options how{.mode = create_mode::ephemeral_sequential,
                                     .acl = self->lock_->place.acl,
                                     .ttl = {}};
            return c.create(path, data, how, std::move(done));
        },
        [self = self(), id = a.id](const native::reply& r) {
            if (!self->rules_) return;
            self->facts().created(id, {.result = rules::judge(rules::request::create, r.rc),
                                       .code = r.rc,
                                       .name = rules::name_of(r.value)});
            self->carry_out();
        });
}

void acquisition::carry_out(const rules::lease_act::list& a) {
    if (!directory_)
        directory_ =
            look_out(lock_->directory, watch_kind::children,
                     [](acquisition& who, watch_event) { who.facts().directory_changed(); });
    const auto waiter = directory_->set();
    auto done = [self = self(), watch = directory_, waiter,
                 number = a.number](int code, std::vector<std::string> names) {
        auto& client = *self->client();
        const bool watched = watch->answered(waiter, code == 0);
        if (!self->rules_) return;
        for (const auto& orphan : rules::orphans(names, client.claims()))
            client.sweeper().remove(self->path_of(orphan), *rules::own_id(orphan, client.claims()),
                                    0);
        const auto result = rules::judge(rules::request::list, code);
        self->facts().listed(number, {result, code, watched}, names);
        self->carry_out();
    };
    if (a.settle)
        list_after_barrier(*client(), lane::line, lock_->directory, std::move(done), waiter != 0);
    else
        list(*client(), lane::line, lock_->directory, std::move(done), waiter != 0);
}

void acquisition::carry_out(const rules::lease_act::read_permits& a) {
    if (!counter_)
        counter_ = look_out(lock_->counter, watch_kind::data,
                            [](acquisition& who, watch_event) { who.facts().counter_changed(); });
    watch_permits(
        *client(), lock_, counter_, [self = self(), number = a.number](const permits_answer& said) {
            if (!self->rules_) return;
            const auto result = rules::judge(rules::request::list, said.code);
            self->facts().permits_read(number, {result, said.code, said.watched}, said.permits);
            self->carry_out();
        });
}

void acquisition::carry_out(const rules::lease_act::make_parents&) {
    make_directory(*client(), lock_->directory, lock_->place.persistent_parents,
                   [self = self()](int code) {
                       if (!self->rules_) return;
                       self->facts().parents_made(rules::judge(rules::request::create, code), code);
                       self->carry_out();
                   });
}

void acquisition::carry_out(const rules::lease_act::forget&) {
    directory_.reset();
    counter_.reset();
    own_.clear();
}

void acquisition::carry_out(const rules::lease_act::watch_own& a) {
    auto& watch = own_[a.id];
    if (!watch)
        watch = std::make_shared<lookout>(client()->watches(), path_of(a.name), watch_kind::data,
                                          [weak = weak_self(), id = a.id](watch_event what) {
                                              const auto self = weak.lock();
                                              if (!self || !self->rules_) return;
                                              self->facts().own_changed(
                                                  id, what == watch_event::deleted);
                                              self->carry_out();
                                          });
    const auto waiter = watch->set();
    client()->gate().submit(
        lane::line, answered_by::server, watch->path().size() + request_envelope,
        [path = watch->path(), waiter](native::calls& c, std::unique_ptr<native::completion> done) {
            return c.get(path, waiter != 0, std::move(done));
        },
        [self = self(), watch, waiter, id = a.id](const native::reply& r) {
            const bool watched = watch->answered(waiter, r.rc == 0);
            if (!self->rules_) return;
            const auto result = rules::judge(rules::request::look, r.rc);
            self->facts().own_watched(id, {result, r.rc, watched});
            self->carry_out();
        });
}

/// Its bytes go along, unless another will take its place.
void acquisition::carry_out(const rules::lease_act::sweep& a) {
    const auto bytes = settled_ ? std::min(bytes_each_, bytes_) : 0;
    bytes_ -= bytes;
    client()->sweeper().remove(path_of(a.name), a.id, bytes);
}

void acquisition::carry_out(const rules::lease_act::taint&) {
    lost_create_ = true;
    client()->sweeper().taint(lock_->directory, 0);
}

void acquisition::carry_out(const rules::lease_act::pause&) {
    if (!pause_) pause_ = client()->env().make_timer();
    pause_->arm(client()->env().now() + retry_pause, [weak = weak_self()] {
        const auto self = weak.lock();
        if (!self || !self->rules_) return;
        self->facts().resume();
        self->carry_out();
    });
}

void acquisition::carry_out(const rules::lease_act::await_lease&) {
    client()->lease().when_fit([weak = weak_self()] {
        const auto self = weak.lock();
        if (!self || !self->rules_) return;
        self->facts().session_renewed();
        self->carry_out();
    });
}

void acquisition::carry_out(const rules::lease_act::grant& a) {
    for (const auto& name : a.names)
        paths_.push_back(path_of(name));
    client()->expect_returns();
    const auto granted = std::make_shared<hold>(client(), self(), paths_.front(), 0);
    for (std::size_t i = 1; i < paths_.size(); ++i)
        granted->add_node(paths_[i]);
    hold_ = granted;
    client()->young_holds().add([weak = weak_self()] {
        const auto self = weak.lock();
        if (!self || !self->rules_) return;
        self->facts().guard_own();
        self->carry_out();
    });
    finish({}, guard(granted));
}

void acquisition::carry_out(const rules::lease_act::give_up&) {
    settled_ = true;
    refuse({});
}

void acquisition::carry_out(const rules::lease_act::fail& a) {
    settled_ = true;
    switch (a.reason) {
    case rules::lease_act::why::refused:
        return refuse(zookeeper_error(a.code));
    case rules::lease_act::why::session_expired:
        return refuse(errc::session_expired);
    case rules::lease_act::why::not_connected:
        return refuse(errc::not_connected);
    }
}

void acquisition::carry_out(const rules::lease_act::lose& a) {
    if (const auto held = hold_.lock())
        held->end(a.session_over ? errc::session_expired : errc::node_deleted);
}

void acquisition::carry_out(const rules::lease_act::out&) {
    const auto rest = std::exchange(bytes_, 0);
    if (lost_create_ && rest > 0)
        client()->sweeper().taint(lock_->directory, rest);
    else
        client()->node_budget().give(rest);
    alive_.reset();
}

} // namespace paddock::detail
