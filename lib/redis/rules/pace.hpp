#pragma once

#include "redis/rules/attempt.hpp"

#include <cstdint>
#include <vector>

namespace paddock::redis::rules {

/// When one waiter's next attempt begins, and how.
class pace {
public:
    /// How long a waiter sleeps at most: the clients of other libraries do not tell of a release,
    /// and a message can be lost.
    static constexpr std::chrono::seconds longest_sleep{1};

    struct plan {
        /// Until the next attempt, unless there is a message of the lock's channel before. After a
        /// message, one server is asked first.
        boot_clock::duration sleep{};
        bool one_first = false; ///< also after the sleep

        friend bool operator==(const plan&, const plan&) = default;
    };

    explicit pace(boot_clock::duration ttl) : ttl_(ttl) {}

    /// After an attempt has failed. `round_trip` is how long an answer takes, `random` any number.
    plan after(const attempt& failed, boot_clock::duration round_trip, std::uint64_t random);
    /// An attempt has succeeded.
    void granted() noexcept { splits_ = 0; }

private:
    boot_clock::duration sleep_behind(const std::vector<const answer*>& same, std::size_t needed,
                                      bool is_lock) const;

    boot_clock::duration ttl_;
    int splits_ = 0; ///< in a row
};

} // namespace paddock::redis::rules
