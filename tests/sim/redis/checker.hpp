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
        duration longest_gap = duration::max(); ///< between a release and the next grant
    };

    explicit redis_checker(timeline& time) : time_(time) {}

    void promise(const promises& what) { promised_ = what; }

    /// A call waits for the lock, and does not give up; or it has ended.
    void waits(const std::string& lock);
    void waits_no_more(const std::string& lock);
    void granted(const redis_process& to, const guard& held, const std::string& call);
    /// It is about to be released.
    void released(const guard& held);
    /// This process has no guard any more.
    void forget(const redis_process& where);
    /// After each event.
    void look();

private:
    void look_at_waiters();
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
    struct queue {
        int waiters = 0;
        time_point free_since{};
    };
    std::map<std::string, queue, std::less<>> queues_;
};

} // namespace paddock::test::sim
