// The command, seen from the process that holds the lock.
#pragma once

#include "holding.hpp"
#include "keeper.hpp"
#include "message.hpp"
#include "process_tree.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace cli {

/// How a run of the command has ended.
struct outcome {
    int status = 0;           ///< as waitpid() has it
    int cannot_run = 0;       ///< an errno, if it was not started
    bool keeper_gone = false; ///< there is nobody any more who could run it again
    bool lost = false;        ///< the hold was lost
    bool asked = false;       ///< somebody has asked for the lock
    bool too_long = false;    ///< the longest time had passed
    std::string why{};        ///< of a loss
    bool good() const { return status == 0 && cannot_run == 0 && !lost && !too_long; }
};

struct run_options {
    std::string variables{};                            ///< NAME=VALUE\0…
    std::chrono::milliseconds margin{};                 ///< between SIGTERM and SIGKILL
    std::optional<std::chrono::milliseconds> at_most{}; ///< the longest time
    std::chrono::milliseconds lease_every{}; ///< how often the keeper hears of the lease, and how
                                             ///< long before its end SIGKILL comes
    bool quiet = false;
};

/// Until it is cancelled; it returns then.
asio::awaitable<void> wait_for_ever();

class job {
public:
    job(const asio::any_io_executor& executor, keeper started);
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    ~job();

    /// Runs the command for as long as the lock is held. Returns when none of its processes is
    /// left.
    asio::awaitable<outcome> run(const holding& held, const run_options& how);
    /// Whether signals are the command's: while it runs, and until its end is recorded.
    bool takes_signals() const { return running_ || recording_; }
    void signal(int number) { tell(message::kind::signal, number); }
    /// That a terminal has sent, to the whole group.
    void key(int number) { tell(message::kind::key, number); }
    /// While it is on, signals are ignored: what a run has left to do is done.
    void recording(bool on) { recording_ = on; }

private:
    void tell(message::kind what, std::int64_t value = 0, std::string text = {});
    void signal_keeper(int number) const;
    asio::awaitable<void> await_end(outcome& result, bool quiet);
    asio::awaitable<void> end_when_lost(const holding& held, outcome& result);
    asio::awaitable<void> keep_lease(const holding& held, std::chrono::milliseconds every,
                                     const outcome& result);
    asio::awaitable<void> end_when_asked(const holding& held, outcome& result, bool quiet);
    asio::awaitable<void> end_in_time(const run_options& how, outcome& result);
    asio::awaitable<void> end_without_keeper() const;

    keeper keeper_; ///< its pid is zero when it has gone
    asio::posix::stream_descriptor socket_;
    const process_tree below_;
    bool running_ = false, recording_ = false;
};

} // namespace cli
