#include "support/fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace paddock {

namespace {
[[maybe_unused]] const int fork_counter =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
} // namespace

bool point_to_nothing(int descriptor) noexcept {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return false;
    const bool done = ::dup3(nothing, descriptor, O_CLOEXEC) == descriptor;
    ::close(nothing);
    return done;
}

} // namespace paddock
