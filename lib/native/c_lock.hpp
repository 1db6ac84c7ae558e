#pragma once

#include <mutex>

namespace paddock::native {

/// The C client keeps a few things per process, unprotected: the request counter, the log's
/// buffers. So one lock for all handles is held while inside it. It is only contended when clients
/// run on several threads, and no call under it waits for anything.
inline constinit std::mutex c_client_mutex;

using inside_c = std::lock_guard<std::mutex>;

/// Gives the lock back while the C client calls us: what we do then may take other locks, and makes
/// requests.
class outside_c {
public:
    outside_c() noexcept { c_client_mutex.unlock(); }
    ~outside_c() { c_client_mutex.lock(); }
    outside_c(const outside_c&) = delete;
    outside_c& operator=(const outside_c&) = delete;
};

} // namespace paddock::native
