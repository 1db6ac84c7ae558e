#pragma once

#include "sim/checker.hpp"
#include "sim/ensemble.hpp"
#include "sim/process.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// One random history: some processes, their locks and their faults. The seed decides everything.
class history {
public:
    explicit history(std::uint64_t seed, std::function<void(const std::string&)> note = {});

    /// Throws a violation.
    void run();
    std::size_t steps() const noexcept { return time_.steps(); }
    /// In some histories the servers lose all their data once.
    bool data_is_lost() const noexcept { return data_is_lost_; }
    const batch_counts& batches() const noexcept { return servers_.batches(); }

private:
    /// Each history has its own mixture of them.
    enum trouble {
        breaks,
        holds,
        pauses,
        kicks,
        changes,
        reaping,
        expiries,
        cuts,
        usurpers,
        restarts,
        moves,
        deaths,
        bad_names,
        slowness,
        fragility,
        all
    };

    static ensemble_options options_of(dice& chance, std::array<bool, all>& troubles);
    void add_process();
    void plan_jobs();
    void begin_jobs();
    job random_job();
    std::vector<job::kind> random_set();
    void misfortune();
    void befall(trouble what);
    void lose_data();
    void kick(bool deletes);
    void kick_simple(const std::string& path);
    void move(process& chosen);
    void calm_down();
    void part_with(process& chosen);
    void make_sticky(lock_options& terms);
    void look();
    void step_until(time_point end);
    template <typename Predicate>
    void step_until(Predicate reached, const std::string& what);
    bool idle() const;
    process& any_process() { return *chance_.any_of(processes_); }
    duration soon() { return chance_.between(duration(0), pace_); }

    timeline time_;
    const bool only_by_key_; ///< calls of the mutex: else every other one
    dice chance_;
    dice sticky_chance_; ///< of its own, so that the other histories stay as they were
    std::array<bool, all> troubles_{};
    ensemble servers_;
    std::string root_;
    checker checker_;
    contested_locks locks_;
    std::vector<std::unique_ptr<process>> processes_;
    duration pace_{};
    duration length_{};
    std::vector<job::kind> kinds_;
    int mutex_jobs_ = 0;
    bool bursts_ = false; ///< a process asks for several locks in one turn of its loop
    bool calm_ = false;
    bool data_is_lost_ = false;
    std::string given_up_; ///< the client that has given a session up because it was refused
    bool crowded_ = false; ///< an event loop has other work, and so delays
    bool sticky_ = false;  ///< some processes have sticky mutexes
};

} // namespace paddock::test::sim
