#pragma once

#include "sim/redis/checker.hpp"
#include "sim/redis/network.hpp"
#include "sim/redis/process.hpp"
#include "sim/redis/server.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// One random history of locks on Redis: processes, servers, and their faults. The seed decides
/// everything.
class redis_history {
public:
    explicit redis_history(std::uint64_t seed, std::function<void(const std::string&)> note = {});

    /// Throws a violation.
    void run();

private:
    /// Each history has its own mixture of them.
    enum trouble {
        breaks,
        silence,
        holds,
        pauses,
        stops, ///< of servers
        cuts,
        restarts,
        losses, ///< of data
        slews,
        steps,   ///< of clocks
        offsets, ///< between clocks, from the beginning
        deletions,
        strangers,
        refusals,
        flushes, ///< of scripts
        deaths,
        leavers,
        slowness,
        fragments,
        all
    };
    using troubles = std::array<bool, all>;

    static troubles draw(dice& chance);
    redis_checker::promises promised() const;
    bool untroubled() const;
    void set_up_servers();
    void add_process(std::size_t n);
    std::string url();
    void plan_jobs();
    redis_job random_job();
    void misfortune();
    void befall(trouble what);
    void befall_link(trouble what);
    void slew(redis_server& of);
    void lose_data(redis_server& of);
    void calm_down();
    void check_quiet();
    void part_with(redis_process& chosen);
    void step();
    void step_until(time_point end);
    template <typename Predicate>
    void step_until(Predicate reached, duration patience, const std::string& what);
    bool idle() const;
    duration soon() { return chance_.between(duration(0), pace_); }

    timeline time_;
    dice chance_;
    const troubles troubles_;
    std::vector<trouble> active_;
    redis_network net_;
    redis_checker checker_;
    std::chrono::milliseconds max_ttl_{};
    bool trusts_ = false;
    bool aged_ = false;
    std::vector<std::string> locks_;
    std::vector<redis_model::data> old_; ///< a snapshot of each server
    std::vector<std::unique_ptr<redis_process>> processes_;
    duration pace_{};
    duration length_{};
    bool calm_ = false;
};

} // namespace paddock::test::sim
