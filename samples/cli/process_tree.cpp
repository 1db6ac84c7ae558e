#include "process_tree.hpp"

#include <charconv>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>

namespace cli {

namespace {

struct process {
    pid_t pid = 0, parent = 0, session = 0;
};

/// proc(5): the name stands in parentheses, and may have some itself.
process read_process(const std::filesystem::path& folder) {
    std::ifstream file(folder / "stat");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    process found;
    const auto end_of_name = text.rfind(')');
    if (end_of_name == std::string::npos) return found; // it has ended
    std::from_chars(text.data(), text.data() + text.size(), found.pid);
    char state = ' ';
    pid_t group = 0;
    std::istringstream(text.substr(end_of_name + 1)) >> state >> found.parent >> group >>
        found.session;
    return found;
}

} // namespace

std::vector<pid_t> descendants(pid_t except) {
    std::multimap<pid_t, process> by_parent;
    std::error_code failed;
    for (auto entry = std::filesystem::directory_iterator("/proc", failed);
         !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        const auto name = entry->path().filename().native();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto found = read_process(entry->path());
        if (found.pid != 0) by_parent.emplace(found.parent, found);
    }
    std::vector<pid_t> below{getpid()};
    for (std::size_t n = 0; n < below.size(); ++n) {
        const auto [begin, end] = by_parent.equal_range(below[n]);
        for (auto child = begin; child != end; ++child) {
            const auto& one = child->second;
            if (except == 0 || (one.pid != except && one.session != except))
                below.push_back(one.pid);
        }
    }
    below.erase(below.begin());
    return below;
}

std::size_t signal_descendants(int signal, pid_t except) {
    const auto all = descendants(except);
    for (const pid_t one : all)
        kill(one, signal);
    return all.size();
}

} // namespace cli
