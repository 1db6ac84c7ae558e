#include "session/reservation.hpp"

#include <utility>

namespace paddock::detail {

void reservation::ask(std::size_t bytes, wish how, told done) {
    done_ = std::move(done);
    if (core_->closed()) return tell(core_->close_reason());
    auto& all = core_->node_budget();
    if (all.take(bytes)) {
        bytes_ = bytes;
        return tell({}, true);
    }
    if (how == wish::fail || !all.possible(bytes)) return tell(errc::over_budget);
    if (how == wish::give_up) return tell({});
    core_->listen(weak_from_this());
    waiting_ = all.wait(bytes, [self = shared_from_this(), bytes] {
        self->waiting_ = 0;
        self->bytes_ = bytes;
        self->tell({}, true);
    });
}

bool reservation::spend(std::size_t bytes) noexcept {
    if (bytes > bytes_) return false;
    bytes_ -= bytes;
    return true;
}

void reservation::give_back() {
    done_ = {};
    if (const auto turn = std::exchange(waiting_, 0)) core_->node_budget().stop_waiting(turn);
    core_->node_budget().give(std::exchange(bytes_, 0));
}

/// The budget serves no waiter of a closed client.
void reservation::on_closed(error_code why) {
    if (const auto turn = std::exchange(waiting_, 0)) core_->node_budget().stop_waiting(turn);
    tell(why);
}

void reservation::tell(error_code why, bool there) {
    if (auto done = std::exchange(done_, {})) done(why, there);
}

} // namespace paddock::detail
