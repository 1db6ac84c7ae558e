#include "rules/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace paddock::rules {

namespace {

constexpr std::string_view protection = "_c_";
constexpr std::string_view kazoo_marker = "__lock__";
constexpr std::string_view marker_end =
    "-marker"; // ends without digits, so that no recipe takes it for a contender
constexpr std::size_t curator_id = 36; ///< a UUID with dashes
constexpr std::size_t short_id = 32;   ///< one without, as kazoo writes it

bool is_hex(std::string_view text) noexcept {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Parses a sequence number that the server printed with %010d, and accepts no other form.
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

/// The part of a protected name behind the id and its dash.
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

/// The part behind 32 hex digits and a dash: kazoo's Lock, configured with
/// another recipe's marker.
std::optional<std::string_view> after_digits(std::string_view child) noexcept {
    if (child.size() <= short_id || child[short_id] != '-' || !is_hex(child.substr(0, short_id)))
        return std::nullopt;
    return child.substr(short_id + 1);
}

/// The 32 hex digits of a name in kazoo's form, and the number that the ensemble appended.
struct kazoo_name {
    std::string_view id;
    std::string_view number;
};
std::optional<kazoo_name> kazoo_parts(std::string_view child) noexcept {
    if (child.size() < short_id || !is_hex(child.substr(0, short_id))) return std::nullopt;
    const auto rest = child.substr(short_id);
    if (!rest.starts_with(kazoo_marker)) return std::nullopt;
    return kazoo_name{child.substr(0, short_id), rest.substr(kazoo_marker.size())};
}

} // namespace

bool reserved(std::string_view lock_name) noexcept {
    constexpr std::array names{"_c_",       "lock-",    "latch-",   "lease-",    "__lock__",
                               "__rlock__", "__READ__", "__WRIT__", "__REVOKE__"};
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return lock_name.find(name) != std::string_view::npos;
    });
}

naming::naming(const std::string& lock_name)
    : exclusive_(lock_name + '-'), kazoo_(lock_name == "lock") {}

std::string naming::prefix(const claims& ids, node_id id, role as, style whose) const {
    if (whose == style::kazoo) return ids.digits(id) + std::string(kazoo_marker);
    return std::string(protection) + ids.text(id) + '-' +
           (as == role::shared ? shared_ : exclusive_);
}

std::optional<reading> naming::read(std::string_view child) const noexcept {
    for (const auto rest :
         {after_id(child, curator_id), after_id(child, short_id), after_digits(child), {child}}) {
        if (const auto number = after_marker(rest, exclusive_))
            return reading{*number, role::exclusive};
        if (!has_shared()) continue;
        if (const auto number = after_marker(rest, shared_)) return reading{*number, role::shared};
    }
    if (!kazoo_) return std::nullopt;
    const auto parts = kazoo_parts(child);
    const auto number = parts ? printed_number(parts->number) : std::nullopt;
    return number ? std::optional(reading{*number, role::exclusive}) : std::nullopt;
}

std::optional<std::int32_t> naming::sequence(std::string_view child) const noexcept {
    const auto parsed = read(child);
    return parsed ? std::optional(parsed->sequence) : std::nullopt;
}

fencing_token naming::token(std::string_view child, std::int64_t czxid) const noexcept {
    const auto parsed = read(child);
    if (!parsed || parsed->as == role::shared) return {};
    return {czxid, std::uint64_t{static_cast<std::uint32_t>(parsed->sequence)} << 32};
}

std::string marker_name(const claims& ids, node_id id, std::string_view lock_name) {
    return std::string(protection) + ids.text(id) + '-' + std::string(lock_name) +
           std::string(marker_end);
}

std::optional<std::string_view> marked_lock(std::string_view child) noexcept {
    auto rest = after_id(child, curator_id);
    if (!rest || !rest->ends_with(marker_end)) return std::nullopt;
    rest->remove_suffix(marker_end.size());
    return rest->empty() ? std::nullopt : rest;
}

std::optional<node_id> own_id(std::string_view child, const claims& ids) noexcept {
    if (after_id(child, curator_id)) return ids.parse(child.substr(protection.size(), curator_id));
    const auto parts = kazoo_parts(child);
    return parts ? ids.parse(parts->id) : std::nullopt;
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
