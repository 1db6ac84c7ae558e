// The same program with OpenSSL in it, which takes a third of a short command's time to load: it is
// run when a connection is to be encrypted.
#pragma once

#include <CLI/CLI.hpp>

namespace cli {

/// Goes on as that program if the options of the command ask for TLS, and this is the one without
/// it; before anything was done. Throws failure when it cannot be run.
void become_one_with_tls(const CLI::App& command, char** argv);

} // namespace cli
