#pragma once

#include "support/environment.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test {

/// An environment in virtual time: the clock stands still until the test moves it, and tasks run
/// only inside the calls that say so. Random numbers are always the same ones.
class fake_environment final : public environment {
public:
    fake_environment();
    ~fake_environment() override;

    boot_clock::time_point now() const override;
    std::chrono::system_clock::time_point wall_clock() const override;
    std::uint64_t random() override;
    void post(unique_function<void()>&& task) override;
    void post_behind(unique_function<void()>&& task) override;
    std::unique_ptr<timer> make_timer() override;
    std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) override;
    std::unique_ptr<readiness> make_readiness(descriptor connection) override;
    std::unique_ptr<tcp_stream> make_stream() override;
    void resolve(const std::string& host, resolved done) override;
    void stop_resolving() noexcept override { lookups_.clear(); }

    // --- for the test ---

    /// The clock of the environment that was made last, on any thread and at any time.
    static boot_clock::time_point latest_now() noexcept;

    /// Runs one task that is due; false if there is none.
    bool step();
    /// Runs tasks until none is due; returns how many. Fails the test if there is no end to it.
    std::size_t run();
    /// Lets time pass, from timer to timer, and runs tasks as they become due.
    void advance(boot_clock::duration time);
    /// Lets time pass as if the event loop had been stuck: nothing runs meanwhile.
    void stall(boot_clock::duration time);

    /// From now on posted tasks wait, as if thousands of others were before them: timers and
    /// connections do not wait for them.
    void hold_tasks() { tasks_held_ = true; }
    void let_tasks_run();
    /// While true no task is accepted, as in a process that is killed.
    bool refuses_tasks = false;

    /// From now on the connection can be read (1), written (2), both (3), or neither (0).
    void set_ready(std::uint64_t identity, unsigned events);
    /// How many readiness objects exist.
    std::size_t waited_for() const;
    /// Timers that are armed.
    std::size_t armed() const;

    /// Makes the streams; without it there are none.
    std::function<std::unique_ptr<tcp_stream>()> streams;

    /// The resolver's table; it takes `resolve_time` for each answer.
    std::map<std::string, std::vector<std::string>> names;
    boot_clock::duration resolve_time{0};
    std::vector<std::string> asked;
    /// While true make_readiness() throws, as if there were no file descriptors left.
    bool no_descriptors = false;
    /// An administrator has set the wall clock.
    std::chrono::seconds wall_jump{0};

private:
    struct world;
    class fake_timer;
    class fake_wakeup;
    class fake_readiness;
    std::shared_ptr<world> world_;
    static std::shared_ptr<const world> latest_;
    std::vector<std::unique_ptr<timer>> lookups_;
    bool tasks_held_ = false;
};

} // namespace paddock::test
