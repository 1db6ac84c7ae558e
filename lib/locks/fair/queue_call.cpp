#include "locks/fair/queue_call.hpp"

#include <utility>

namespace paddock::detail {

void queue_call::follow(std::shared_ptr<call_follower> by) {
    follower_ = std::move(by);
    begin(std::nullopt);
}

void queue_call::enter(const fair_lock& lock) {
    queue_ = queue_of(lock);
    if (follower_) queue_->observe(true);
}

void queue_call::complete(error_code why, guard granted) {
    const auto by = std::exchange(follower_, {});
    if (!by) return node_call::complete(why, std::move(granted));
    if (queue_) queue_->observe(false); // else it was refused before it joined
    if (why == zk_errc::no_auth) tell_missing_rights();
    by->completed(why, std::move(granted));
}

void queue_call::queue_changed() {
    if (!follower_ || key_ == 0) return;
    if (const auto ahead = queue_->ahead_of(key_)) follower_->position_known(*ahead);
}

} // namespace paddock::detail
