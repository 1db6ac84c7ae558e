#include "session/young_holds.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::detail {

namespace {
using namespace std::chrono_literals;
// Together the 100 ms that young_holds promises. A trade: less costs short critical sections a
// watch, more tells guard::lost later of a node that was deleted.
constexpr auto delay = 80ms;
constexpr auto min_interval = 20ms; ///< between two checks, when many holds grow old
} // namespace

void young_holds::add(unique_function<void()> grown_old) {
    holds_.push_back({env_.now() + delay, std::move(grown_old)});
    if (holds_.size() > 1) return;
    if (!timer_) timer_ = env_.make_timer();
    timer_->arm(holds_.front().old_at, [this] { check(); });
}

void young_holds::check() {
    const auto now = env_.now();
    while (!holds_.empty() && holds_.front().old_at <= now) {
        auto grown_old = std::move(holds_.front().grown_old);
        holds_.pop_front();
        grown_old();
    }
    if (holds_.empty()) return;
    timer_->arm(std::max<boot_clock::time_point>(holds_.front().old_at, now + min_interval),
                [this] { check(); });
}

void young_holds::clear() noexcept {
    holds_.clear();
    timer_.reset();
}

} // namespace paddock::detail
