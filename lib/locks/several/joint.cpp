#include "locks/several/joint.hpp"

#include <utility>

namespace paddock::detail {

/// The hold keeps this alive: whoever waits hears of its end, also when the set is gone by then.
void joint::add(const std::shared_ptr<hold>& one) {
    auto heard = [self = shared_from_this(), at_home = one->client() == home_](error_code why) {
        // What a closed client posts may never run: its execution context is perhaps at its end.
        if (at_home && self->home_->closed()) return self->end(why);
        self->home_->post([self, why] { self->end(why); });
    };
    one->client()->post([one, heard = std::move(heard)] { one->when_ended(heard); });
}

void joint::end(error_code why) {
    if (reason_) return;
    reason_ = why;
    if (auto tell = std::exchange(tell_, {})) tell(why);
    waiting_.complete({}, why);
}

void joint::when_ended(pending_call_ptr<error_code> call) {
    waiting_.add(std::move(call));
    if (reason_) waiting_.complete({}, reason_);
}

} // namespace paddock::detail
