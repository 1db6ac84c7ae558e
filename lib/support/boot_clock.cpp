#include <paddock/boot_clock.hpp>

#include <ctime>

namespace paddock {

boot_clock::time_point boot_clock::now() noexcept {
    std::timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

} // namespace paddock
