#include "rules/node_table.hpp"

#include "rules/contender.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::rules {

node_table::iterator node_table::insert(node_position where, node what) {
    const auto it = nodes_.insert_or_assign(std::move(where), what).first;
    if (has_shared_ && what.as == role::exclusive) exclusive_.insert(it);
    if (what.local && what.as == role::shared) waiting_shared_.insert(it);
    return it;
}

node_table::iterator node_table::erase(iterator it) {
    if (has_shared_) {
        exclusive_.erase(it);
        waiting_shared_.erase(it);
    }
    return nodes_.erase(it);
}

void node_table::clear() noexcept {
    exclusive_.clear();
    waiting_shared_.clear();
    nodes_.clear();
    deleted_.clear();
}

bool node_table::is_waiter(const_iterator it) const {
    const auto* const c = it == nodes_.end() ? nullptr : it->second.local;
    return c && c->at == contender::stage::waiting && c->listed;
}

node_table::iterator node_table::nearest_blocker(iterator it) {
    if (it->second.as == role::exclusive)
        return it == nodes_.begin() ? nodes_.end() : std::prev(it);
    const auto writer = exclusive_.lower_bound(it);
    return writer == exclusive_.begin() ? nodes_.end() : *std::prev(writer);
}

bool node_table::exclusive_before(iterator it) const {
    return !exclusive_.empty() && by_position()(*exclusive_.begin(), it);
}

node_table::iterator node_table::first_waiter_behind(iterator next, role as) {
    for (auto it = next; it != nodes_.end(); ++it) {
        const bool exclusive = it->second.as == role::exclusive;
        if (exclusive && it != next) break; // its nearest blocker is a shared node between them
        if (!exclusive && as == role::shared) break;
        if (is_waiter(it)) return it;
        if (exclusive) break;
    }
    return nodes_.end();
}

bool node_table::blocks_waiter(const_iterator it) const {
    const role as = it->second.as;
    for (auto behind = std::next(it); behind != nodes_.end(); ++behind) {
        const bool exclusive = behind->second.as == role::exclusive;
        if (exclusive) return behind == std::next(it) && is_waiter(behind);
        if (as == role::shared) return false;
        if (is_waiter(behind)) return true;
    }
    return false;
}

bool node_table::blocked(const_iterator it, role as) const {
    if (as == role::exclusive || !has_shared_) return it != nodes_.begin();
    return !exclusive_.empty() && (it == nodes_.end() || (*exclusive_.begin())->first < it->first);
}

/// Walks the table: for diagnosis, not for the algorithm.
std::size_t node_table::count_before(const_iterator it, role as) const {
    const auto blocks = [as](const auto& one) { return exclude_each_other(as, one.second.as); };
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), it, blocks));
}

} // namespace paddock::rules
