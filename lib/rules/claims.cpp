#include "rules/claims.hpp"

#include <array>
#include <cstdio>

namespace paddock::rules {

namespace {

constexpr bool dash_at(std::size_t i) noexcept { return i == 8 || i == 13 || i == 18 || i == 23; }

std::optional<unsigned> hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    return std::nullopt;
}

} // namespace

std::string claims::text(node_id id) const {
    const auto s = static_cast<std::uint64_t>(session_);
    std::array<char, 37> out{};
    std::snprintf(
        out.data(), out.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
        static_cast<unsigned long long>(s >> 32), static_cast<unsigned long long>(s >> 16 & 0xffff),
        static_cast<unsigned long long>(s & 0xffff), static_cast<unsigned long long>(id >> 48),
        static_cast<unsigned long long>(id & 0xffff'ffff'ffff));
    return {out.data(), 36};
}

std::optional<node_id> claims::ours(std::string_view text) const noexcept {
    if (text.size() != 36) return std::nullopt;
    std::array<std::uint64_t, 2> halves{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (dash_at(i)) {
            if (text[i] != '-') return std::nullopt;
            continue;
        }
        const auto digit = hex_digit(text[i]);
        if (!digit) return std::nullopt;
        auto& half = halves[digits++ / 16];
        half = half << 4 | *digit;
    }
    if (halves[0] != static_cast<std::uint64_t>(session_)) return std::nullopt;
    return halves[1];
}

} // namespace paddock::rules
