#pragma once

#include "support/utf8.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

/// Whether a character ends a line, is not seen, or changes what is seen of others.
constexpr bool is_control(std::uint32_t code) noexcept {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// Escapes control characters (of ASCII, U+0080 to U+009F, and those that break or turn lines) and
/// bytes that are not UTF-8: a zero would end the text of an exception, a line feed a line of the
/// log. For every text that a user, a server or another program wrote.
inline std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        const auto [code, bytes] = first_character(text);
        const auto character = text.substr(0, bytes == 0 ? 1 : bytes);
        if (bytes > 0 && !is_control(code))
            out += character;
        else
            for (const unsigned char c : character)
                out.append("\\x").append({digits[c >> 4], digits[c & 15]});
        text.remove_prefix(character.size());
    }
    return out;
}

} // namespace paddock
