#pragma once

#include <atomic>
#include <cstdint>

namespace paddock {

/// Grows in every child of fork(): a check whether this process is a forked child, without a system
/// call.
inline constinit std::atomic<std::uint32_t> forks{0};

/// The process that made an object. A forked child has a copy of the object, and must leave alone
/// what it shares with its parent: the connections, and the epoll set that they are registered
/// with.
class process_stamp {
public:
    bool is_this_process() const noexcept {
        return forks_ == forks.load(std::memory_order_relaxed);
    }

private:
    std::uint32_t forks_ = forks.load(std::memory_order_relaxed);
};

/// Replaces a descriptor's file by /dev/null. The former file stays open in other processes, and
/// stays registered in epoll sets. False if that fails.
bool point_to_nothing(int descriptor) noexcept;

} // namespace paddock
