// The call, and the events of queue and session. semaphore_call_actions.cpp carries out what the
// rules decide.
#include "locks/semaphore/semaphore_call.hpp"

#include "locks/fair/fair_lock.hpp"
#include "locks/semaphore/semaphore_state.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

semaphore_call::semaphore_call(std::shared_ptr<const semaphore_lock> what, std::size_t count,
                               handler<void(error_code, guard)>&& h, kind how,
                               std::shared_ptr<reservation> reserved)
    : queue_call(what->queue.client, std::move(h), how)
    , rules_driver(*what->queue.client)
    , lock_(std::move(what))
    , use_(*lock_->queue.client)
    , count_(count)
    , reservation_(std::move(reserved)) {}

void semaphore_call::join() {
    enter(lock_->queue);
    if (immediate())
        look();
    else
        acquire();
}

/// The results of three reads that are sent without waiting in between: queue, permit nodes,
/// counter.
struct semaphore_call::free_check {
    int open;
    std::int32_t permits;
    bool free = true;      ///< the queue is empty
    std::size_t nodes = 0; ///< how many permit nodes exist
};

/// An immediate call writes nothing if too few permits are free.
void semaphore_call::look() {
    const int reads = lock_->fixed() ? 2 : 3; // a fixed number has no counter
    const auto all = std::make_shared<free_check>(free_check{reads, lock_->permits});
    check_if_free({lock_, &lock_->queue}, queue_, rules::role::exclusive,
                  [self = self(), all](error_code why, bool free) {
                      all->free = free;
                      self->saw(*all, why);
                  });
    if (!open()) return; // the check has completed the call
    list(client()->dispatcher(), lane::user, lock_->directory,
         [self = self(), all](int code, std::vector<std::string> names) {
             all->nodes = names.size();
             self->saw(*all, listing_error(*self->client(), code));
         });
    if (lock_->fixed()) return;
    look_at_permits(*client(), *lock_, [self = self(), all](const permits_answer& said) {
        all->permits = said.permits;
        self->saw(*all, listing_error(*self->client(), said.code));
    });
}

void semaphore_call::saw(free_check& all, error_code why) {
    --all.open;
    if (!open()) return;
    if (why) return fail(why);
    const bool enough = static_cast<std::int64_t>(all.nodes + count_) <= all.permits;
    if (!all.free || (all.open == 0 && !enough)) return fail({});
    if (all.open == 0) acquire();
}

void semaphore_call::acquire() {
    if (const auto why = use_.begin(lock_path(), rules::lock_kind::semaphore)) return fail(why);
    rules::permit_terms terms{.count = count_,
                              .immediate = immediate(),
                              .fail_on_expiry = lock_->queue.on_expiry == on_expiry::fail};
    if (lock_->fixed()) terms.permits = lock_->permits;
    alive_ = self();
    client()->listen(alive_);
    make_rules(client()->claims(), terms);
    report(&rules::permits::join);
}

/// Reserves the bytes of the permit nodes and of the queue's node together. A call that had only
/// one of the two would block other calls while it waits.
void semaphore_call::carry_out(const rules::permit_act::join_queue&) {
    auto& all = client()->node_budget();
    if (bytes_ > 0) all.release(std::exchange(bytes_, 0));
    bytes_each_ = permit_bytes(*lock_);
    const auto permit_nodes = count_ * bytes_each_;
    const auto bytes = acquire_bytes(*lock_, count_);
    const auto reserved = [self = self(), permit_nodes] {
        self->waiting_ = 0;
        if (self->client()->closed()) return;
        self->bytes_ = permit_nodes;
        self->join_queue();
    };
    const bool again = std::exchange(joined_, true);
    if ((reservation_ && !again && reservation_->take(bytes)) || all.reserve(bytes))
        return reserved();
    const bool waits = lock_->queue.on_over_budget == on_over_budget::wait;
    if (!waits || !all.can_fit(bytes)) return failed(errc::over_budget);
    client()->tell_over_budget(lock_path());
    if (immediate()) return given_up();
    if (reservation_) return failed(errc::lock_lost);
    waiting_ = all.wait(bytes, reserved);
}

std::string semaphore_call::rights() const {
    const auto& counter = lock_->counter;
    return rights_in(lock_->queue.directory + " and " + lock_->directory) +
           (counter.empty() ? "" : ", and READ of its counter " + counter);
}

/// It creates no more permit nodes, and has none that count.
void semaphore_call::end_attempts() {
    settled_ = true;
    use_.end();
}

void semaphore_call::join_queue() {
    auto terms = terms_of(lock_->queue, rules::role::exclusive, immediate());
    terms.bytes_reserved = true;
    key_ = queue_->next_key(key_);
    queue_->join(key_, self(), std::move(terms));
}

void semaphore_call::granted(const std::string&, const fencing_token&) {
    admitted_ = true;
    report(&rules::permits::admitted);
}

void semaphore_call::given_up() {
    end_attempts();
    fail({});
    report(&rules::permits::excluded);
}

void semaphore_call::failed(error_code why) {
    end_attempts();
    fail(why);
    report(&rules::permits::excluded);
}

/// on_expired() handles the end of the session.
void semaphore_call::lost(error_code why) {
    admitted_ = false;
    if (why != errc::node_deleted) return;
    key_ = 0;
    report(&rules::permits::queue_node_lost);
}

/// Its node in the queue is deleted with the grant of the permits.
void semaphore_call::revoke_requested() { revoke_requested_ = true; }

void semaphore_call::find_holder(handler<void(error_code, std::optional<contender>)> h) const {
    detail::find_holder(lock_, std::move(h));
}

void semaphore_call::abandoned() {
    end_attempts();
    report(&rules::permits::quit);
}

bool semaphore_call::known_blocked() const {
    const bool behind = queue_ && !admitted_ && queue_->known_blocked(key_, rules::role::exclusive);
    return behind || (rules_ && rules_->lacks_permits());
}

void semaphore_call::release() {
    end_attempts();
    report(&rules::permits::release);
}

/// Waits for the deletes of all permit nodes, and reports the first error.
void semaphore_call::when_deleted(unique_function<void(error_code)> gone) {
    struct count {
        std::size_t open;
        error_code why;
        unique_function<void(error_code)> gone;
    };
    const auto all = std::make_shared<count>(count{paths_.size(), {}, std::move(gone)});
    for (const auto& path : paths_)
        client()->sweeper().when_deleted(path, [all](error_code why) {
            if (!all->why) all->why = why;
            if (--all->open == 0) all->gone(all->why);
        });
}

void semaphore_call::on_expired() {
    directory_watch_.reset();
    counter_watch_.reset();
    own_.clear();
    report(&rules::permits::expired);
}

void semaphore_call::on_closed(error_code why) {
    end_attempts();
    directory_watch_.reset();
    counter_watch_.reset();
    own_.clear();
    end_rules();
    finish(why, {});
    if (const auto held = hold_.lock()) held->end(why);
    alive_.reset();
}

} // namespace paddock::detail
