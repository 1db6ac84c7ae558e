// The processes below this one, as /proc has them.
#pragma once

#include <sys/types.h>
#include <vector>

namespace cli {

/// All processes below this one; with PR_SET_CHILD_SUBREAPER also those that have left their
/// parents. The process `except` and its session are left out. (What /proc calls a zombie is not:
/// it may have threads that work.)
std::vector<pid_t> descendants(pid_t except = 0);

/// Sends a signal to each of them. Returns how many there were.
std::size_t signal_descendants(int signal, pid_t except = 0);

} // namespace cli
