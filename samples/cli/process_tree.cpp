#include "process_tree.hpp"

#include "servers.hpp"

#include <array>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace cli {

namespace {

/// The numbers in such a file, as it is now.
std::vector<pid_t> read_numbers(int file) {
    std::vector<pid_t> all;
    std::string text;
    std::array<char, 4096> part{};
    ssize_t length = 0;
    while ((length = pread(file, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0)
        text.append(part.data(), static_cast<std::size_t>(length));
    const char *at = text.data(), *const end = at + text.size();
    for (; at < end; ++at) { // a space follows each
        pid_t one = 0;
        at = std::from_chars(at, end, one).ptr;
        if (one > 0) all.push_back(one);
    }
    return all;
}

/// Each thread has its own.
std::vector<pid_t> children_of(pid_t of) {
    std::vector<pid_t> all;
    std::error_code gone;
    const auto threads = "/proc/" + std::to_string(of) + "/task";
    for (auto one = std::filesystem::directory_iterator(threads, gone);
         !gone && one != std::filesystem::directory_iterator(); one.increment(gone)) {
        const int file = open((one->path() / "children").c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        const auto some = read_numbers(file);
        all.insert(all.end(), some.begin(), some.end());
        close(file);
    }
    return all;
}

} // namespace

process_tree::process_tree() {
    std::error_code unseen;
    if (std::filesystem::read_symlink("/proc/self", unseen) != std::to_string(getpid()))
        throw failure("/proc does not show the processes of this namespace: mount it there");
    children_ = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (children_ < 0)
        throw failure("/proc/thread-self/children cannot be read: is this kernel without "
                      "CONFIG_PROC_CHILDREN?");
}

process_tree::~process_tree() { close(children_); }

template <typename Visit>
std::vector<pid_t> process_tree::walk(pid_t except, const Visit& visit) const {
    std::vector<pid_t> below;
    const auto add = [&](const std::vector<pid_t>& children) {
        for (const pid_t one : children) {
            if (except != 0 && (one == except || getsid(one) == except)) continue;
            visit(one);
            below.push_back(one);
        }
    };
    add(read_numbers(children_));
    // Seen after it is killed a process has no more children than these.
    for (std::size_t n = 0; n < below.size(); ++n)
        add(children_of(below[n]));
    return below;
}

std::vector<pid_t> process_tree::all(pid_t except) const {
    return walk(except, [](pid_t) {});
}

std::size_t process_tree::signal(int number, pid_t except) const {
    const auto visit = [&](pid_t one) {
        kill(one, number);
        if (number == SIGTERM) kill(one, SIGCONT); // what is stopped would not end
    };
    return walk(except, visit).size();
}

} // namespace cli
