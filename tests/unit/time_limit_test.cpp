#include <paddock/boot_clock.hpp>
#include <paddock/detail/time_limit.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <ratio>

using namespace paddock;
using namespace std::chrono;
using detail::limit_of;
using detail::limit_until;
using detail::longest_limit;

namespace {

/// A clock that stands still.
template <typename Rep, std::int64_t Now>
struct stopped_clock {
    using duration = std::chrono::duration<Rep, std::nano>;
    using rep = Rep;
    using period = std::nano;
    using time_point = std::chrono::time_point<stopped_clock>;
    static constexpr bool is_steady = false;
    static time_point now() noexcept { return time_point(duration(Now)); }
};
using clock_at_5 = stopped_clock<std::int64_t, 5>;

} // namespace

TEST_CASE("a limit of any type is converted to nanoseconds") {
    CHECK(limit_of(nanoseconds(1)) == 1ns);
    CHECK(limit_of(milliseconds(50)) == 50ms);
    CHECK(limit_of(hours(1)) == 1h);
    CHECK(limit_of(duration<std::int8_t>(100)) == 100s);
    CHECK(limit_of(duration<double>(0.25)) == 250ms);
    CHECK(limit_of(duration<float, std::milli>(0.5F)) == 500us);
    CHECK(limit_of(nanoseconds(1'234'567'890'123'456'789)) == 1'234'567'890'123'456'789ns);
}

TEST_CASE("a fraction of a nanosecond is rounded up, and not to a limit of zero") {
    CHECK(limit_of(duration<double>(1e-12)) == 1ns);
    CHECK(limit_of(duration<std::int64_t, std::pico>(1)) == 1ns);
    CHECK(limit_of(duration<std::int64_t, std::pico>(1500)) == 2ns);
    CHECK(limit_of(duration<std::int64_t, std::pico>(2000)) == 2ns);
}

TEST_CASE("a limit that is zero, negative or not a number is zero") {
    CHECK(limit_of(0s) == 0ns);
    CHECK(limit_of(-1ns) == 0ns);
    CHECK(limit_of(nanoseconds::min()) == 0ns);
    CHECK(limit_of(hours::min()) == 0ns);
    using real = duration<double>;
    CHECK(limit_of(real(-std::numeric_limits<double>::infinity())) == 0ns);
    CHECK(limit_of(real(std::numeric_limits<double>::quiet_NaN())) == 0ns);
}

TEST_CASE("a limit that is too long becomes the longest that can be added to any time") {
    CHECK(limit_of(longest_limit - 1ns) == longest_limit - 1ns);
    CHECK(limit_of(longest_limit) == longest_limit);
    CHECK(limit_of(longest_limit + 1ns) == longest_limit);
    CHECK(limit_of(nanoseconds::max()) == longest_limit);
    CHECK(limit_of(hours::max()) == longest_limit);
    CHECK(limit_of(duration<std::int64_t, std::pico>::max()) == 9'223'372'036'854'776ns);
    CHECK(limit_of(duration<double>(std::numeric_limits<double>::infinity())) == longest_limit);
    CHECK(boot_clock::now() + longest_limit > boot_clock::now());
}

TEST_CASE("the time left until a deadline is converted likewise") {
    const auto at = [](nanoseconds when) { return clock_at_5::time_point(when); };
    CHECK(limit_until(at(7ns)) == 2ns);
    CHECK(limit_until(at(5ns)) == 0ns);
    CHECK(limit_until(at(4ns)) == 0ns);
    CHECK(limit_until(clock_at_5::time_point::min()) == 0ns);
    CHECK(limit_until(clock_at_5::time_point::max()) == longest_limit);
    CHECK(limit_until(time_point<clock_at_5, hours>::max()) == longest_limit);
    CHECK(limit_until(time_point<clock_at_5, duration<double>>(1s)) == 1s - 5ns);
}

TEST_CASE("the conversion works for every value of the clock") {
    constexpr auto end = std::numeric_limits<std::int64_t>::max();
    using early = stopped_clock<std::int64_t, -end>;
    using late = stopped_clock<std::int64_t, end>;
    CHECK(limit_until(early::time_point::max()) == longest_limit);
    CHECK(limit_until(early::time_point(2ns - nanoseconds(end))) == 2ns);
    CHECK(limit_until(late::time_point::min()) == 0ns);
    CHECK(limit_until(late::time_point(nanoseconds(end))) == 0ns);
}

TEST_CASE("the extreme values of real clocks are valid deadlines") {
    CHECK(limit_until(steady_clock::time_point::min()) == 0ns);
    CHECK(limit_until(steady_clock::time_point::max()) == longest_limit);
    CHECK(limit_until(system_clock::time_point::min()) == 0ns);
    CHECK(limit_until(system_clock::time_point::max()) == longest_limit);
    CHECK(limit_until(boot_clock::time_point::min()) == 0ns);
    CHECK(limit_until(boot_clock::time_point::max()) == longest_limit);
    CHECK(limit_until(boot_clock::now() + 1h) <= 1h);
    CHECK(limit_until(boot_clock::now() + 1h) > 59min);
}
