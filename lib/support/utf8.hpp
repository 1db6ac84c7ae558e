#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paddock {

struct character {
    std::uint32_t code = 0;
    std::size_t bytes = 0; ///< 0: not UTF-8
};

/// The first character of a text that is not empty.
inline character first_character(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                              : lead >= 0xe0 && lead < 0xf0 ? 3
                              : lead >= 0xc2 && lead < 0xe0 ? 2
                                                            : 0;
    if (bytes == 0 || bytes > text.size()) return {};
    std::uint32_t code = lead & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if ((c & 0xc0) != 0x80) return {};
        code = code << 6 | (c & 0x3fu);
    }
    constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < smallest[bytes] || code > 0x10ffff || surrogate) return {};
    return {code, bytes};
}

} // namespace paddock
