#include "queue/other_kinds.hpp"

#include "rules/log_limit.hpp"
#include "rules/paths.hpp"

#include <cstddef>
#include <utility>

namespace paddock::detail {

bool other_kinds::due(const std::string& path) {
    constexpr auto round = rules::log_limit::first_pause; // no line of the log comes more often
    constexpr std::size_t most_paths = 1000; // some 100 KiB; the others have another round
    const auto now = core_.env().now();
    if (core_.closed()) return false;
    if (now >= next_round_) {
        seen_before_ = std::exchange(seen_, {});
        next_round_ = now + round;
    }
    if (seen_before_.contains(path) || seen_.size() == most_paths) return false;
    return seen_.insert(path).second;
}

void other_kinds::look(const std::string& path, rules::lock_kind own,
                       std::span<const std::string> children) {
    const auto found = rules::other_kind(children, own);
    if (!found) return;
    core_.trouble(log_code::two_kinds_of_lock,
                  "the lock " + path + " is " + std::string(rules::name_of(own)) + ", but " +
                      rules::child(path, found->name) + " is of " +
                      std::string(rules::name_of(found->kind)) +
                      " at the same path: they do not exclude each other, and are granted side by "
                      "side. Give one of them another path",
                  path);
}

} // namespace paddock::detail
