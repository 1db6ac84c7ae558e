#include "command_line.hpp"

#include <paddock/version.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace cli {

namespace {

constexpr auto common =
    R"(The options of each command: paddock COMMAND --help, or paddock-COMMAND(1).

A lock is named by a path, such as /locks/nightly, and its servers by --servers or PADDOCK_SERVERS: zk://host:port,… of ZooKeeper, redis://host:port,… of Redis. A TIME is 250ms, 10s, 5m, 2h or 1d; a number alone is in seconds.

Exit status: that of the command that it has run, and death by a signal likewise. Otherwise:
    0    done; or not granted, with --no-fail
    1    the answer is no (ls, kick, ask, tidy, doctor)
    2    bad usage
    123  the lock was lost, or --at-most was over, and the command was ended
    124  the lock was not granted in time
    125  no server answers, or they refuse
    126  the command cannot be run
    127  there is no such command)";

struct known_command {
    const char* name;
    subcommand (*add)(CLI::App& app);
};

constexpr std::array known_commands{
    known_command{"lock", add_lock},   known_command{"once", add_once},
    known_command{"elect", add_elect}, known_command{"ls", add_ls},
    known_command{"ask", add_ask},     known_command{"kick", add_kick},
    known_command{"tidy", add_tidy},   known_command{"doctor", add_doctor}};

/// CLI11 does not see what stands behind --.
class usage_with_command final : public CLI::Formatter {
    std::string make_usage(const CLI::App* app, std::string name) const override {
        auto usage = CLI::Formatter::make_usage(app, std::move(name));
        return usage.insert(usage.find_last_not_of('\n') + 1, " -- COMMAND [ARGUMENT…]");
    }
};

} // namespace

command_line make_command_line(const std::string& wanted) {
    command_line all{std::make_unique<CLI::App>(
        "distributed locks on ZooKeeper and Redis for shells, cron jobs and builds", "paddock")};
    all.app->set_version_flag("--version", "paddock " + std::string(paddock::version().text));
    all.app->require_subcommand(1);
    all.app->footer(common);
    const auto is_wanted = [&](const known_command& one) { return one.name == wanted; };
    const bool one = std::any_of(known_commands.begin(), known_commands.end(), is_wanted);
    for (const auto& command : known_commands)
        if (!one || is_wanted(command)) all.commands.push_back(command.add(*all.app));
    for (const auto& command : all.commands)
        if (command.runs_a_command) command.app->formatter(std::make_shared<usage_with_command>());
    return all;
}

} // namespace cli
