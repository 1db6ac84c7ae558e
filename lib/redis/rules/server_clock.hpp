#pragma once

#include <paddock/boot_clock.hpp>

#include <chrono>
#include <optional>

namespace paddock::redis::rules {

/// Notices when a server's clock is set: keys then expire too early, or too late. Every answer
/// tells the server's time, at some moment between its request and itself. Slews are no steps.
class server_clock {
public:
    using time_point = boot_clock::time_point;

    /// True if the clock was set since the previous answer.
    bool stepped(time_point sent, time_point answered, std::chrono::microseconds clock);

private:
    /// What the server's clock is ahead of the local one.
    struct lead {
        boot_clock::duration least, most;
        time_point as_of;
    };
    std::optional<lead> lead_;
};

} // namespace paddock::redis::rules
