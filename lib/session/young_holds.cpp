#include "session/young_holds.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::detail {

namespace {
using namespace std::chrono_literals;
constexpr auto youth = 80ms;
constexpr auto breath = 20ms; ///< between two looks, when many holds grow old
} // namespace

void young_holds::add(unique_function<void()> grown) {
    all_.push_back({env_.now() + youth, std::move(grown)});
    if (all_.size() > 1) return;
    if (!timer_) timer_ = env_.make_timer();
    timer_->arm(all_.front().old_at, [this] { look(); });
}

void young_holds::look() {
    const auto now = env_.now();
    while (!all_.empty() && all_.front().old_at <= now) {
        auto grown = std::move(all_.front().grown);
        all_.pop_front();
        grown();
    }
    if (all_.empty()) return;
    timer_->arm(std::max<boot_clock::time_point>(all_.front().old_at, now + breath),
                [this] { look(); });
}

void young_holds::clear() noexcept {
    all_.clear();
    timer_.reset();
}

} // namespace paddock::detail
