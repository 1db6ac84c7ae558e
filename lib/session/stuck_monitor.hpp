#pragma once

#include "rules/leftovers.hpp"
#include "rules/stuck.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <memory>
#include <string_view>

namespace paddock::detail {

class core;

/// Logs the contenders of one lock that perhaps wait for ever: for a hold of their own caller, or,
/// with a monitor of its own, behind a node without a session. One timer serves them all, and runs
/// only while such contenders may exist. Strand only.
class stuck_monitor {
public:
    explicit stuck_monitor(core& client) : core_(client) {}

    bool running() const noexcept { return running_; }
    /// Calls `check` when a contender that starts to wait now reaches the threshold.
    void start(unique_function<void()> check);
    void stop() noexcept;
    /// Its timer must not outlive the execution context.
    void close() noexcept {
        running_ = false;
        timer_.reset();
    }

    /// How long a contender waits before it is reported: the session timeout.
    boot_clock::duration threshold() const;
    /// Logs the contenders that a check has found, and schedules the next check if one is needed.
    void report(const rules::stuck_waiters& found, std::string_view path,
                unique_function<void()> check);
    /// The same for nodes; `path` is that of the lock, `nodes` has full paths.
    void report(const rules::leftover_nodes& nodes, std::string_view path,
                unique_function<void()> check);
    /// Logs them only.
    void tell(const rules::leftover_nodes& nodes, std::string_view path);

private:
    void schedule(boot_clock::time_point when, unique_function<void()> check);

    core& core_;
    std::unique_ptr<timer> timer_;
    bool running_ = false;
};

} // namespace paddock::detail
