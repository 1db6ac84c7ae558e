#include "support/fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace paddock {

namespace {
[[maybe_unused]] const int fork_counter =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
} // namespace

process_stamp::process_stamp() noexcept : pid_(::getpid()) {}

bool process_stamp::is_this_process() const noexcept { return pid_ == ::getpid(); }

bool point_to_nothing(int descriptor) noexcept {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return false;
    const bool done = ::dup3(nothing, descriptor, O_CLOEXEC) == descriptor;
    ::close(nothing);
    return done;
}

} // namespace paddock
