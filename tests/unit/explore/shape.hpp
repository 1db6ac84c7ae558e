#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Equal states have equal digests.
namespace paddock::test::explore {

struct digest {
    std::uint64_t high = 0, low = 0;
    friend bool operator==(const digest&, const digest&) = default;
    struct hash {
        std::size_t operator()(const digest& of) const { return of.low; }
    };
};

/// A state, written down as numbers. The rules and the model only compare some numbers with others
/// of their kind: of these only the order is written, so that states that differ in nothing else
/// are equal.
class shape {
public:
    enum kind : std::uint8_t { exact, sequence, node, zxid, ticket, look };

    template <class... Numbers>
    void add(Numbers... numbers) {
        (put(exact, static_cast<std::uint64_t>(numbers)), ...);
    }
    /// Numbers of different scopes are never compared.
    template <class Number>
    void put(kind of, Number number, std::uint64_t scope = 0) {
        auto value = static_cast<std::uint64_t>(number);
        if (of != exact && value != 0) known_[of].push_back(value |= scope << 48);
        written_.emplace_back(of, value);
    }
    void text(std::string_view what) {
        put(exact, what.size());
        for (std::size_t at = 0; at < what.size(); at += 8) {
            std::uint64_t packed = 0;
            for (const char c : what.substr(at, 8))
                packed = packed << 8 | static_cast<unsigned char>(c);
            put(exact, packed);
        }
    }
    /// Of a node: its session, its id, its kind, and its sequence number.
    void name(std::string_view what) {
        constexpr std::size_t protection = 3, session = 19, id = 17, digits = 10;
        std::uint64_t number = 0;
        if (what.size() > digits && digit(what.back())) {
            number = read(what.substr(what.size() - digits), 10) + 1;
            what.remove_suffix(digits);
        }
        put(sequence, number);
        if (!what.starts_with("_c_")) return text(what);
        put(node, read(what.substr(protection + session + 5, id - 5), 16));
        text(what.substr(0, protection + session));
        text(what.substr(protection + session + id));
    }

    digest finish() {
        for (auto& numbers : known_) {
            std::sort(numbers.begin(), numbers.end());
            numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        }
        digest d{0x9e37'79b9'7f4a'7c15, 0xc2b2'ae3d'27d4'eb4f};
        for (const auto& [of, number] : written_) {
            const auto value = of == exact || number == 0 ? number : rank(of, number);
            d.high = (d.high ^ value) * 0xff51'afd7'ed55'8ccd;
            d.high ^= d.high >> 29;
            d.low = (d.low + value) * 0xd6e8'feb8'6659'fd93 + of;
            d.low ^= d.low >> 32;
        }
        return d;
    }
    void clear() {
        written_.clear();
        for (auto& numbers : known_)
            numbers.clear();
    }

private:
    static bool digit(char c) { return c >= '0' && c <= '9'; }
    static std::uint64_t read(std::string_view digits, int base) {
        std::uint64_t number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
        return number;
    }
    std::uint64_t rank(kind of, std::uint64_t number) const {
        const auto& numbers = known_[of];
        const auto it = std::lower_bound(numbers.begin(), numbers.end(), number);
        return static_cast<std::uint64_t>(it - numbers.begin()) + 1;
    }

    std::vector<std::pair<kind, std::uint64_t>> written_;
    std::array<std::vector<std::uint64_t>, 6> known_;
};

} // namespace paddock::test::explore
