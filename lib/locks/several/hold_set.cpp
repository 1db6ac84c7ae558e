#include "locks/several/hold_set.hpp"

#include "locks/several/home_report.hpp"

#include <utility>

namespace paddock::detail {

/// The hold keeps this object alive, so that waiting calls complete even after the guard_set is
/// destroyed.
void hold_set::add(const std::shared_ptr<hold>& one) {
    home_report<> report(home_, [self = shared_from_this()](error_code why) { self->end(why); });
    auto on_end = [self = shared_from_this(), at_home = one->client() == home_,
                   report = std::move(report)](error_code why) mutable {
        // A task that a closed client posts may never run, if its execution context is destroyed.
        if (at_home && self->home_->closed()) return self->end(why);
        report(why);
    };
    one->client()->post(
        [one, on_end = std::move(on_end)]() mutable { one->when_ended(std::move(on_end)); });
}

void hold_set::end(error_code why) {
    if (reason_) return;
    reason_ = why;
    if (auto on_end = std::exchange(on_end_, {})) on_end(why);
    end_calls_.complete({}, why);
}

void hold_set::when_ended(client_call_ptr<error_code> call) {
    end_calls_.add(std::move(call));
    if (reason_) end_calls_.complete({}, reason_);
}

} // namespace paddock::detail
