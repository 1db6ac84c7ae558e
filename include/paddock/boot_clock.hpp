#pragma once

#include <paddock/detail/cpp20.hpp>

#include <chrono>

namespace paddock {

struct [[gnu::visibility("default")]] boot_clock;

/// The clock of leases and deadlines: CLOCK_BOOTTIME, which continues while the machine is
/// suspended. All processes of one machine read the same clock.
struct boot_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;

    /// Reads the clock without a system call.
    ///
    /// Thread safety: any thread may call it at any time.
    static time_point now() noexcept;
};

} // namespace paddock
