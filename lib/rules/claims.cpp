#include "rules/claims.hpp"

#include <array>
#include <cstdio>

namespace paddock::rules {

namespace {

constexpr std::size_t id_length = 36;
constexpr std::size_t session_part = 19; ///< 16 digits, and the dashes behind 8, 12 and 16
constexpr std::size_t dash_in_number = 4;
constexpr std::size_t number_part = 16; ///< digits, besides the dash

std::optional<unsigned> hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    return std::nullopt;
}

} // namespace

void claims::begin(std::int64_t session) {
    session_ = session;
    claimed_.clear();
    session_text_ = text(0).substr(0, session_part);
    session_digits_ = digits(0).substr(0, number_part);
}

std::string claims::text(node_id id) const {
    const auto s = static_cast<std::uint64_t>(session_);
    std::array<char, id_length + 1> out{};
    std::snprintf(
        out.data(), out.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
        static_cast<unsigned long long>(s >> 32), static_cast<unsigned long long>(s >> 16 & 0xffff),
        static_cast<unsigned long long>(s & 0xffff), static_cast<unsigned long long>(id >> 48),
        static_cast<unsigned long long>(id & 0xffff'ffff'ffff));
    return {out.data(), id_length};
}

std::string claims::digits(node_id id) const {
    std::string out = text(id);
    std::erase(out, '-');
    return out;
}

std::optional<node_id> claims::ours(std::string_view text) const noexcept {
    const bool dashed = text.size() == id_length;
    const std::string_view session = dashed ? session_text_ : session_digits_;
    if (session.empty() || !text.starts_with(session)) return std::nullopt;
    const auto number = text.substr(session.size());
    if (number.size() != (dashed ? number_part + 1 : number_part)) return std::nullopt;
    if (dashed && number[dash_in_number] != '-') return std::nullopt;
    node_id id = 0;
    for (std::size_t i = 0; i < number.size(); ++i) {
        if (dashed && i == dash_in_number) continue;
        const auto digit = hex_digit(number[i]);
        if (!digit) return std::nullopt;
        id = id << 4 | *digit;
    }
    return id;
}

} // namespace paddock::rules
