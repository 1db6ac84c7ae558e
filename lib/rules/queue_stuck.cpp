// Finds contenders that perhaps wait for ever: behind a hold of their own client, or behind a node
// that nobody deletes.
#include "rules/queue.hpp"

#include <algorithm>
#include <iterator>

namespace paddock::rules {

void queue::outside_hold(bool on) {
    outside_holds_ += on ? 1 : -1;
    outside_since_ = session_.now();
}

bool queue::perhaps_stuck() const noexcept {
    const auto& now = counts();
    return (now.holders > 0 || outside_holds_ > 0) &&
           now.in_table - now.holders > now.reported_stuck;
}

stuck_waiters queue::stuck(boot_clock::duration patience) {
    stuck_waiters all;
    std::optional<boot_clock::time_point> held_since; // the oldest hold before `entry`
    if (outside_holds_ > 0) held_since = outside_since_;
    bool separated = outside_holds_ > 0; // `entry` cannot share the lock with those holds
    for (const auto& [where, entry] : table_) {
        auto* const c = entry.local;
        separated = separated || entry.as == role::exclusive;
        if (c && c->holds())
            held_since = std::min(held_since.value_or(c->since), c->since);
        else if (c && held_since && separated && !c->reported_stuck &&
                 is_stuck(all, std::max(*held_since, c->since), session_.now(), patience))
            contenders_.change(*c, [c] { c->reported_stuck = true; });
    }
    return all;
}

void queue::blocker_left(std::string_view name, std::int64_t ctime) {
    if (const auto it = find(name); it != table_.end() && !it->second.local)
        leftovers_.saw(name, ctime, session_.now());
}

leftover_nodes queue::leftover(boot_clock::duration patience) {
    return leftovers_.due(session_.now(), patience, [this](const std::string& name) {
        const auto it = find(name);
        return it != table_.end() &&
               table_.first_waiter_behind(std::next(it), it->second.as) != table_.end();
    });
}

} // namespace paddock::rules
