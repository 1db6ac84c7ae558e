#include "redis/rules/held_key.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace paddock::redis::rules {

namespace {

using kind = answer::kind;
using std::chrono::milliseconds;
using answers = std::vector<std::optional<answer>>;

std::size_t count(const answers& said, std::initializer_list<kind> of) {
    const auto fits = [&](const auto& one) {
        return one && std::find(of.begin(), of.end(), one->what) != of.end();
    };
    return static_cast<std::size_t>(std::count_if(said.begin(), said.end(), fits));
}

std::size_t quorum_of(const answers& said) { return said.size() / 2 + 1; }

} // namespace

unkicked_value without_kick(std::string_view value) {
    constexpr std::string_view mark = "kicked:";
    const auto random = is_lock_value(value) ? value.find(':', value.find(':') + 1) : value.npos;
    if (random == value.npos || !value.substr(random + 1).starts_with(mark))
        return {std::string(value), false};
    auto own = std::string(value.substr(0, random + 1));
    return {own.append(value.substr(random + 1 + mark.size())), true};
}

std::optional<seen_hold> hold_in(const answers& said) {
    struct holder {
        std::vector<milliseconds> left;
        bool kicked = false;
    };
    std::map<std::string, holder> all; // by their values
    for (const auto& one : said) {
        if (!one || one->what != kind::held) continue;
        auto [value, kicked] = without_kick(one->holder);
        auto& of = all[std::move(value)];
        of.left.push_back(one->left.count() < 0 ? milliseconds::max() : one->left);
        of.kicked = of.kicked || kicked;
    }
    const auto most = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.second.left.size() < b.second.left.size();
    });
    const auto quorum = quorum_of(said);
    const auto silent = said.size() - count(said, {kind::held, kind::free});
    if (most == all.end() || most->second.left.size() + silent < quorum) return std::nullopt;
    auto& left = most->second.left;
    std::sort(left.begin(), left.end(), std::greater<>());
    const auto last_needed = std::min(quorum, left.size()) - 1;
    return seen_hold{most->first, left[last_needed], static_cast<int>(left.size()),
                     most->second.kicked};
}

bool is_known(const answers& said) {
    return count(said, {kind::held, kind::free}) >= quorum_of(said);
}

kick_result kicked_by(const answers& said) {
    const auto kicked = count(said, {kind::kicked});
    const auto silent = said.size() - kicked - count(said, {kind::gone});
    const auto enough = said.size() - quorum_of(said) + 1; // the others are no quorum
    if (kicked >= enough) return kick_result::done;
    return kicked + silent >= enough ? kick_result::unknown : kick_result::gone;
}

std::string_view description_in(std::string_view value) noexcept {
    if (!is_lock_value(value)) return {};
    for (int colons = 0; colons < 3; ++colons) {
        const auto at = value.find(':');
        if (at == value.npos) return {};
        value.remove_prefix(at + 1);
    }
    return value;
}

} // namespace paddock::redis::rules
