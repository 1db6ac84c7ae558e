#include "with_tls.hpp"

#include "servers.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace cli {

namespace {

bool has_rediss(const CLI::Option& servers) {
    auto list = servers.as<std::string>();
    std::transform(list.begin(), list.end(), list.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return list.find("rediss://") != std::string::npos;
}

bool asks_for_tls(const CLI::App& command) {
    const auto options = command.get_options();
    return std::any_of(options.begin(), options.end(), [](const CLI::Option* one) {
        const auto name = one->get_name();
        if (one->count() == 0) return false;
        return name.starts_with("--tls-") || (name == "--servers" && has_rediss(*one));
    });
}

} // namespace

void become_one_with_tls(const CLI::App& command, char** argv) {
    const std::string program = PADDOCK_WITH_TLS; // from this one's folder
    if (program.empty() || !asks_for_tls(command)) return;
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto installed = here / program, built = here / installed.filename();
    execv(installed.c_str(), argv);
    if (errno == ENOENT) execv(built.c_str(), argv);
    throw failure(installed.string() + ", which TLS needs, cannot be run: " + std::strerror(errno));
}

} // namespace cli
