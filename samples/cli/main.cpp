// Locks for shells, cron jobs and builds: see paddock(1).
#include "command_line.hpp"
#include "exit_status.hpp"
#include "standard_error.hpp"
#include "with_tls.hpp"

#include <algorithm>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

/// So that no file of this process gets the number of a standard stream that was closed. The
/// command finds it closed all the same.
void occupy_standard_streams() {
    for (int file = 0; file <= 2; ++file)
        if (fcntl(file, F_GETFD) < 0) open("/dev/null", O_RDWR | O_CLOEXEC);
}

int run(char** argv) {
    std::vector<std::string> words;
    for (auto word = argv; *word != nullptr && *++word != nullptr;)
        words.emplace_back(*word);
    const auto [app, commands] = cli::make_command_line(words.empty() ? "" : words[0]);
    const auto end = std::find(words.begin(), words.end(), "--");
    std::string page = "paddock --help";
    const std::vector<std::string> command(end == words.end() ? end : end + 1, words.end());
    try {
        std::vector<std::string> own(words.begin(), end);
        const auto is_first = [&](const auto& one) { return one.app->get_name() == own[0]; };
        const bool is_command =
            !own.empty() && std::any_of(commands.begin(), commands.end(), is_first);
        if (!own.empty() && own[0][0] != '-' && !is_command)
            throw cli::usage_error("there is no command " + own[0] + "; see " + page);
        if (is_command) page = "paddock " + own[0] + " --help";
        std::reverse(own.begin(), own.end()); // as CLI11 wants it
        app->parse(own);
        for (const auto& one : commands)
            if (one.app->parsed()) {
                if (end != words.end() && !one.runs_a_command)
                    throw cli::usage_error(one.app->get_name() +
                                           " runs no command, such as one behind --");
                cli::become_one_with_tls(*one.app, argv);
                return one.run(command);
            }
    } catch (const CLI::Success& asked) { // --help, --version
        return app->exit(asked);
    } catch (const CLI::ParseError& wrong) {
        std::cerr << "paddock: " << wrong.what() << "; see " << page << '\n';
    } catch (const cli::usage_error& wrong) {
        std::cerr << "paddock: " << wrong.what() << '\n';
    } catch (const std::exception& failed) {
        std::cerr << "paddock: " << failed.what() << '\n';
        return cli::exit_status::failed;
    }
    return cli::exit_status::usage;
}

} // namespace

int main(int, char** argv) {
    occupy_standard_streams();
    const int status = run(argv);
    cli::finish_errors();
    return status;
}
