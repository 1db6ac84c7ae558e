#pragma once

#include "observation/observers.hpp"
#include "redis/rules/scripts.hpp"
#include "support/gauge.hpp"

#include <paddock/statistics.hpp>

#include <atomic>
#include <optional>

namespace paddock::redis::detail {

/// Counts the scripts that one server executes. Strand only, unless marked "any thread".
class script_traffic {
public:
    explicit script_traffic(paddock::detail::observers& outside) : observers_(outside) {}

    void called() noexcept { ++in_flight_; }
    /// Nothing: the server cannot be reached.
    void answered(rules::script which, const std::optional<rules::answer>& said,
                  boot_clock::duration took);
    /// No answer comes any more.
    void end() noexcept { in_flight_ = 0; }

    void copy_to(server_statistics& out) const; ///< any thread

private:
    using numbers = paddock::detail::counts<paddock::detail::histogram_size>;

    paddock::detail::observers& observers_;
    numbers times_;
    std::atomic<boot_clock::rep> last_{0};
    paddock::detail::gauge in_flight_;
};

} // namespace paddock::redis::detail
