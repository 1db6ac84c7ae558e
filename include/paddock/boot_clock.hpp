#pragma once

#include <chrono>

namespace paddock {

/// The clock of leases and deadlines: CLOCK_BOOTTIME, which goes on while the machine is suspended.
/// All processes of one machine see the same one.
struct boot_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;

    /// Any thread; costs no system call.
    static time_point now() noexcept;
};

} // namespace paddock
