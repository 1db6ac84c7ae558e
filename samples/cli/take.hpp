// Takes the lock that a command line names.
#pragma once

#include "holding.hpp"
#include "servers.hpp"
#include "waiting_line.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

struct lock_choice {
    std::vector<std::string> paths{}; ///< one, or several with `all`
    bool all = false;
    bool shared = false, exclusive = false; ///< of a lock that readers share; else a mutex
    int permits = 0;                        ///< of a semaphore; zero: it is none
    std::vector<std::string> key{};         ///< a family and its key, instead of a path
    std::string label{};

    /// As people know it, and PADDOCK_LOCK_PATH has it: a line for each lock.
    std::string name() const;
};

/// Throws usage_error for what does not go together, on this system.
void check(const lock_choice& lock, servers& at);

using deadline = std::optional<paddock::boot_clock::time_point>;

/// Nothing for an empty guard.
std::unique_ptr<holding> hold(paddock::guard held);

/// Nothing, if it is not granted until the deadline. Without one it waits for as long as it takes;
/// with one in the past it only tries.
asio::awaitable<std::unique_ptr<holding>> take(servers& at, const lock_choice& lock, deadline until,
                                               waiting_line& told);

} // namespace cli
