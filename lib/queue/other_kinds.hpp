#pragma once

#include "rules/kinds.hpp"
#include "session/core.hpp"

#include <paddock/boot_clock.hpp>

#include <span>
#include <string>
#include <unordered_set>

namespace paddock::detail {

/// Says in the log that locks of another kind are at a lock's path. One for each client: see
/// core::use(). Strand only.
class other_kinds final : public session_listener {
public:
    explicit other_kinds(core& client) : core_(client) {}

    /// Whether it is time to look at the path; then not again for a while, because a listing can be
    /// long, and locks come and go.
    bool due(const std::string& path);
    /// `children` are those of the path.
    void look(const std::string& path, rules::lock_kind own, std::span<const std::string> children);

private:
    core& core_;
    boot_clock::time_point next_round_{};
    std::unordered_set<std::string> seen_, seen_before_; ///< in this round, and in the one before
};

} // namespace paddock::detail
