#include "locks/mutex/mutex_call.hpp"

#include "locks/fair/contenders.hpp"
#include "locks/fair/ticket_state.hpp"
#include "locks/sticky/only_sticky.hpp"
#include "locks/sticky/sticky_lines.hpp"

#include <chrono>
#include <utility>

namespace paddock::detail {

namespace {
/// For a try_lock, which waits no longer for a client that lets the lock linger. The event of a
/// watch and a delete take two round trips; a caller of try_lock does not expect to wait for more.
constexpr std::chrono::milliseconds time_to_give_back{100};
} // namespace

mutex_call::mutex_call(std::shared_ptr<const fair_lock> what, handler<void(error_code, guard)>&& h,
                       kind how, rules::role as, std::shared_ptr<reservation> reserved)
    : queue_call(what->client, std::move(h), how)
    , lock_(std::move(what))
    , as_(as)
    , reservation_(std::move(reserved)) {}

/// A ticket shows its position in the queue, and lock_all has room for its own nodes.
bool mutex_call::sticky() const noexcept {
    return lock_->sticky.any() && !is_followed() && !reservation_;
}

void mutex_call::join() {
    if (!immediate()) return join_in(own_queue(), false);
    end_lingering_of_others();
    if (sticky()) {
        if (lock_->client->state() != client_state::connected) return failed(errc::not_connected);
        const auto line = lines().find(lock_);
        if (line && !line->idle()) return join_in(line, true);
    }
    check_if_free(lock_, queue_of(*lock_), as_, [self = self()](error_code why, bool free) {
        if (!self->open()) return;
        if (why)
            self->failed(why);
        else if (free)
            self->join_in(self->own_queue(), true);
        else if (self->sticky())
            self->join_if_only_sticky();
        else
            self->given_up();
    });
}

sticky_lines& mutex_call::lines() const { return lock_->client->use<sticky_lines>(); }

/// Only of this client: those of others hear of a new contender by their watches.
void mutex_call::end_lingering_of_others() {
    lines().end_lingering(lock_->directory, sticky() ? lines().find(lock_) : nullptr);
}

/// The lock may be free for its node's client only; another contender makes that release it.
void mutex_call::join_if_only_sticky() {
    end_after(time_to_give_back);
    when_only_sticky(lock_, [self = self()](bool only) {
        if (!self->open()) return;
        if (only)
            self->join_in(self->own_queue(), false);
        else
            self->given_up();
    });
}

std::shared_ptr<call_queue> mutex_call::own_queue() {
    if (sticky()) return lines().get(lock_);
    enter(*lock_);
    return queue_;
}

void mutex_call::join_in(std::shared_ptr<call_queue> queue, bool immediate) {
    auto terms = terms_of(*lock_, as_, immediate);
    terms.bytes_reserved = reservation_ && reservation_->take(entry_bytes(*lock_, as_));
    waits_in_ = std::move(queue);
    key_ = waits_in_->next_key(); // it may be granted the lock from within join()
    waits_in_->join(key_, self(), std::move(terms));
}

void mutex_call::granted(const std::string& path, const fencing_token& token) {
    lock_->client->prepare_releases();
    const auto held = std::make_shared<node_hold>(
        lock_->client, self(), lock_->counted, path, lock_->directory.size(), token,
        lock_->names.has_shared() && as_ == rules::role::exclusive);
    held->limit(lock_->hold_limit, held->granted_at());
    hold_ = held;
    finish({}, access::make<guard>(held));
}

void mutex_call::lost(error_code why) {
    if (const auto held = hold_.lock()) held->end(why);
}

void mutex_call::when_deleted(unique_function<void(error_code)> deleted) {
    if (const auto held = hold_.lock())
        lock_->client->sweeper().when_deleted(held->full_path(), std::move(deleted));
}

void mutex_call::find_holder(handler<void(error_code, std::optional<contender>)> h) const {
    detail::find_holder(lock_, std::move(h));
}

void mutex_call::downgrade() { queue_->downgrade(key_); }

void mutex_call::revoke_requested() {
    const auto held = hold_.lock();
    if (!held) return;
    held->request_revoke();
    if (lock_->revocable) held->end(errc::revoked);
}

void mutex_call::downgraded(const std::string& path) {
    if (const auto held = hold_.lock()) held->downgraded(path);
}

void mutex_call::downgrade_refused(error_code why) {
    if (const auto held = hold_.lock()) held->downgrade_refused(why);
}

void mutex_call::release() {
    const auto held = hold_.lock();
    waits_in_->release(key_, held && held->passable());
}

bool mutex_call::known_blocked() const { return waits_in_ && waits_in_->known_blocked(key_, as_); }

void mutex_call::abandoned() {
    if (waits_in_) waits_in_->quit(key_);
}

void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h,
             rules::role as) {
    enqueue(std::make_shared<mutex_call>(std::move(lock), nullptr, mutex_call::kind::wait, as),
            std::move(h));
}

} // namespace paddock::detail
