#include "locks/sticky/sticky_lines.hpp"

#include <utility>

namespace paddock::detail {

/// Nodes that linger, or pass to the next local waiter, may take the room of other calls.
sticky_lines::sticky_lines(core& client) {
    client.node_budget().when_awaited([&client] {
        client.post([self = client.shared_from_this()] {
            for (const auto& one : self->use<sticky_lines>().all())
                one->look_at_room();
        });
    });
}

std::shared_ptr<sticky_line>
sticky_lines::find(const std::shared_ptr<const fair_lock>& lock) const {
    const auto [first, last] = lines_.equal_range(lock->directory);
    for (auto it = first; it != last; ++it)
        if (it->second->serves(lock)) return it->second;
    return nullptr;
}

std::shared_ptr<sticky_line> sticky_lines::get(const std::shared_ptr<const fair_lock>& lock) {
    if (auto known = find(lock)) return known;
    auto made = std::make_shared<sticky_line>(*this, lock);
    lines_.emplace(lock->directory, made);
    return made;
}

void sticky_lines::forget(const sticky_line& line) {
    const auto [first, last] = lines_.equal_range(line.directory());
    for (auto it = first; it != last; ++it)
        if (it->second.get() == &line) return void(lines_.erase(it));
}

void sticky_lines::end_lingering(const std::string& directory,
                                 const std::shared_ptr<sticky_line>& but) {
    const auto [first, last] = lines_.equal_range(directory);
    std::vector<std::shared_ptr<sticky_line>> there;
    for (auto it = first; it != last; ++it)
        if (it->second != but) there.push_back(it->second);
    for (const auto& one : there)
        one->end_lingering();
}

std::vector<std::shared_ptr<sticky_line>> sticky_lines::all() const {
    std::vector<std::shared_ptr<sticky_line>> out;
    out.reserve(lines_.size());
    for (const auto& [directory, line] : lines_)
        out.push_back(line);
    return out;
}

void sticky_lines::on_connected() {
    for (const auto& one : all())
        one->on_connected();
}

void sticky_lines::on_suspended() {
    for (const auto& one : all())
        one->on_suspended();
}

/// The queue tells each line of its contender. Watches end without an event.
void sticky_lines::on_expired() {
    for (const auto& one : all())
        one->on_suspended();
}

void sticky_lines::on_closed(error_code why) {
    for (const auto& one : all())
        one->on_closed(why);
    lines_.clear();
}

} // namespace paddock::detail
