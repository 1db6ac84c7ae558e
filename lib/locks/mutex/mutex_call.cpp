#include "locks/mutex/mutex_call.hpp"

#include "locks/fair/contenders.hpp"
#include "locks/fair/ticket_state.hpp"

#include <utility>

namespace paddock::detail {

mutex_call::mutex_call(std::shared_ptr<const fair_lock> what, handler<void(error_code, guard)>&& h,
                       kind how, rules::role as, std::shared_ptr<reservation> reserved)
    : queue_call(what->client, std::move(h), how)
    , lock_(std::move(what))
    , as_(as)
    , reservation_(std::move(reserved)) {}

void mutex_call::join() {
    enter(*lock_);
    if (!immediate()) return join_queue();
    check_if_free(lock_, queue_, as_, [self = self()](error_code why, bool free) {
        if (!self->open()) return;
        if (why)
            self->failed(why);
        else if (free)
            self->join_queue();
        else
            self->given_up();
    });
}

void mutex_call::join_queue() {
    auto terms = terms_of(*lock_, as_, immediate());
    terms.bytes_reserved = reservation_ && reservation_->take(queue_->entry_bytes(terms.rules));
    key_ = queue_->join(self(), std::move(terms));
}

void mutex_call::granted(const std::string& path, const fencing_token& token) {
    lock_->client->prepare_releases();
    const auto held =
        std::make_shared<node_hold>(lock_->client, self(), path, token,
                                    lock_->names.has_shared() && as_ == rules::role::exclusive);
    held->limit(lock_->hold_limit, lock_->client->env().now());
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

void mutex_call::abandoned() {
    if (key_ != 0) queue_->quit(key_);
}

void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h,
             rules::role as) {
    enqueue(std::make_shared<mutex_call>(std::move(lock), nullptr, mutex_call::kind::wait, as),
            std::move(h));
}

} // namespace paddock::detail
