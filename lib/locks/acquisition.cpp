// The call, its place in the line, and the session's ups and downs. What the rules decide is
// carried out in acquisition_actions.cpp.
#include "locks/acquisition.hpp"

#include "locks/entering.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

acquisition::acquisition(std::shared_ptr<const lease_lock> what, std::size_t count,
                         handler<void(error_code, guard)>&& h, kind how)
    : asking(what->place.client, std::move(h), how), lock_(std::move(what)), count_(count) {}

void acquisition::begin() {
    line_ = line_of(lock_->place);
    if (only_if_free())
        look();
    else
        take_part();
}

/// What one look at the semaphore has shown: the line, the leases and the counter, in one flight.
struct acquisition::glance {
    int open;
    std::int32_t permits;
    bool free = true; ///< nobody stands in the line
    std::size_t leases = 0;
};

/// Nothing is written when the permits are not to be had.
void acquisition::look() {
    const auto all = std::make_shared<glance>(glance{lock_->fixed() ? 2 : 3, lock_->permits});
    look_first({lock_, &lock_->place}, line_, rules::role::exclusive,
               [self = self(), all](error_code why, bool free) {
                   all->free = free;
                   self->saw(*all, why);
               });
    if (!open()) return; // that was all
    list(*client(), lane::user, lock_->directory,
         [self = self(), all](int code, std::vector<std::string> names) {
             all->leases = names.size();
             self->saw(*all, look_problem(*self->client(), code));
         });
    if (lock_->fixed()) return;
    look_at_permits(*client(), *lock_, [self = self(), all](const permits_answer& said) {
        all->permits = said.permits;
        self->saw(*all, look_problem(*self->client(), said.code));
    });
}

void acquisition::saw(glance& all, error_code why) {
    --all.open;
    if (!open()) return;
    if (why) return refuse(why);
    const bool enough = static_cast<std::int64_t>(all.leases + count_) <= all.permits;
    if (!all.free || (all.open == 0 && !enough)) return refuse({});
    if (all.open == 0) take_part();
}

rules::leases& acquisition::facts() {
    rules_->session_fit(client()->lease().fit());
    return *rules_;
}

void acquisition::take_part() {
    rules::lease_terms terms{.count = count_,
                             .immediate = only_if_free(),
                             .fail_on_expiry = lock_->place.on_expiry == on_expiry::fail};
    if (lock_->fixed()) terms.permits = lock_->permits;
    rules_.emplace(client()->claims(), terms);
    alive_ = self();
    client()->listen(alive_);
    if (client()->state() == client_state::connected) facts().connected();
    facts().begin();
    carry_out();
}

/// The leases and the place in the line are paid for together: who has paid for one of them, and
/// waits for the other, would make others wait who could give something back.
void acquisition::carry_out(const rules::lease_act::enter&) {
    auto& all = client()->node_budget();
    if (bytes_ > 0) all.give(std::exchange(bytes_, 0));
    bytes_each_ = node_bytes(lock_->directory, lease_prefix(0));
    const auto leases = count_ * bytes_each_;
    const auto terms = terms_of(lock_->place, rules::role::exclusive, only_if_free());
    const auto bytes = leases + line_->place_bytes(terms.rules);
    const auto paid = [self = self(), leases] {
        self->waiting_ = 0;
        if (self->client()->closed()) return;
        self->bytes_ = leases;
        self->queue();
    };
    const bool fail = terms.fail_over_budget || bytes > client()->options().budgets.node_path_bytes;
    if (all.take(bytes))
        paid();
    else if (fail)
        failed(errc::over_budget);
    else
        waiting_ = all.wait(bytes, paid);
}

void acquisition::queue() {
    auto terms = terms_of(lock_->place, rules::role::exclusive, only_if_free());
    terms.paid = true;
    terms.again = std::exchange(key_, 0);
    key_ = line_->enter(self(), std::move(terms));
}

void acquisition::granted(const std::string&, std::int64_t) {
    placed_ = true;
    facts().placed();
    carry_out();
}

void acquisition::given_up() {
    settled_ = true;
    refuse({});
    facts().barred();
    carry_out();
}

void acquisition::failed(error_code why) {
    settled_ = true;
    refuse(why);
    facts().barred();
    carry_out();
}

/// The end of the session comes from the session, too.
void acquisition::lost(error_code why) {
    placed_ = false;
    if (why != errc::node_deleted) return;
    key_ = 0;
    facts().displaced();
    carry_out();
}

void acquisition::abandoned() {
    settled_ = true;
    if (!rules_) return;
    facts().quit();
    carry_out();
}

void acquisition::release() {
    settled_ = true;
    if (!rules_) return; // closed
    facts().release();
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
    facts().connected();
    carry_out();
}

void acquisition::on_suspended() {
    facts().disconnected();
    carry_out();
}

void acquisition::on_expired() {
    directory_.reset();
    counter_.reset();
    own_.clear();
    facts().expired();
    carry_out();
}

void acquisition::on_closed(error_code why) {
    settled_ = true;
    if (const auto turn = std::exchange(waiting_, 0)) client()->node_budget().stop_waiting(turn);
    pause_.reset();
    directory_.reset();
    counter_.reset();
    own_.clear();
    rules_.reset();
    finish(why, {});
    if (const auto held = hold_.lock()) held->end(why);
    alive_.reset();
}

} // namespace paddock::detail
