// The process between paddock and the command: it starts the command, and ends everything below it
// in time, also when paddock itself stands still or has been killed.
#pragma once

#include <paddock/boot_clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cli {

using paddock::boot_clock;

/// What paddock and its keeper tell each other. The socket keeps messages apart.
struct message {
    enum class kind : std::int64_t {
        // To the keeper:
        run,       ///< start the command; `text` has variables of its environment, NAME=VALUE\0…;
                   ///< `value` are the ns before the end of the lease at which everything gets
                   ///< SIGTERM; SIGKILL comes when a tenth of them is left
        lease,     ///< the lock is held until `value`, in ns of the boot clock; without another
                   ///< such message everything ends before that
        signal,    ///< send the signal `value` to the command
        terminate, ///< SIGTERM to all processes; SIGKILL at `value`, in ns of the boot clock
        lost,      ///< as terminate, and the hold is lost
        // Of the keeper:
        started,
        cannot_run, ///< `value` is an errno
        exited,     ///< the command has, and others of its processes are left
        ended,      ///< all of them, and `value` is that of the command
        lapsed,     ///< no lease came in time, so everything is being ended
    };
    kind what{};
    std::int64_t value = 0;
    std::string text{};
};

inline constexpr auto never = boot_clock::time_point::max();

std::int64_t to_number(boot_clock::time_point time);

/// Both return false, and nothing, when the other side has gone.
bool send(int socket, const message& what);
std::optional<message> receive(int socket);

struct keeper_options {
    std::vector<std::string> command{};
    std::string on_lost{}; ///< a command of the shell, run once when the hold is lost
};

/// A keeper that has been started and has no command yet.
struct keeper {
    pid_t pid = 0;
    int socket = -1;
};

/// Forks; to be called while this process has one thread and no file of its own. The command is
/// started as this process was: its files, signal mask, group and terminal.
keeper start_keeper(const keeper_options& how);

} // namespace cli
