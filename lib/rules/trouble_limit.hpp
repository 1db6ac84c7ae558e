#pragma once

#include "support/trouble.hpp"

#include <paddock/boot_clock.hpp>

#include <array>
#include <chrono>
#include <optional>

namespace paddock::rules {

/// Limits the log: one line of each kind of trouble in ten seconds.
class trouble_limit {
public:
    bool allows(trouble_kind kind, boot_clock::time_point now) noexcept {
        auto& last = last_[static_cast<std::size_t>(kind)];
        if (last && now - *last < std::chrono::seconds(10)) return false;
        last = now;
        return true;
    }

private:
    std::array<std::optional<boot_clock::time_point>, trouble_kinds> last_;
};

} // namespace paddock::rules
