#pragma once

#include "rules/kinds.hpp"
#include "session/core.hpp"

#include <paddock/boot_clock.hpp>

#include <span>
#include <string>

namespace paddock::detail {

/// Says in the log that locks of another kind are at a lock's path. Strand only.
class other_kinds {
public:
    explicit other_kinds(core& client) : core_(client) {}

    /// Whether it is time to look; then not again for a while, because a listing can be long.
    bool due();
    /// `children` are those of the path.
    void look(const std::string& path, rules::lock_kind own, std::span<const std::string> children);

private:
    core& core_;
    boot_clock::time_point next_look_{};
};

} // namespace paddock::detail
