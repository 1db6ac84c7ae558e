#include "sim/timeline.hpp"

#include "sim/violation.hpp"
#include "support/broken_invariant.hpp"

#include <algorithm>

namespace paddock::test::sim {

void timeline::at(time_point when, unique_function<void()> what) {
    events_.push_back({std::max(when, now_), ++turns_, std::move(what)});
    std::push_heap(events_.begin(), events_.end(), later());
}

bool timeline::step() {
    if (events_.empty()) return false;
    std::pop_heap(events_.begin(), events_.end(), later());
    auto next = std::move(events_.back());
    events_.pop_back();
    now_ = next.when;
    ++steps_;
    next.what();
    const auto broken = take_broken_invariant();
    must(broken.empty(), "a broken invariant: " + broken);
    return true;
}

void channel::send(duration delay, unique_function<void()> arrive) {
    auto& s = *state_;
    auto when = s.time.now() + delay;
    if (s.first < s.under_way.size()) when = std::max(when, s.under_way.back().first);
    s.under_way.emplace_back(when, std::move(arrive));
    s.wake();
}

void channel::hold_until(time_point when) {
    const bool earlier = when < state_->held;
    state_->held = when;
    if (!earlier) return;
    state_->awake = false; // the event of the later time has no work
    state_->wake();
}

void channel::lose() noexcept {
    state_->under_way.clear();
    state_->first = 0;
}

/// One event at a time, for the first that is under way.
void channel::state::wake() {
    if (awake || first == under_way.size()) return;
    awake = true;
    time.at(std::max(under_way[first].first, held), [self = shared_from_this()] {
        self->awake = false;
        self->arrive();
    });
}

void channel::state::arrive() {
    if (first < under_way.size() && under_way[first].first <= time.now() && held <= time.now()) {
        const auto what = std::make_unique<unique_function<void()>>(
            std::move(under_way[first++].second)); // it may send, or lose all packets
        if (first == under_way.size()) {
            under_way.clear();
            first = 0;
        }
        wake();
        (*what)();
        return;
    }
    wake();
}

} // namespace paddock::test::sim
