#pragma once

#include "redis/rules/scripts.hpp"
#include "sim/dice.hpp"

#include <optional>
#include <string>

namespace paddock::test::sim {

/// What the scripts of redis/rules do on one server with the keys of one lock, in virtual time.
class redis_model {
public:
    using answer = redis::rules::answer;
    using milliseconds = std::chrono::milliseconds;

    /// What a client says with every call.
    struct terms {
        std::string value;
        milliseconds ttl, max_ttl;
    };

    answer acquire(time_point now, const terms& call);
    answer renew(time_point now, const terms& call, std::int64_t token);
    answer release(time_point now, const std::string& value);

    /// All data is lost: a restart without a snapshot, FLUSHALL, another master.
    void forget();
    /// From now on the server's clock gains so many thousandths.
    void slew(time_point now, int thousandths);
    /// Another library's client sets the key, if it is free.
    void set_by_others(time_point now, std::string value, milliseconds ttl);

    bool has_key(time_point now);

private:
    using microseconds = std::chrono::microseconds;
    struct key {
        std::string value;
        microseconds end; ///< by the server's clock
    };

    microseconds clock(time_point now) const;
    answer look(time_point now, milliseconds max_ttl);
    answer taken(time_point now) const;

    std::optional<key> key_;
    std::optional<microseconds> since_; ///< the marker's
    std::int64_t counter_ = 0;
    microseconds clock_base_{std::chrono::hours(24 * 365 * 50)};
    time_point base_{};
    int gain_ = 0;
};

} // namespace paddock::test::sim
