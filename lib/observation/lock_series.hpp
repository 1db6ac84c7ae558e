#pragma once

#include "observation/counts.hpp"
#include "observation/times.hpp"

#include <paddock/error.hpp>
#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::detail {

/// The statistics of the locks of one group and kind. Strand only, unless marked "any thread".
class lock_series {
public:
    lock_series(std::string_view group, lock_kind kind) : group_(group), kind_(kind) {}

    const std::string& group() const noexcept { return group_; } ///< any thread
    lock_kind kind() const noexcept { return kind_; }            ///< any thread

    void wait_begins() noexcept { numbers::change(all_).add(waiters); }
    void wait_ends(boot_clock::duration waited, wait_outcome how) noexcept;
    void hold_begins() noexcept { numbers::change(all_).add(holds); }
    void hold_ends(boot_clock::duration held, error_code why) noexcept;
    std::size_t waiting() const noexcept { return static_cast<std::size_t>(all_.now(waiters)); }

    lock_statistics copy() const; ///< any thread

private:
    struct reason {
        errc why;
        std::string_view name;
    };
    /// Why holds are lost; the last one stands for all others.
    static constexpr std::array reasons{
        reason{errc::lease_lapsed, "lease_lapsed"},
        reason{errc::session_expired, "session_expired"},
        reason{errc::node_deleted, "node_deleted"},
        reason{errc::hold_expired, "hold_expired"},
        reason{errc::revoked, "revoked"},
        reason{errc::auth_failed, "auth_failed"},
        reason{errc::closed, "closed"},
    };
    // The places of the numbers.
    static constexpr std::size_t outcomes = 5;
    static constexpr std::size_t released = outcomes * histogram_size;
    static constexpr std::size_t lost = released + histogram_size;
    static constexpr std::size_t losses = lost + histogram_size;
    static constexpr std::size_t waiters = losses + reasons.size();
    static constexpr std::size_t holds = waiters + 1;
    using numbers = counts<holds + 1>;

    const std::string group_;
    const lock_kind kind_;
    numbers all_;
};

/// A lock as the statistics and the observer know it: part of the lock's description.
struct counted_lock {
    lock_series& series; ///< its client's
    std::string label;
};

} // namespace paddock::detail
