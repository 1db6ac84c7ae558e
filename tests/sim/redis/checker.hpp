#pragma once

#include "sim/timeline.hpp"

#include <paddock/guard.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace paddock::test::sim {

class redis_process;

/// Knows the guards of all processes, and checks the promises of the locks on Redis.
class redis_checker {
public:
    struct promises {
        bool exclusion = true;
        bool growing_tokens = true;
    };

    redis_checker(timeline& time, promises what) : time_(time), promised_(what) {}

    void granted(const redis_process& to, const guard& held, const std::string& call);
    /// It is about to be released.
    void released(const guard& held);
    /// This process has no guard any more.
    void forget(const redis_process& where);
    /// After each event.
    void look();
    std::size_t grants() const noexcept { return grants_; }

private:
    struct holding {
        const redis_process* where;
        const guard* held;
        std::string call;
        time_point until;
    };

    timeline& time_;
    promises promised_;
    std::vector<holding> all_;
    std::map<std::string, fencing_token, std::less<>> tokens_; ///< by the lock's name
    std::size_t grants_ = 0;
};

} // namespace paddock::test::sim
