#include "session/reservation.hpp"

#include <utility>

namespace paddock::detail {

void reservation::reserve(std::size_t bytes, if_full how, callback done) {
    done_ = std::move(done);
    if (core_->closed()) return complete(core_->close_reason());
    auto& budget = core_->node_budget();
    if (budget.reserve(bytes)) {
        bytes_ = bytes;
        return complete({}, true);
    }
    if (how == if_full::fail || !budget.can_fit(bytes)) return complete(errc::over_budget);
    if (how == if_full::give_up) return complete({});
    core_->listen(weak_from_this());
    waiter_ = budget.wait(bytes, [self = shared_from_this(), bytes] {
        self->waiter_ = 0;
        self->bytes_ = bytes;
        self->complete({}, true);
    });
}

bool reservation::take(std::size_t bytes) noexcept {
    if (bytes > bytes_) return false;
    bytes_ -= bytes;
    return true;
}

void reservation::release() {
    done_ = {};
    if (const auto id = std::exchange(waiter_, 0)) core_->node_budget().stop_waiting(id);
    core_->node_budget().release(std::exchange(bytes_, 0));
}

/// The budget calls no waiter of a closed client.
void reservation::on_closed(error_code why) { complete(why); }

void reservation::complete(error_code why, bool reserved) {
    if (auto done = std::exchange(done_, {})) done(why, reserved);
}

} // namespace paddock::detail
