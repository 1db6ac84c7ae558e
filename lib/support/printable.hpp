#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock {

/// Escapes control characters (of ASCII, and U+0080 to U+009F): a zero would end the text of an
/// exception, a line feed a line of the log. For every text that a user, a server or another
/// program wrote.
inline std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const auto at = [&](std::size_t i) {
            return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
        };
        const auto c = at(n);
        const bool two_bytes = c == 0xc2 && at(n + 1) >= 0x80 && at(n + 1) < 0xa0;
        const bool second_byte = n > 0 && at(n - 1) == 0xc2 && c >= 0x80 && c < 0xa0;
        if (c >= 0x20 && c != 0x7f && !two_bytes && !second_byte)
            out += text[n];
        else
            out.append("\\x").append({digits[c >> 4], digits[c & 15]});
    }
    return out;
}

} // namespace paddock
