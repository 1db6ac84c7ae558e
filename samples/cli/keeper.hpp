// The process between paddock and the command: it starts the command, and ends everything below it
// in time, also when paddock itself stands still or has been killed.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace cli {

struct keeper_options {
    std::vector<std::string> command{};
    std::string on_lost{};   ///< a command of the shell, run once when the hold is lost
    bool runs_again = false; ///< the command may be run more than once
};

/// A keeper that has been started and has no command yet.
struct keeper {
    pid_t pid = 0;
    int socket = -1;
};

/// Forks; to be called while this process has one thread and no file of its own. The command is
/// started as this process was: its files, signal mask, group and terminal. Of the files this
/// process keeps standard error alone, so that whoever reads from the command sees when it ends.
///
/// Throws std::system_error.
keeper start_keeper(const keeper_options& how);

} // namespace cli
