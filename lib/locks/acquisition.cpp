// The call, its place in the line, and the session's ups and downs. What the rules decide is
// carried out in acquisition_actions.cpp.
#include "locks/acquisition.hpp"

#include "line/line_table.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

acquisition::acquisition(std::shared_ptr<const lease_lock> what, std::size_t count,
                         handler<void(error_code, guard)>&& h, kind how)
    : asking(what->place.client, std::move(h), how), lock_(std::move(what)), count_(count) {}

void acquisition::begin() {
    line_ = line_table::of(*client()).find(lock_->place.directory, lock_->place.names);
    if (only_if_free())
        look_first();
    else
        take_part();
}

/// What one look at the semaphore has shown: the line, the leases and the counter, in one flight.
struct acquisition::glance {
    int open = 0;
    int code = 0; ///< the first failure
    bool taken = false;
    std::size_t leases = 0;
    std::int32_t permits = 0;

    /// Whether the directory can be judged: one that does not exist is empty.
    bool answered(int rc) {
        --open;
        const auto result = rules::judge(rules::request::list, rc);
        const bool fine = result == rules::outcome::done || result == rules::outcome::missing;
        if (!fine && code == 0) code = rc;
        return fine;
    }
};

/// Nothing is written when the permits are not to be had.
void acquisition::look_first() {
    if (client()->state() != client_state::connected) return refuse(errc::not_connected);
    if (line_->occupied(rules::role::exclusive)) return refuse({});
    if (lock_->place.sync_first) catch_up(*client(), lane::user, lock_->directory);
    const auto seen = std::make_shared<glance>();
    seen->open = lock_->fixed() ? 2 : 3;
    seen->permits = lock_->permits;
    const auto done = [self = self(), seen] {
        if (seen->open == 0) self->looked(*seen);
    };
    list(*client(), lane::user, lock_->place.directory,
         [self = self(), seen, done](int code, std::vector<std::string> names) {
             if (seen->answered(code))
                 seen->taken = self->line_->taken(names, rules::role::exclusive);
             done();
         });
    list(*client(), lane::user, lock_->directory,
         [seen, done](int code, std::vector<std::string> names) {
             if (seen->answered(code)) seen->leases = names.size();
             done();
         });
    if (!lock_->fixed())
        look_at_permits(*client(), *lock_, [seen, done](const permits_answer& said) {
            if (seen->answered(said.code)) seen->permits = said.permits;
            done();
        });
}

void acquisition::looked(const glance& seen) {
    if (!open()) return;
    if (client()->closed()) return refuse(client()->close_reason());
    const auto result = rules::judge(rules::request::list, seen.code);
    if (result == rules::outcome::lost || result == rules::outcome::not_sent)
        return refuse(errc::not_connected);
    if (seen.code != 0) return refuse(zookeeper_error(seen.code));
    const auto needed = static_cast<std::int64_t>(seen.leases + count_);
    if (seen.taken || needed > seen.permits || line_->occupied(rules::role::exclusive))
        return refuse({});
    take_part();
}

void acquisition::take_part() {
    rules::lease_terms terms{.count = count_,
                             .immediate = only_if_free(),
                             .fail_on_expiry = lock_->place.on_expiry == on_expiry::fail};
    if (lock_->fixed()) terms.permits = lock_->permits;
    rules_.emplace(client()->claims(), terms);
    alive_ = self();
    client()->listen(alive_);
    if (client()->state() == client_state::connected) rules_->connected();
    rules_->begin();
    carry_out();
}

/// The leases and the place in the line are paid for together: who has paid for one of them, and
/// waits for the other, would make others wait who could give something back.
void acquisition::carry_out(const rules::lease_act::enter&) {
    auto& all = client()->node_budget();
    if (bytes_ > 0) all.give(std::exchange(bytes_, 0));
    bytes_each_ = node_bytes(lock_->directory, lease_prefix(0));
    const auto leases = count_ * bytes_each_;
    const auto bytes = leases + line_->place_bytes(line_terms());
    const auto paid = [self = self(), leases] {
        self->waiting_ = 0;
        self->bytes_ = leases;
        self->queue();
    };
    const bool fail = only_if_free() || lock_->place.on_over_budget == on_over_budget::fail ||
                      bytes > client()->options().budgets.node_path_bytes;
    if (all.take(bytes))
        paid();
    else if (fail)
        failed(errc::over_budget);
    else
        waiting_ = all.wait(bytes, paid);
}

rules::terms acquisition::line_terms() const {
    return {.as = rules::role::exclusive,
            .names = lock_->place.style,
            .immediate = only_if_free(),
            .fail_on_expiry = lock_->place.on_expiry == on_expiry::fail};
}

void acquisition::queue() {
    key_ = line_->enter(self(), {.rules = line_terms(),
                                 .paid = true,
                                 .again = std::exchange(key_, 0),
                                 .persistent_parents = lock_->place.persistent_parents,
                                 .acl = lock_->place.acl,
                                 .data = lock_->place.data.at(client()->env().wall_clock())});
}

void acquisition::granted(const std::string&, std::int64_t) {
    placed_ = true;
    rules_->placed();
    carry_out();
}

void acquisition::given_up() {
    settled_ = true;
    refuse({});
    rules_->barred();
    carry_out();
}

void acquisition::failed(error_code why) {
    settled_ = true;
    refuse(why);
    rules_->barred();
    carry_out();
}

/// The end of the session comes from the session, too.
void acquisition::lost(error_code why) {
    placed_ = false;
    if (why != errc::node_deleted) return;
    key_ = 0;
    rules_->displaced();
    carry_out();
}

void acquisition::refuse(error_code why) {
    fail(why, lock_->place.on_over_budget);
}

void acquisition::abandoned() {
    settled_ = true;
    if (!rules_) return;
    rules_->quit();
    carry_out();
}

void acquisition::release() {
    settled_ = true;
    age_.reset();
    rules_->release();
    carry_out();
}

/// All of its nodes, and for the first reason that one of them may still be there.
void acquisition::when_gone(unique_function<void(error_code)> gone) {
    struct count {
        std::size_t open;
        error_code why;
        unique_function<void(error_code)> gone;
    };
    const auto all = std::make_shared<count>(count{paths_.size(), {}, std::move(gone)});
    for (const auto& path : paths_)
        client()->sweeper().when_gone(path, [all](error_code why) {
            if (!all->why) all->why = why;
            if (--all->open == 0) all->gone(all->why);
        });
}

void acquisition::on_connected() {
    rules_->connected();
    carry_out();
}

void acquisition::on_suspended() {
    rules_->disconnected();
    carry_out();
}

void acquisition::on_expired() {
    directory_.reset();
    counter_.reset();
    own_.clear();
    rules_->expired();
    carry_out();
}

void acquisition::on_closed(error_code why) {
    settled_ = true;
    if (const auto turn = std::exchange(waiting_, 0)) client()->node_budget().stop_waiting(turn);
    pause_.reset();
    age_.reset();
    directory_.reset();
    counter_.reset();
    own_.clear();
    rules_.reset();
    finish(why, {});
    if (const auto held = hold_.lock()) held->end(why);
    alive_.reset();
}

} // namespace paddock::detail
