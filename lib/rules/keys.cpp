#include "rules/keys.hpp"

#include "rules/paths.hpp"

#include <boost/uuid/name_generator_sha1.hpp>

#include <algorithm>

namespace paddock::rules {

namespace {

/// A longer name is replaced by the beginning of it, a `~` and the digits of the key's hash.
/// The beginning is for people who look at the nodes; its length is wire format.
constexpr std::size_t longest_beginning = 120;
/// Neither an escape nor a character that ZooKeeper accepts has more bytes.
constexpr std::size_t longest_unit = 3;
constexpr std::size_t hash_digits = 32; ///< of a UUID

void append_hex(std::string& to, unsigned char byte, std::string_view digits) {
    to += digits[byte >> 4];
    to += digits[byte & 15];
}

void append_escape(std::string& to, char byte) {
    append_hex(to += '%', static_cast<unsigned char>(byte), "0123456789ABCDEF");
}

struct escaped_key {
    std::string name;
    std::size_t beginning = 0; ///< the longest one that divides neither escape nor character
};

/// Of a character that cannot stand in a name the first byte is escaped, and then its other bytes:
/// alone, they are not UTF-8.
escaped_key escape(std::string_view key) {
    escaped_key out;
    const bool relative = key == "." || key == "..";
    for (std::size_t i = 0; i < key.size();) {
        const auto bytes = name_character(key.substr(i));
        if (bytes == 0 || key[i] == '%' || (relative && i == 0))
            append_escape(out.name, key[i++]);
        else {
            out.name.append(key, i, bytes);
            i += bytes;
        }
        if (out.name.size() <= longest_beginning) out.beginning = out.name.size();
    }
    return out;
}

std::string hash_of(std::string_view key) {
    const boost::uuids::name_generator_sha1 generate(boost::uuids::ns::url());
    std::string digits;
    for (const auto byte : generate(key.data(), key.size()))
        append_hex(digits, byte, "0123456789abcdef");
    return digits;
}

/// Whether a name could be the one of a long key.
bool looks_hashed(std::string_view name) {
    constexpr std::size_t tail = 1 + hash_digits;
    if (name.size() > longest_beginning + tail ||
        name.size() <= longest_beginning - longest_unit + tail)
        return false;
    name.remove_prefix(name.size() - tail);
    return name.front() == '~' &&
           name.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

/// The value of the upper-case hex digit at this place.
std::optional<int> hex_digit(std::string_view text, std::size_t at) {
    const auto value = std::string_view("0123456789ABCDEF").find(at < text.size() ? text[at] : ' ');
    if (value == std::string_view::npos) return std::nullopt;
    return static_cast<int>(value);
}

} // namespace

std::string key_fault(std::string_view key) {
    if (key.empty()) return "is empty";
    if (key.size() > longest_key) return "is longer than 4096 bytes";
    return {};
}

std::string node_name_of_key(std::string_view key) {
    auto [name, beginning] = escape(key);
    if (name.size() > longest_key_name)
        name.replace(beginning, std::string::npos, '~' + hash_of(key));
    else if (looks_hashed(name))
        name.replace(name.size() - hash_digits - 1, 1, "%7E");
    return name;
}

std::optional<key_in_name> key_of_node_name(std::string_view name) {
    const bool hashed = looks_hashed(name);
    const auto shown = hashed ? name.substr(0, name.size() - hash_digits - 1) : name;
    key_in_name out{{}, !hashed};
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (shown[i] != '%') {
            out.key += shown[i];
            continue;
        }
        const auto high = hex_digit(shown, i + 1), low = hex_digit(shown, i + 2);
        if (!high || !low) return std::nullopt;
        out.key += static_cast<char>(*high * 16 + *low);
        i += 2;
    }
    if (!key_fault(out.key).empty()) return std::nullopt;
    const bool same = hashed ? escape(out.key).name == shown : node_name_of_key(out.key) == name;
    return same ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace paddock::rules
