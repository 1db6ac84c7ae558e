// Runs the command of a command line while it holds its lock.
#pragma once

#include "job.hpp"
#include "settings.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <string>

namespace cli {

/// How this process is to end: by a signal, if that is not 0.
struct ending {
    int status = 0;
    int signal = 0;
};

/// What runs in the process that holds the lock; the lock is to be granted until the deadline.
using locked_work = std::function<asio::awaitable<ending>(servers& at, job& command, deadline)>;

std::string host_name();

/// Starts a keeper, connects, runs the work, releases every lock, and returns the exit status, or
/// ends this process by a signal.
int run_with_keeper(const command_options& how, const locked_work& work);

/// Runs the command under the lock.
asio::awaitable<outcome> run_under(const holding& held, servers& at, job& command,
                                   const command_options& how);
/// Holds the lock for as long as --at-least says, from the beginning of the run.
asio::awaitable<void> rest(const outcome& result, const command_options& how,
                           paddock::boot_clock::time_point begin);
/// Says on standard error what is not the command's own end.
ending ending_of(const outcome& result, const command_options& how);
/// When the lock is not granted.
ending not_granted(const command_options& how);

} // namespace cli
