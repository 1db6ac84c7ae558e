#include "commands.hpp"
#include "run_locked.hpp"

#include <memory>
#include <utility>

namespace cli {

namespace {

asio::awaitable<ending> lock_and_run(servers& at, job& command, deadline until,
                                     const command_options& how) {
    waiting_line told(how.lock.name(), how.servers.quiet);
    const auto held = co_await take(at, how.lock, until, told);
    if (!held) co_return not_granted(how);
    const auto result = co_await run_under(*held, at, command, how);
    co_return ending_of(result, how);
}

} // namespace

subcommand add_lock(CLI::App& app) {
    auto* const lock = app.add_subcommand("lock", "run a command while holding a lock");
    const auto how = std::make_shared<command_options>();
    add_lock_kinds(*lock, *how);
    add_command(*lock, *how);
    const auto run = [how](std::vector<std::string> command) {
        how->command = std::move(command);
        return run_with_keeper(*how, [&](servers& at, job& started, deadline until) {
            return lock_and_run(at, started, until, *how);
        });
    };
    return {lock, run};
}

} // namespace cli
