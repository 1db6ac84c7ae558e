#pragma once

#include "support/environment.hpp"

#include <algorithm>
#include <chrono>

namespace paddock {

/// Exponential backoff with jitter: 100 ms at first, doubled each time, at most 10 s. Each delay is
/// drawn between half and all of that, so that many clients do not reconnect at the same moment.
class backoff {
public:
    /// Less asks a server that starts too often; more delays the usual case, which is over soon.
    static constexpr std::chrono::milliseconds shortest{100};
    /// For failures that only a person's help ends; others have a limit of their own.
    static constexpr std::chrono::seconds usual_longest{10};

    explicit backoff(std::chrono::milliseconds longest = usual_longest) noexcept
        : longest_(longest) {}

    boot_clock::duration next(environment& env) {
        const auto longest =
            std::min<std::chrono::milliseconds>(shortest * (1 << tries_), longest_);
        if (longest < longest_) ++tries_;
        const auto half = longest.count() / 2;
        const auto random =
            static_cast<std::int64_t>(env.random() % (static_cast<std::uint64_t>(half) + 1));
        return std::chrono::milliseconds(half + random);
    }

    void reset() noexcept { tries_ = 0; }

private:
    const std::chrono::milliseconds longest_;
    int tries_ = 0;
};

} // namespace paddock
