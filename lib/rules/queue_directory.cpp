// The directory of the queue: its parents, and an own directory.
#include "rules/queue.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

void queue::parents_made(outcome result, int code) {
    session_.parents_made();
    result = session_.unless_late(result);
    if (result == outcome::done) return start_joining();
    if (result == outcome::later) return session_.need_pause(actions_);
    if (result != outcome::refused && result != outcome::rarely) return; // connected() repeats it
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.at == stage::joining) fail(c, queue_act::why::refused, code);
    }
}

/// Together with its own directory, if it is the last node there as far as is known.
void queue::sweep_node(const contender& c, std::string name) {
    const bool last =
        contenders_.size() == 1 && table_.size() <= 1 && directory_.delete_with_last_node();
    actions_.push_back(queue_act::sweep{c.key, c.id, std::move(name), true, last});
}

/// All contenders have left, or the session has.
void queue::leave_directory() {
    if (const auto made = directory_.leave()) actions_.push_back(queue_act::directory_left{*made});
}

/// Other clients use the directory of a key.
void queue::report_company() {
    if (directory_.company()) actions_.push_back(queue_act::directory_shared{});
}

bool queue::made_directory() const noexcept {
    return directory_.own() || std::any_of(contenders_.begin(), contenders_.end(),
                                           [](auto& one) { return one.second.makes_directory(); });
}

/// A create that makes the directory makes its first node, or none.
std::vector<std::string> queue::own_nodes() const {
    std::vector<std::string> nodes;
    for (const auto& [where, entry] : table_)
        if (entry.local) nodes.push_back(where.name);
    for (const auto& [key, c] : contenders_)
        if (c.makes_directory())
            nodes.push_back(names_.prefix(ids_, c.id, c.how.as, c.how.style) + "0000000000");
    return nodes;
}

} // namespace paddock::rules
