#include "rules/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace paddock::rules {

namespace {

constexpr std::string_view protection = "_c_";
constexpr std::string_view kazoo_marker = "__lock__";
constexpr std::size_t curator_id = 36;
constexpr std::size_t go_id = 32;

bool is_hex(std::string_view text) noexcept {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// What the server prints with %010d for a sequence number, read back; nothing else.
std::optional<std::int32_t> printed_number(std::string_view text) noexcept {
    constexpr std::size_t width = 10;
    const bool negative = text.starts_with('-');
    const bool padded = text.size() == width;
    const bool too_wide = text.size() == width + 1 && negative && text[1] != '0';
    if (!padded && !too_wide) return std::nullopt;
    std::int32_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (negative && value == 0) return std::nullopt;
    return value;
}

/// What follows a protected name's id and its dash.
std::optional<std::string_view> after_id(std::string_view child, std::size_t id_length) noexcept {
    const auto start = protection.size() + id_length;
    if (!child.starts_with(protection) || child.size() <= start || child[start] != '-')
        return std::nullopt;
    return child.substr(start + 1);
}

std::optional<std::int32_t> after_marker(std::optional<std::string_view> rest,
                                         std::string_view marker) noexcept {
    if (!rest || !rest->starts_with(marker)) return std::nullopt;
    return printed_number(rest->substr(marker.size()));
}

std::optional<std::int32_t> kazoo_sequence(std::string_view child) noexcept {
    if (child.size() < go_id || !is_hex(child.substr(0, go_id))) return std::nullopt;
    return after_marker(child.substr(go_id), kazoo_marker);
}

} // namespace

bool reserved(std::string_view lock_name) noexcept {
    constexpr std::array names{"_c_",       "lock-",    "latch-",   "lease-",    "__lock__",
                               "__rlock__", "__READ__", "__WRIT__", "__REVOKE__"};
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return lock_name.find(name) != std::string_view::npos;
    });
}

naming::naming(std::string lock_name)
    : marker_(std::move(lock_name) + '-'), kazoo_(marker_ == "lock-") {}

std::string naming::prefix(const claims& ids, node_id id) const {
    return std::string(protection) + ids.text(id) + '-' + marker_;
}

std::optional<std::int32_t> naming::sequence(std::string_view child) const noexcept {
    auto number = after_marker(after_id(child, curator_id), marker_);
    if (!number) number = after_marker(after_id(child, go_id), marker_);
    if (!number) number = after_marker(child, marker_);
    if (!number && kazoo_) number = kazoo_sequence(child);
    return number;
}

std::optional<node_id> own_id(std::string_view child, const claims& ids) noexcept {
    if (!after_id(child, curator_id)) return std::nullopt;
    return ids.ours(child.substr(protection.size(), curator_id));
}

std::vector<std::string> orphans(const std::vector<std::string>& children, const claims& ids) {
    std::vector<std::string> found;
    for (const auto& child : children) {
        const auto id = own_id(child, ids);
        if (id && !ids.claimed(*id)) found.push_back(child);
    }
    return found;
}

} // namespace paddock::rules
