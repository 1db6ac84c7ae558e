#pragma once

#include "redis/rules/attempt.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace paddock::redis::rules {

/// When one waiter's next attempt begins, and how.
class pace {
public:
    /// How long a waiter sleeps at most: the clients of other libraries do not tell of a release,
    /// and a message can be lost. Shorter costs the servers a request of each waiter more often,
    /// longer leaves such a lock free for longer.
    static constexpr std::chrono::seconds longest_sleep{1};

    struct plan {
        /// Until the next attempt, unless there is a message of the lock's channel before. After a
        /// message, one server is asked first.
        boot_clock::duration sleep{};
        bool one_first = false; ///< also after the sleep

        friend bool operator==(const plan&, const plan&) = default;
    };

    explicit pace(boot_clock::duration ttl) : ttl_(ttl) {}

    /// After an attempt has failed. `round_trip` is how long an answer takes, `hears` whether this
    /// client will hear of releases, `random` any number.
    plan after(const attempt& failed, boot_clock::duration round_trip, bool hears,
               std::uint64_t random);
    /// After a message of a release: how long to wait before the next attempt. The first one is
    /// made at once; those who lost such races to others wait for longer and longer, up to a random
    /// time, so that a crowd does not ask all at once.
    boot_clock::duration after_message(boot_clock::duration round_trip, std::uint64_t random);
    /// An attempt has succeeded.
    void granted() noexcept;

    /// The lock was kept for so long, and other clients listen: how long they may ask first, or
    /// zero. The request of a distant one comes at any time, and so needs a fair part of it. After
    /// yields that nobody has used (a listener can be a stopped process), the times of short holds
    /// are added up until that part is worth a yield.
    boot_clock::duration yield(boot_clock::duration kept, boot_clock::duration round_trip);
    /// Another client has the lock, or has had it.
    void rival_had_it() noexcept;

private:
    boot_clock::duration sleep_behind(const std::vector<const answer*>& same, std::size_t needed,
                                      bool is_heard);
    boot_clock::duration sleep_behind_foreigner(const std::string& holder);

    boot_clock::duration ttl_;
    std::string foreigner_; ///< the value of another program's key at the last look
    boot_clock::duration foreign_sleep_ = longest_sleep;
    int splits_ = 0;              ///< in a row
    int lost_races_ = 0;          ///< since the latest grant
    bool races_ = false;          ///< the attempt follows a message
    boot_clock::duration kept_{}; ///< since the latest yield
    bool has_yielded_ = false;    ///< since the latest grant; to nobody, as far as is known
    int unused_yields_ = 0;       ///< in a row
};

} // namespace paddock::redis::rules
