// The directory of the queue: its parents, and an own directory.
#include "rules/queue.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

void queue::parents_made(outcome result, int code) {
    making_parents_ = false;
    result = unless_late(result, connected_);
    if (result == outcome::done) return start_joining();
    if (result == outcome::later) return need_pause();
    if (result != outcome::refused && result != outcome::rarely) return; // connected() repeats it
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.at == stage::joining) fail(c, queue_act::why::refused, code);
    }
}

void queue::need_parents(bool directory) {
    if (making_parents_) return;
    making_parents_ = true;
    actions_.push_back(queue_act::make_parents{directory});
}

/// Together with its own directory, if it is the last node there as far as is known.
void queue::sweep_node(const contender& c, std::string name) {
    const bool last =
        own_directory_ && directory_free_ && contenders_.size() == 1 && table_.size() <= 1;
    if (last) own_directory_ = false;
    actions_.push_back(queue_act::sweep{c.key, c.id, std::move(name), true, last});
}

/// The directory was made for this node, so there is none before it.
void queue::directory_made(contender& c) {
    own_directory_ = c.listed = true;
    perhaps_made_ = false;
}

/// Without our node in it, another client may replace the directory.
void queue::doubt_directory() {
    if (std::exchange(own_directory_, false)) perhaps_made_ = true;
}

/// All contenders have left, or the session has.
void queue::leave_directory() {
    const auto made = own_directory_  ? made_here::yes
                      : perhaps_made_ ? made_here::perhaps
                                      : made_here::no;
    if (keyed_ && (made != made_here::no || !directory_free_ || shared_reported_))
        actions_.push_back(queue_act::directory_left{made});
    own_directory_ = perhaps_made_ = shared_reported_ = false;
}

/// Other clients use the directory of a key.
void queue::report_company() {
    if (!keyed_) return;
    shared_reported_ = true;
    actions_.push_back(queue_act::directory_shared{});
}

bool queue::makes_directory(const contender& c) noexcept {
    return c.with_directory && (c.at == stage::creating || c.at == stage::unknown);
}

bool queue::made_directory() const noexcept {
    return own_directory_ || std::any_of(contenders_.begin(), contenders_.end(),
                                         [](auto& one) { return makes_directory(one.second); });
}

/// A create that makes the directory makes its first node, or none.
std::vector<std::string> queue::own_nodes() const {
    std::vector<std::string> nodes;
    for (const auto& [where, entry] : table_)
        if (entry.local) nodes.push_back(where.name);
    for (const auto& [key, c] : contenders_)
        if (makes_directory(c))
            nodes.push_back(names_.prefix(ids_, c.id, c.how.as, c.how.names) + "0000000000");
    return nodes;
}

} // namespace paddock::rules
