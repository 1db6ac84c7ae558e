#include "client/hold_deadlines.hpp"

#include "client/hold.hpp"

namespace paddock::detail {

hold_deadlines::key hold_deadlines::add(boot_clock::time_point when, std::weak_ptr<hold> held) {
    const auto at = held_.emplace(key{when, ++last_}, std::move(held)).first;
    if (at == held_.begin()) arm();
    return at->first;
}

void hold_deadlines::arm() {
    if (!timer_) timer_ = env_.make_timer();
    timer_->arm(held_.begin()->first.first, [this] { fire(); });
}

void hold_deadlines::fire() {
    const auto now = env_.now();
    while (!held_.empty() && held_.begin()->first.first <= now) {
        const auto held = held_.extract(held_.begin()).mapped().lock();
        if (held) held->on_deadline();
    }
    if (!held_.empty()) arm();
}

void hold_deadlines::clear() noexcept {
    held_.clear();
    timer_.reset();
}

} // namespace paddock::detail
