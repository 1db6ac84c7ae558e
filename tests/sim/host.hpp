#pragma once

#include "sim/ensemble.hpp"
#include "sim/socket.hpp"
#include "sim/timeline.hpp"
#include "support/environment.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace paddock::test::sim {

/// One process's environment: an event loop, a clock, a network. Its client's strand and its own
/// handlers run in turns, one task at a time, in a random order.
///
/// The order in which tasks come to the strand is random as well, as far as Asio promises none:
/// tasks run in rounds, one after the other, but a timer or a connection may be earlier or later
/// than any round, and while many tasks wait time passes.
class host : public std::enable_shared_from_this<host> {
public:
    host(ensemble& all, std::string called);
    ~host();

    timeline& time() noexcept { return all_.time(); }
    dice& chance() noexcept { return all_.chance(); }
    ensemble& servers() noexcept { return all_; }
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
    bool paused() const noexcept { return paused_until_ > all_.time().now(); }

    // Network.
    std::shared_ptr<socket> dial(int server);
    socket* find(std::uint64_t identity);
    void lose_connection();
    void hold_connection(duration how_long);
    /// The process is killed: its later actions have no effect.
    void die();
    /// Its faults end.
    void recover();
    /// Its event loop is destroyed, with the tasks that wait there.
    void end();
    bool dead() const noexcept { return dead_; }

    /// The last zxid of the server of the last answer on this connection.
    std::int64_t heard = 0;
    /// Whether one turn reads all packets, and handlers run as soon as they may.
    bool hasty = false;
    bool names_fail = false;
    /// Now and then so many tasks wait that the last of them waits for so long, at most.
    duration crowd{0};
    const std::string name;

private:
    using tasks = std::deque<unique_function<void()>>;

    void add(tasks& to, unique_function<void()> task);
    void turn();
    unique_function<void()> next();
    void begin_round();
    bool crowded() const noexcept { return crowded_until_ > all_.time().now(); }

    ensemble& all_;
    std::unique_ptr<boost::asio::io_context> io_ = std::make_unique<boost::asio::io_context>(1);
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> busy_;
    tasks tasks_, behind_, events_;
    tasks round_;             ///< what is left of the present one
    bool ends_round_ = false; ///< with those that are behind
    std::map<std::uint64_t, std::weak_ptr<socket>> sockets_;
    std::uint64_t ran_ = 0;
    std::uint64_t stop_at_ = ~std::uint64_t{0};
    bool awake_ = false;
    bool dead_ = false;
    time_point paused_until_{};
    time_point crowded_until_{};
};

/// The environment of a client in this process.
std::unique_ptr<environment> make_environment(const std::shared_ptr<host>& in);

} // namespace paddock::test::sim
