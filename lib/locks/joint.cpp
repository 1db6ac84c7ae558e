#include "locks/joint.hpp"

#include <utility>

namespace paddock::detail {

/// The hold keeps this alive: whoever waits hears of its end, also when the set is gone by then.
void joint::add(const std::shared_ptr<hold>& one) {
    auto heard = [self = shared_from_this()](error_code why) {
        self->home_->post([self, why] { self->end(why); });
    };
    one->client()->post([one, heard = std::move(heard)] { one->when_over(heard); });
}

void joint::end(error_code why) {
    if (reason_) return;
    reason_ = why;
    if (auto tell = std::exchange(tell_, {})) tell(why);
    waiting_.tell(why);
}

void joint::when_over(listener_ptr who) {
    waiting_.add(std::move(who));
    if (reason_) waiting_.tell(reason_);
}

} // namespace paddock::detail
