#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace cli {

namespace {

struct character {
    char32_t code = 0;
    std::size_t bytes = 0; ///< 0: it is no UTF-8
};

character character_of(std::string_view text) {
    const auto at = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    const unsigned lead = at(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
    char32_t code = lead & (0xffU >> (bytes + 1));
    for (std::size_t n = 1; n < bytes; ++n) {
        if ((at(n) & 0xc0U) != 0x80) return {};
        code = code << 6 | (at(n) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < smallest.at(bytes) || code > 0x10ffff || surrogate) return {};
    return {code, bytes};
}

bool harmless(char32_t code) {
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool line_end = code == 0x2028 || code == 0x2029;
    const bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return !control && !line_end && !direction;
}

/// With `instead` for what is no UTF-8, and for characters that are not good.
template <typename Good>
std::string cleaned(std::string_view text, std::string_view instead, Good good) {
    std::string out;
    while (!text.empty()) {
        const auto next = character_of(text);
        const bool keep = next.bytes > 0 && good(next.code);
        out += keep ? text.substr(0, next.bytes) : instead;
        text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    return out;
}

} // namespace

std::string valid_utf8(std::string_view text) {
    return cleaned(text, "\xef\xbf\xbd", [](char32_t) { return true; });
}

std::string printable(std::string_view text) { return cleaned(text, "?", harmless); }

std::size_t width(std::string_view text) {
    std::size_t characters = 0;
    for (const char c : text)
        if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80) ++characters;
    return characters;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& one : rows) {
        widths.resize(std::max(widths.size(), one.size()));
        for (std::size_t n = 0; n < one.size(); ++n)
            widths[n] = std::max(widths[n], width(one[n]));
    }
    std::string text;
    for (const auto& one : rows) {
        std::string line;
        for (std::size_t n = 0; n < one.size(); ++n)
            (line += one[n]).append(widths[n] - width(one[n]) + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string iso_time(std::chrono::system_clock::time_point time) {
    if (time == std::chrono::system_clock::time_point()) return {};
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    std::array<char, 32> text{};
    if (gmtime_r(&seconds, &parts) == nullptr) return {};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string hex(std::int64_t number) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
    return text.data();
}

} // namespace cli
