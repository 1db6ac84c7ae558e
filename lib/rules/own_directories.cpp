#include "rules/own_directories.hpp"

#include "rules/paths.hpp"

#include <algorithm>

namespace paddock::rules {

bool own_directories::free(std::string_view directory) const {
    return (known_.empty() || !known_.contains(directory)) &&
           (refusing_.empty() || !refusing_.contains(parent(directory)));
}

void own_directories::shared(std::string_view directory, time now) {
    auto it = known_.find(directory);
    if (it == known_.end()) it = known_.emplace(directory, own_directories::directory{}).first;
    it->second.in_use = now;
    if (it->second.visit) visit_at(it, now + quiet);
}

void own_directories::refused(std::string_view directory) {
    if (refusing_.size() >= most_refusals) refusing_.clear();
    refusing_.emplace(parent(directory));
}

bool own_directories::ask(std::string_view directory) {
    const auto it = known_.find(directory);
    if (it == known_.end() || it->second.of != origin::unknown) return false;
    it->second.of = origin::asked;
    return true;
}

void own_directories::answered(std::string_view directory, origin of) {
    const auto it = known_.find(directory);
    if (it != known_.end() && it->second.of == origin::asked) it->second.of = of;
}

bool own_directories::made_by_locks(std::string_view directory) const {
    const auto it = known_.find(directory);
    return it != known_.end() && it->second.of == origin::locks;
}

void own_directories::left(std::string_view directory, made_here made, time now) {
    auto it = known_.find(directory);
    if (it == known_.end()) {
        if (made == made_here::no) return;
        it = known_.emplace(directory, own_directories::directory{.in_use = now}).first;
    }
    auto& known = it->second;
    known.pause = quiet;
    if (made != made_here::no) known.of = made == made_here::yes ? origin::locks : origin::unknown;
    const auto first = made == made_here::perhaps ? now : std::max(now, known.in_use + quiet);
    const bool expected = known.of == origin::unknown && known.visit;
    visit_at(it, expected ? std::clamp(*known.visit, now, first) : first);
}

void own_directories::visit_at(directories::iterator where, time when) {
    auto& [path, known] = *where;
    if (known.visit) visits_.erase({*known.visit, path});
    known.visit = when;
    visits_.emplace(when, path);
}

std::vector<std::string> own_directories::take_due(time now, std::size_t most) {
    std::vector<std::string> due;
    while (due.size() < most && !visits_.empty() && visits_.begin()->first <= now) {
        auto path = std::move(visits_.extract(visits_.begin()).value().second);
        known_.find(path)->second.visit.reset();
        due.push_back(std::move(path));
    }
    return due;
}

std::optional<own_directories::time> own_directories::next_visit() const {
    if (visits_.empty()) return std::nullopt;
    return visits_.begin()->first;
}

void own_directories::visited(std::string_view directory, found what, time now) {
    const auto it = known_.find(directory);
    if (it == known_.end() || it->second.visit) return; // a contender has left it meanwhile
    if (what == found::nothing || what == found::foreign) {
        known_.erase(it);
        return;
    }
    auto& known = it->second;
    if (what != found::no_answer) known.of = origin::locks; // the visit has read its data
    if (what == found::lately_used) return visit_at(it, known.in_use + quiet);
    if (what == found::in_use) {
        known.in_use = now;
        known.pause = std::min<boot_clock::duration>(2 * known.pause, longest_pause);
    }
    visit_at(it, now + known.pause);
}

bool own_directories::lately_used(std::string_view directory, time now) const {
    const auto it = known_.find(directory);
    return it != known_.end() && now < it->second.in_use + quiet;
}

std::vector<std::string> own_directories::close() {
    std::vector<std::string> made_by_locks;
    for (const auto& [path, known] : known_)
        if (known.of == origin::locks) made_by_locks.push_back(path);
    visits_.clear();
    known_.clear();
    refusing_.clear();
    return made_by_locks;
}

} // namespace paddock::rules
