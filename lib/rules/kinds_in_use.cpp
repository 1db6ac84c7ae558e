#include "rules/kinds_in_use.hpp"

namespace paddock::rules {

kinds_in_use::place kinds_in_use::know(std::string_view path) {
    auto at = paths_.find(path);
    if (at == paths_.end()) at = paths_.emplace(path, uses{}).first;
    ++at->second.known;
    return at;
}

void kinds_in_use::forget(place at) {
    if (--at->second.known == 0) paths_.erase(at);
}

std::optional<lock_kind> kinds_in_use::begin(place at, lock_kind kind) {
    auto& uses = at->second;
    if (uses.now > 0 && uses.kind != kind) return uses.kind;
    uses.kind = kind;
    ++uses.now;
    return std::nullopt;
}

void kinds_in_use::end(place at) { --at->second.now; }

} // namespace paddock::rules
