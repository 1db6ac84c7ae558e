// All commands with their options: what the program reads, and what its manual is made from.
#pragma once

#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace cli {

struct command_line {
    std::unique_ptr<CLI::App> app;
    std::vector<subcommand> commands{};
};

/// Only the wanted command, if there is one of this name: all of them take a millisecond.
command_line make_command_line(const std::string& wanted = {});

} // namespace cli
