#include "session/rearming_watch.hpp"

#include <utility>

namespace paddock::detail {

rearming_watch::rearming_watch(watch_table& watches, std::string path, watch_kind kind,
                               std::function<void(watch_event)> heard)
    : watches_(watches), path_(std::move(path)), kind_(kind), heard_(std::move(heard)) {}

watch_table::waiter rearming_watch::set() {
    if (waiter_ || !watches_.room_for(path_, kind_)) return waiter_;
    waiter_ =
        watches_.add(path_, kind_, [weak = weak_from_this()](error_code over, watch_event what) {
            const auto self = weak.lock();
            if (!self) return;
            self->waiter_ = 0;
            if (!over) self->heard_(what);
        });
    return waiter_;
}

bool rearming_watch::answered(watch_table::waiter asked, bool seen) {
    if (!seen && asked != 0 && asked == waiter_) forget(); // an earlier read may have set it
    return seen && asked != 0;
}

void rearming_watch::forget() {
    if (waiter_) watches_.drop(path_, std::exchange(waiter_, 0));
}

} // namespace paddock::detail
