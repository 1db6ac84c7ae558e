#include "rules/claims.hpp"

namespace paddock::rules {

namespace {

constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr std::size_t id_length = shape.size();
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
    std::string out(shape);
    auto low = id, high = static_cast<std::uint64_t>(session_);
    for (std::size_t i = id_length; i-- > 0;) {
        if (out[i] == '-') continue;
        out[i] = "0123456789abcdef"[low & 0xf];
        low = low >> 4 | high << 60;
        high >>= 4;
    }
    return out;
}

std::string claims::digits(node_id id) const {
    std::string out = text(id);
    std::erase(out, '-');
    return out;
}

std::optional<node_id> claims::parse(std::string_view text) const noexcept {
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
    if (id > last_) return std::nullopt; // of a node that another program has created
    return id;
}

} // namespace paddock::rules
