#include "rules/contenders.hpp"

namespace paddock::rules {

contender& contenders::add(contender_key key, contender_terms how) {
    auto& c = all_[key];
    c.key = key;
    c.how = how;
    return c;
}

void contenders::erase(contender_key key) {
    const auto found = all_.find(key);
    count(found->second, counts_, -1);
    all_.erase(found);
}

contender* contenders::find(contender_key key) {
    const auto found = all_.find(key);
    return found == all_.end() ? nullptr : &found->second;
}

const contender* contenders::find(contender_key key) const {
    const auto found = all_.find(key);
    return found == all_.end() ? nullptr : &found->second;
}

void contenders::begin_again(contender& c) {
    change(c, [&] { c = {.key = c.key, .how = c.how, .reported_stuck = c.reported_stuck}; });
}

contender_counts contenders::counted() const {
    contender_counts out;
    for (const auto& [key, c] : all_)
        count(c, out, +1);
    return out;
}

void contenders::count(const contender& c, contender_counts& counts, int change) noexcept {
    using stage = contender::stage;
    const auto add = [change](std::size_t& to, bool yes) {
        if (yes) to += static_cast<std::size_t>(change);
    };
    add(counts.in_table, c.in_table());
    add(counts.waiting, c.at == stage::waiting);
    add(counts.unlisted, c.at == stage::waiting && !c.listed);
    add(counts.creating, c.at == stage::creating && !c.with_directory);
    add(counts.unknown, c.at == stage::unknown);
    add(counts.holders, c.holds());
    add(counts.reported_stuck, c.in_table() && c.reported_stuck);
}

} // namespace paddock::rules
