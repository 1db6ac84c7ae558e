// Runs the commands that ask the servers something, and run no command of the user's.
#pragma once

#include "servers.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>
#include <string>

namespace cli {

/// The answer is no: exit_status::refused, with this text.
struct refusal : std::runtime_error {
    using runtime_error::runtime_error;
};

/// What is done once the client is connected; returns the exit status.
using question = std::function<asio::awaitable<int>(servers& at)>;

/// Connects, asks, closes; a refusal is told on standard error. Throws usage_error for what the
/// user has to write differently, and failure for what the servers refuse. SIGINT ends the process
/// at once: nothing is held.
int ask_servers(const server_options& how, const question& ask);

/// Asks at the terminal, unless `yes`; throws a refusal if the answer is no.
asio::awaitable<void> confirm(bool yes, const std::string& question);
/// Throws usage_error if there is no terminal, and no `yes`.
void check_confirmable(bool yes);
CLI::Option* add_yes(CLI::App& app, bool& into);

/// Runs the coroutine until it ends.
int run_alone(std::function<asio::awaitable<int>()> work);

} // namespace cli
