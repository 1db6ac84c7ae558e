// What the queue promises to itself.
#include "rules/queue.hpp"
#include "support/invariant.hpp"

#include <algorithm>

namespace paddock::rules {

namespace {
/// Contenders: the walk through them comes after every event, and would make a crowd's work grow
/// with the square of its size.
constexpr std::size_t longest_checked = 32;
} // namespace

void queue::check_invariants() const {
    if (contenders_.size() > longest_checked) return;
    detail::invariant("each counter of contenders equals what it counts",
                      [&] { return contenders_.counts() == contenders_.counted(); });
    detail::invariant("the id of a node, or of one that may exist, is claimed", [&] {
        return std::all_of(contenders_.begin(), contenders_.end(), [&](const auto& one) {
            const contender& c = one.second;
            return (c.at == stage::joining || ids_.claimed(c.id)) &&
                   (c.downgrade_id == 0 || ids_.claimed(c.downgrade_id));
        });
    });
}

} // namespace paddock::rules
