#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

// Resources that this process uses now, as the kernel counts them.

namespace paddock::test {

inline std::size_t entries_of(const char* folder) {
    const auto all = std::filesystem::directory_iterator(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// File descriptors that are open now.
inline std::size_t open_fds() {
    return entries_of("/proc/self/fd") - 1; // without the one that reads the folder
}

/// Threads of the process. One that was just joined may be counted for a moment more.
inline std::size_t threads() { return entries_of("/proc/self/task"); }

/// Resident memory of the process.
inline std::size_t rss_bytes() {
    std::size_t total = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// CPU time that the calling thread has used; differences of it say how long a handler computed.
inline std::chrono::nanoseconds thread_cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

} // namespace paddock::test
