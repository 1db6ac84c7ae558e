#pragma once

#include "sim/dice.hpp"
#include "sim/timeline.hpp"
#include "support/environment.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace paddock::test::sim {

/// The event loop of one process. Its client's strand and its own handlers run in turns, one task
/// at a time, in a random order.
///
/// The order in which tasks come to the strand is random as well, as far as Asio promises none:
/// tasks run in rounds, one after the other, but a timer or a connection may be earlier or later
/// than any round, and while many tasks wait time passes.
class event_loop : public std::enable_shared_from_this<event_loop> {
public:
    event_loop(timeline& time, dice& chance, std::string called);
    virtual ~event_loop();
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;

    timeline& time() noexcept { return time_; }
    dice& chance() noexcept { return chance_; }
    boost::asio::io_context& io() noexcept { return *io_; }

    /// On the strand, as support/asio_task_queue does it.
    void post(unique_function<void()> task);
    void post_behind(unique_function<void()> task);
    /// On the strand: a timer has expired, a connection is ready.
    void happen(unique_function<void()> what);
    /// The event loop may have a task.
    void wake();
    /// Only the clock runs meanwhile.
    void pause(duration how_long);
    /// Grows with everything that runs.
    std::uint64_t task() const noexcept { return ran_; }
    /// No task runs any more after so many.
    void stop_at(std::uint64_t task) noexcept { stop_at_ = task; }
    bool paused() const noexcept { return paused_until_ > time_.now(); }

    /// Called behind each task.
    virtual void ran() {}
    /// The process is killed: its later actions have no effect.
    virtual void die();
    /// Its faults end.
    virtual void recover();
    /// It is destroyed, with the tasks that wait there.
    void end();
    bool dead() const noexcept { return dead_; }

    /// Whether one turn reads all packets, and handlers run as soon as they may.
    bool hasty = false;
    /// Now and then so many tasks wait that the last of them waits for so long, at most.
    duration crowd{0};
    const std::string name;

private:
    using tasks = std::deque<unique_function<void()>>;

    void add(tasks& to, unique_function<void()> task);
    void turn();
    unique_function<void()> next();
    void begin_round();
    bool crowded() const noexcept { return crowded_until_ > time_.now(); }

    timeline& time_;
    dice& chance_;
    std::unique_ptr<boost::asio::io_context> io_ = std::make_unique<boost::asio::io_context>(1);
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> busy_;
    tasks tasks_, behind_, events_;
    tasks round_;             ///< what is left of the present one
    bool ends_round_ = false; ///< with those that are behind
    std::uint64_t ran_ = 0;
    std::uint64_t stop_at_ = ~std::uint64_t{0};
    bool awake_ = false;
    bool dead_ = false;
    time_point paused_until_{};
    time_point crowded_until_{};
};

/// What every simulated environment has, whichever network it belongs to.
class loop_environment : public environment {
public:
    explicit loop_environment(std::shared_ptr<event_loop> in) : loop_(std::move(in)) {}

    boot_clock::time_point now() const override { return loop_->time().now(); }
    std::uint64_t random() override { return loop_->chance().next(); }
    void post(unique_function<void()>&& task) override;
    void post_behind(unique_function<void()>&& task) override;
    std::unique_ptr<timer> make_timer() override;
    std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) override;

private:
    unique_function<void()> guarded(unique_function<void()>&& task) const;

    std::shared_ptr<event_loop> loop_;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace paddock::test::sim
