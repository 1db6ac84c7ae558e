#pragma once

#include "redis/rules/scripts.hpp"
#include "sim/dice.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::test::sim {

/// What the scripts of redis/rules do with one server's keys, in virtual time.
class redis_model {
public:
    using answer = redis::rules::answer;
    using milliseconds = std::chrono::milliseconds;
    using microseconds = std::chrono::microseconds;

    struct one_key {
        std::string value;
        std::optional<microseconds> end; ///< by the server's clock
    };
    struct one_lock {
        std::optional<one_key> key;
        std::int64_t counter = 0;
    };
    struct one_marker {
        std::string id;
        microseconds since;
        milliseconds max_ttl;
        int servers;
    };
    struct data {
        std::map<std::string, one_lock> locks; ///< by name
        std::optional<one_marker> marker;
    };

    /// What a client says with every call.
    struct terms {
        std::string value;
        milliseconds ttl, max_ttl;
        std::string lock{}; ///< its name
        int servers = 1;
        bool trusts_new_servers = false;
    };

    answer acquire(time_point now, const terms& call);
    answer renew(time_point now, const terms& call, std::int64_t token);
    answer release(time_point now, const std::string& value, const std::string& lock = {});
    bool is_held(time_point now, const std::string& lock);

    /// All data is lost: a restart without a snapshot, FLUSHALL, another master.
    void forget() { data_ = {}; }
    /// Another process of the server begins with its data of then, or of now.
    const data& all() const noexcept { return data_; }
    void restart(const data& with);
    /// The same process has the data of another master.
    void follow(const data& of);
    /// Its marker is old enough.
    void come_of_age(time_point now, milliseconds max_ttl, int servers);
    microseconds clock(time_point now) const;
    /// From now on the server's clock gains so many thousandths.
    void slew(time_point now, int thousandths);
    /// The clock is set.
    void step(milliseconds by) { clock_base_ += by; }
    /// Another library's client sets the key, if it is free; for ever, if no time is given.
    void set_by_others(time_point now, std::string value, std::optional<milliseconds> ttl,
                       const std::string& lock = {});
    /// An administrator deletes the lock's key.
    void remove(const std::string& lock) { data_.locks[lock].key.reset(); }

    bool has_key(time_point now, const std::string& lock = {});
    /// How many keys of this library are there.
    std::size_t keys(time_point now);
    /// Identifies the server's process.
    const std::string& run_id() const noexcept { return run_id_; }

private:
    std::string id() const { return run_id_ + ' ' + std::to_string(masters_); }
    answer look(time_point now, const terms& call);
    answer taken(time_point now, one_lock& one, const terms& call) const;
    bool has_key(time_point now, one_lock& one) const;

    data data_;
    std::string run_id_{"0"};
    int restarts_ = 0;
    int masters_ = 0; ///< so many it has followed
    microseconds clock_base_{std::chrono::hours(24 * 365 * 50)};
    time_point base_{};
    int gain_ = 0;
};

} // namespace paddock::test::sim
