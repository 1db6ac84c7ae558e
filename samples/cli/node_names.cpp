#include "node_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace cli {

namespace {

constexpr std::size_t digits = 10;

bool hex_digits(std::string_view text, std::size_t count) {
    return text.size() >= count &&
           text.substr(0, count).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The length of what stands before the marker of the recipe.
std::size_t id_length(std::string_view node) {
    for (const std::size_t id : {std::size_t{36}, std::size_t{32}})
        if (node.starts_with("_c_") && node.size() > id + 3 && node[id + 3] == '-') return id + 4;
    if (!hex_digits(node, 32)) return 0;
    const auto rest = node.substr(32);
    if (rest.starts_with("__lock__")) return 32;
    return rest.starts_with('-') ? 33 : 0;
}

} // namespace

std::string name_of(lock_kind kind) {
    switch (kind) {
    case lock_kind::none:
        return "free";
    case lock_kind::mutex:
        return "mutex";
    case lock_kind::shared_mutex:
        return "shared_mutex";
    case lock_kind::semaphore:
        return "semaphore";
    case lock_kind::election:
        return "election";
    case lock_kind::simple_mutex:
        return "simple_mutex";
    case lock_kind::family:
        return "family";
    case lock_kind::redis:
        return "redis";
    case lock_kind::directory:
        return "directory";
    }
    return "";
}

std::optional<contender_name> read_contender_name(std::string_view node) {
    const auto end = node.find_last_not_of("0123456789");
    const auto number = end == std::string_view::npos ? 0 : end + 1;
    if (number == 0 || node.size() - number != digits) return {};
    const auto id = id_length(node);
    const auto marker = node.substr(0, number).substr(std::min(id, number));
    static constexpr std::array<std::pair<std::string_view, lock_kind>, 6> markers{
        {{"lock-", lock_kind::mutex},
         {"__lock__", lock_kind::mutex},
         {"latch-", lock_kind::election},
         {"lease-", lock_kind::semaphore},
         {"__READ__", lock_kind::shared_mutex},
         {"__WRIT__", lock_kind::shared_mutex}}};
    for (const auto& [text, kind] : markers)
        if (marker == text && (text != "__lock__" || id == 32))
            return contender_name{kind, "lock", id > 0};
    const bool named = id == 40 && marker.size() > 1 && marker.ends_with('-');
    if (!named) return {};
    return contender_name{lock_kind::mutex, std::string(marker.substr(0, marker.size() - 1)),
                          false};
}

} // namespace cli
