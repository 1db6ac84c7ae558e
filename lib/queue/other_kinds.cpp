#include "queue/other_kinds.hpp"

#include "rules/log_limit.hpp"
#include "rules/paths.hpp"

namespace paddock::detail {

bool other_kinds::due() {
    constexpr auto pause = rules::log_limit::first_pause; // no line of the log comes more often
    const auto now = core_.env().now();
    if (core_.closed() || now < next_look_) return false;
    next_look_ = now + pause;
    return true;
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
