// The commands: each adds its options to the command line, and returns what runs it.
#pragma once

#include "settings.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cli {

/// Returns the exit status. `command` is what stands behind --.
using run_command = std::function<int(std::vector<std::string> command)>;

/// A command of the command line, with its options.
struct subcommand {
    CLI::App* app = nullptr;
    run_command run{};
    bool runs_a_command = false; ///< the one behind --
};

subcommand add_lock(CLI::App& app);
subcommand add_once(CLI::App& app);
subcommand add_elect(CLI::App& app);
subcommand add_ls(CLI::App& app);
subcommand add_kick(CLI::App& app);
subcommand add_ask(CLI::App& app);
subcommand add_tidy(CLI::App& app);
subcommand add_doctor(CLI::App& app);

} // namespace cli
