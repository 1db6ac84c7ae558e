#include "client/draining.hpp"

#include <utility>

namespace paddock::detail {

void draining::remove(holder& one) {
    if (!one.place_.is_linked()) return; // the client has closed
    one.place_.unlink();
    look();
}

void draining::release_ends() {
    --releases_;
    look();
}

void draining::begin(boot_clock::time_point until, unique_function<void()> done) {
    begun_.store(true, std::memory_order_release);
    done_.push_back(std::move(done));
    while (!callers_.empty()) {
        auto& one = callers_.front();
        callers_.pop_front(); // it may begin again from within, and is refused
        one.turn_away();
    }
    if (empty()) return finish();
    if (until >= until_) return;
    until_ = until;
    if (!timer_) timer_ = env_.make_timer();
    timer_->arm(until_, [this] { finish(); });
}

void draining::close() noexcept {
    closed_ = empty();
    finish();
    callers_.clear();
    holders_.clear();
}

void draining::finish() {
    timer_.reset();
    if (done_.empty()) return;
    env_.post([done = std::exchange(done_, {})]() mutable {
        for (auto& one : done)
            one();
    });
}

} // namespace paddock::detail
