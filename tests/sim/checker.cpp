#include "sim/checker.hpp"

#include "rules/own_directories.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

namespace paddock::test::sim {

namespace {

std::string leaf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_shared(const std::string& name) { return name.find("__READ__") != std::string::npos; }

/// The place in the queue by a node's name.
std::optional<std::pair<long, std::string>> place(const std::string& name) {
    constexpr std::size_t digits = 10;
    if (name.size() < digits) return std::nullopt;
    const auto number = name.substr(name.size() - digits);
    if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return std::pair(std::stol(number), name);
}

} // namespace

void checker::granted(const holding& h) {
    if (!h.held->valid()) return;
    const auto node = path(h);
    all_.time().note([&] { return h.contender + " holds " + node; });
    holdings_.push_back(h);
    if (!exists(h) && !h.where->hasty) check_news(h);
    if (exists(h)) {
        if (!h.lock->marker.empty()) check_order(h);
        if (h.exclusive && h.lock->permits == 1) check_token(h);
    }
    look();
}

void checker::shared(const guard* held) {
    for (auto& h : holdings_)
        if (h.held == held) h.exclusive = false;
}

void checker::released(const guard* held) {
    std::erase_if(holdings_, [=](const holding& h) { return h.held == held; });
}

void checker::forget(const host* where) {
    std::erase_if(holdings_, [=](const holding& h) { return h.where == where; });
}

/// The client's last answer on this connection is older than the end of its node. But a server
/// reports the end of a session one node after the other.
void checker::check_news(const holding& h) const {
    const auto [end, by_hand] = all_.end_of(path(h), h.session);
    if (by_hand && !h.fresh) return;
    const bool being_told = end == h.where->heard && !all_.truth().sessions().contains(h.session);
    must(end == 0 || end > h.where->heard || being_told,
         h.contender + " is granted " + path(h) +
             ", though what it has heard is younger than the node's end");
}

/// No conflicting node is before it.
void checker::check_order(const holding& h) const {
    const auto own = place(leaf(path(h)));
    const auto* const directory = all_.truth().find(root_ + h.lock->directory);
    if (!own || !directory) return;
    for (const auto& name : directory->children) {
        if (name.find(h.lock->marker) == std::string::npos) continue;
        const auto other = place(name);
        if (!other || *other >= *own || (!h.exclusive && is_shared(name))) continue;
        const auto before = root_ + h.lock->directory + '/' + name;
        const auto owner = all_.truth().find(before)->stat.ephemeral_owner;
        must(owner == h.session, h.contender + " is granted before " + name);
    }
}

void checker::check_token(const holding& h) {
    auto& last = tokens_[h.lock];
    const auto token = h.held->fencing_token();
    const auto* const node = all_.truth().find(path(h));
    must(token.zxid == node->stat.czxid, h.contender + " has a token that is not its node's czxid");
    const bool again = h.lock->recursive && token == last;
    must(token > last || again,
         h.contender + " has a token that is not greater than the one before");
    last = token;
}

bool checker::exists(const holding& h) const {
    const auto* const node = all_.truth().find(path(h));
    return node && node->stat.ephemeral_owner == h.session; // a simple lock's name is used again
}

/// A guard learns with a delay that its node was deleted by hand.
bool checker::counts(const holding& h) const {
    return h.held->valid() && (exists(h) || !all_.end_of(path(h), h.session).by_hand);
}

bool checker::same_holder(const holding& a, const holding& b) const {
    return a.lock == b.lock && a.lock->recursive && a.where == b.where && path(a) == path(b);
}

void checker::look() {
    for (auto& h : holdings_) {
        const bool valid = h.held->valid();
        must(!valid || !h.lost, h.contender + " has what was lost before");
        h.lost = !valid;
    }
    if (holdings_.size() < 2) return;
    std::map<const contested*, std::pair<int, int>> now; // exclusive, shared
    for (auto it = holdings_.begin(); it != holdings_.end(); ++it) {
        const auto& h = *it;
        const auto counted = [&](const holding& one) { return same_holder(one, h) && counts(one); };
        if (!counts(h) || std::any_of(holdings_.begin(), it, counted)) continue;
        const bool exclusive =
            h.exclusive || std::any_of(it, holdings_.end(), [&](const holding& one) {
                return one.exclusive && counted(one);
            });
        auto& [alone, together] = now[h.lock];
        ++(exclusive ? alone : together);
        if (alone > h.lock->permits || (alone > 0 && together > 0)) {
            std::string all;
            for (const auto& one : holdings_)
                if (one.lock == h.lock && counts(one))
                    all += (all.empty() ? "" : " and ") + one.contender + " (" + path(one) + ')';
            throw violation("held at the same time: " + all);
        }
    }
}

void checker::look_at_free(const contested& lock) {
    constexpr auto longest = std::chrono::seconds(50); // sessions of killed processes last 20 s
    const auto* const directory = all_.truth().find(root_ + lock.directory);
    std::map<std::pair<long, std::string>, std::int64_t> queue;
    if (directory)
        for (const auto& name : directory->children)
            if (const auto at = place(name); at && name.find(lock.marker) != std::string::npos)
                queue[*at] =
                    all_.truth().find(root_ + lock.directory + '/' + name)->stat.ephemeral_owner;
    auto& last = free_[&lock];
    const auto first = queue.begin();
    const bool company = queue.size() > 1 && std::next(first)->second != first->second;
    const auto path_of_first =
        company ? root_ + lock.directory + '/' + first->first.second : std::string();
    const bool held = std::any_of(holdings_.begin(), holdings_.end(), [&](const holding& h) {
        return h.lock == &lock && path(h) == path_of_first;
    });
    if (!company || held) {
        last = {};
    } else if (last.path != path_of_first) {
        last = {path_of_first, all_.time().now()};
    } else {
        must(all_.time().now() - last.since < longest,
             last.path + " is kept, though nobody holds it and another client waits");
    }
}

void checker::look_at_writes(const contested& lock) {
    const auto* const directory = all_.truth().find(root_ + lock.directory);
    if (!directory || directory->data == written_) return;
    written_ = directory->data;
    const auto token = parse_fencing_token(written_);
    const auto& last = tokens_[&lock];
    const bool same_node = token && token->zxid == last.zxid && token->sub >> 32 == last.sub >> 32;
    must(!same_node || token->sub >= last.sub,
         "a hold has written although the lock was passed on: " + written_);
}

void checker::look_at_the_end() const {
    for (const auto& [path, node] : all_.truth().nodes())
        must(node.stat.ephemeral_owner == 0, "an orphan: " + path);
    const auto watches = all_.watches();
    must(watches.empty(), "watches are left:" + watches);
}

void checker::look_for_empty_directories() const {
    for (const auto& [path, node] : all_.truth().nodes())
        must(node.data != rules::own_directory_data || !node.children.empty(),
             "an empty directory is left: " + path);
}

} // namespace paddock::test::sim
