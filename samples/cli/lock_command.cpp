#include "commands.hpp"
#include "run_locked.hpp"

#include <memory>
#include <utility>

namespace cli {

namespace {

constexpr auto about_lock =
    R"text(Waits for the lock, runs the command, and releases the lock when all processes of the command have ended, those in the background, too.

The command has PADDOCK_LOCK_PATH and PADDOCK_FENCING_TOKEN in its environment (with --all a line for each lock; permits and readers have no token). A store that refuses a smaller token than it has seen is safe from whoever goes on without knowing that its lock is lost.

Signals reach the command, and streams, terminal and exit status are its own. Should the lock be lost, all its processes get SIGTERM, and SIGKILL before anybody else can hold the lock: a process of its own looks after that, also when paddock itself is killed or stands still. (Only the token helps when both are stopped, as by SIGSTOP to the whole group or with the machine.) Asked for the lock (paddock ask), it sends SIGTERM.

A lock is not recursive: a command that takes the lock of its own paddock waits for ever.

A lock without --shared, --exclusive and --semaphore is what Curator calls InterProcessMutex. Locks of different kinds do not exclude each other at one path.

Examples:
    paddock lock /locks/nightly --try -- ./backup.sh
    paddock lock /locks/db --timeout 5m --at-most 1h -- ./migrate up
    paddock lock --semaphore 3 /locks/licences -- make simulate)text";

asio::awaitable<ending> lock_and_run(servers& at, job& command, deadline until,
                                     const command_options& how) {
    waiting_line told(how.lock.name(), how.servers.quiet);
    const auto held = co_await take(at, how.lock, until, told);
    if (!held) co_return not_granted(how);
    const auto begin = paddock::boot_clock::now();
    const auto result = co_await run_under(*held, at, command, how);
    co_await rest(result, how, begin);
    co_return ending_of(result, how);
}

} // namespace

subcommand add_lock(CLI::App& app) {
    auto* const lock = app.add_subcommand("lock", "run a command while holding a lock");
    const auto how = std::make_shared<command_options>();
    add_lock_kinds(*lock, *how);
    add_command(*lock, *how);
    lock->footer(about_lock);
    const auto run = [how](std::vector<std::string> command) {
        how->command = std::move(command);
        return run_with_keeper(*how, [&](servers& at, job& started, deadline until) {
            return lock_and_run(at, started, until, *how);
        });
    };
    return {lock, run, true};
}

} // namespace cli
