#include <paddock/fencing_token.hpp>

#include <charconv>

namespace paddock {

namespace {

constexpr std::size_t digits = 16;

void append(std::string& text, std::uint64_t part) {
    for (int shift = 60; shift >= 0; shift -= 4)
        text += "0123456789abcdef"[(part >> shift) & 0xF];
}

std::optional<std::uint64_t> read(std::string_view text) noexcept {
    std::uint64_t part = 0;
    for (const char c : text)
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) return std::nullopt;
    std::from_chars(text.data(), text.data() + text.size(), part, 16);
    return part;
}

} // namespace

std::string to_string(const fencing_token& token) {
    std::string text;
    text.reserve(2 * digits);
    append(text, static_cast<std::uint64_t>(token.zxid));
    append(text, token.sub);
    return text;
}

std::optional<fencing_token> parse_fencing_token(std::string_view text) noexcept {
    if (text.size() != 2 * digits) return std::nullopt;
    const auto zxid = read(text.substr(0, digits)), sub = read(text.substr(digits));
    if (!zxid || !sub || *zxid >> 63) return std::nullopt;
    return fencing_token{static_cast<std::int64_t>(*zxid), *sub};
}

} // namespace paddock
