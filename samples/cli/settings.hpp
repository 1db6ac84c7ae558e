// The options of the commands, and what --help, the man page and the completions say of them.
#pragma once

#include "servers.hpp"
#include "take.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cli {

using milliseconds = std::chrono::milliseconds;

/// 250ms, 10s, 5m, 2h, 1d; a number alone are seconds. Throws CLI::ValidationError.
milliseconds read_time(const std::string& text);
CLI::Option* add_time(CLI::App& app, const std::string& name, std::optional<milliseconds>& into,
                      const std::string& text);
CLI::Option* add_time(CLI::App& app, const std::string& name, milliseconds& into,
                      const std::string& text);

/// Refuses a value that is empty, as an unset variable of a script is.
CLI::Validator not_empty();

/// The options of every command: the servers, and --quiet.
void add_servers(CLI::App& app, server_options& into);

/// How a command is run under a lock.
struct command_options {
    server_options servers{};
    lock_choice lock{};
    std::vector<std::string> command{}; ///< behind --
    bool only_try = false, no_fail = false;
    bool runs_again = false; ///< not once only
    std::optional<milliseconds> timeout{}, at_most{}, at_least{}, margin{};
    std::string on_lost{};
};
void add_command(CLI::App& app, command_options& into);
/// Throws usage_error for what is missing, or contradicts itself.
void check(const command_options& how);
/// Those that choose the kind of the lock.
void add_lock_kinds(CLI::App& app, command_options& into);

} // namespace cli
