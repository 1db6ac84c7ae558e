#pragma once

#include <algorithm>
#include <string_view>

namespace paddock {

/// A text without the spaces, tabs and line ends around it, as configuration files have them.
inline std::string_view without_spaces(std::string_view text) noexcept {
    constexpr std::string_view spaces = " \t\r\n";
    const auto start = std::min(text.find_first_not_of(spaces), text.size());
    return text.substr(start, text.find_last_not_of(spaces) + 1 - start);
}

} // namespace paddock
