#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace paddock {

/// The process that made an object. A forked child has a copy of the object, and must leave alone
/// what it shares with its parent: the connections, and the epoll set that they are registered
/// with.
class process_stamp {
public:
    process_stamp() noexcept;
    bool is_this_process() const noexcept;

private:
    ::pid_t pid_;
};

/// Grows in every child of fork(): a cheap check whether this process is a forked child.
inline constinit std::atomic<std::uint32_t> forks{0};

/// Replaces a descriptor's file by /dev/null. The former file stays open in other processes, and
/// stays registered in epoll sets. False if that fails.
bool point_to_nothing(int descriptor) noexcept;

} // namespace paddock
