#pragma once

#include "native/c_error_line.hpp"
#include "native/c_sockets.hpp"

#include <mutex>

namespace paddock::native {

/// The C client keeps some unprotected state per process: the request counter, the log's buffers.
/// So each call into it holds one lock for all handles. Only clients on several threads contend for
/// that lock, and no call under it waits for anything.
inline constinit std::mutex c_client_mutex;

/// Holds that lock, and directs the C client's ERROR lines to `errors` meanwhile; its sockets are
/// those of `sockets`.
class inside_c {
public:
    explicit inside_c(std::mutex& of_all, c_error_line* errors = nullptr,
                      c_sockets* sockets = nullptr)
        : lock_(of_all), errors_(errors), sockets_(sockets) {}

private:
    std::lock_guard<std::mutex> lock_;
    c_error_line::scope errors_;
    c_sockets::scope sockets_;
};

/// Releases the lock while the C client calls us: our callback may take other locks, and makes
/// requests.
class outside_c {
public:
    outside_c() noexcept { c_client_mutex.unlock(); }
    ~outside_c() { c_client_mutex.lock(); }
    outside_c(const outside_c&) = delete;
    outside_c& operator=(const outside_c&) = delete;

private:
    c_error_line::scope errors_{nullptr};
    c_sockets::scope sockets_{nullptr};
};

} // namespace paddock::native
