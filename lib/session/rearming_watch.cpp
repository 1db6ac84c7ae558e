#include "session/rearming_watch.hpp"

#include <utility>

namespace paddock::detail {

rearming_watch::rearming_watch(watch_table& watches, std::string path, watch_kind kind,
                               std::function<void(watch_event)> on_event)
    : watches_(watches), path_(std::move(path)), kind_(kind), on_event_(std::move(on_event)) {}

watch_table::waiter_id rearming_watch::set() {
    if (waiter_ || !watches_.room_for(path_, kind_)) return waiter_;
    waiter_ =
        watches_.add(path_, kind_, [weak = weak_from_this()](error_code end, watch_event what) {
            const auto self = weak.lock();
            if (!self) return;
            self->waiter_ = 0;
            if (!end) self->on_event_(what);
        });
    return waiter_;
}

bool rearming_watch::answered(watch_table::waiter_id id, bool set) {
    if (id == 0) return false;
    if (set)
        watches_.armed(path_, id);
    else if (id == waiter_)
        forget();
    return set;
}

void rearming_watch::forget() {
    if (waiter_) watches_.drop(path_, std::exchange(waiter_, 0));
}

} // namespace paddock::detail
