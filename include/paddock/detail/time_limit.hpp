#pragma once

#include <paddock/detail/cpp20.hpp>

#include <chrono>
#include <cstdint>

namespace paddock::detail {

/// Longer than any real wait, and short enough that the time of any clock plus this limit does not
/// overflow.
inline constexpr std::chrono::nanoseconds longest_limit = std::chrono::nanoseconds::max() / 2;

/// Converts the limit of a `try_…_for`, of any type: the result does not overflow, a fraction is
/// rounded up, and a negative limit (or one that is no number) is zero.
template <typename Rep, typename Period>
constexpr std::chrono::nanoseconds limit_of(const std::chrono::duration<Rep, Period>& limit) {
    using wide = std::chrono::duration<long double, std::nano>;
    const auto exact = std::chrono::duration_cast<wide>(limit);
    if (!(exact > wide::zero())) return std::chrono::nanoseconds::zero();
    if (exact >= wide(longest_limit)) return longest_limit;
    const auto whole = static_cast<std::int64_t>(exact.count());
    const bool fraction = static_cast<long double>(whole) < exact.count();
    return std::chrono::nanoseconds(fraction ? whole + 1 : whole);
}

/// The same for the time that is left until a `try_…_until` is over, by the clock of its point in
/// time as it is now: a later change of that clock's time has no effect.
template <typename Clock, typename Duration>
std::chrono::nanoseconds limit_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    using wide = std::chrono::duration<long double, std::nano>;
    const auto now = std::chrono::duration_cast<wide>(Clock::now().time_since_epoch());
    return limit_of(std::chrono::duration_cast<wide>(deadline.time_since_epoch()) - now);
}

/// The deadline of a `try_…_until`. It becomes a limit when the operation begins: an awaitable, or
/// a deferred operation, may begin long after the call that made it.
template <typename Clock, typename Duration>
struct until {
    std::chrono::time_point<Clock, Duration> deadline;

    operator std::chrono::nanoseconds() const { return limit_until(deadline); }
};
template <typename Clock, typename Duration>
until(std::chrono::time_point<Clock, Duration>) -> until<Clock, Duration>;

} // namespace paddock::detail
