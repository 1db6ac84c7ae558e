#pragma once

#include <chrono>
#include <cstdio>
#include <sys/resource.h>

namespace paddock::bench {

/// Wall and CPU time of a piece of work, printed as one line that compare.py reads.
class stopwatch {
public:
    stopwatch() : wall_(std::chrono::steady_clock::now()), cpu_(cpu_now()) {}

    void tell(long cycles) const {
        const std::chrono::duration<double, std::micro> wall =
            std::chrono::steady_clock::now() - wall_;
        std::printf("cycles %ld wall_us %.3f cpu_us %.3f\n", cycles,
                    wall.count() / static_cast<double>(cycles),
                    (cpu_now() - cpu_) / static_cast<double>(cycles));
    }

private:
    static double cpu_now() {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        const auto us = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
        };
        return us(used.ru_utime) + us(used.ru_stime);
    }

    std::chrono::steady_clock::time_point wall_;
    double cpu_;
};

} // namespace paddock::bench
