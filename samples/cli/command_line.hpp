// All commands with their options: what the program reads, and what its manual is made from.
#pragma once

#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

namespace cli {

struct command_line {
    std::unique_ptr<CLI::App> app;
    std::vector<subcommand> commands{};
};

command_line make_command_line();

} // namespace cli
