#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_mutex.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace paddock {

namespace detail {
struct requested_lock;
}

class [[gnu::visibility("default")]] lock_request;

/// One of the locks that lock_all() takes together, and how: a mutex as it is, or what exclusive(),
/// shared() and permits() return. It has a copy of the lock object, so it may outlive that.
///
/// Thread safety: as a value.
class lock_request {
public:
    /// The mutex; a mutex converts to its request.
    lock_request(const mutex& lock);

private:
    friend struct detail::access;
    explicit lock_request(std::shared_ptr<const detail::requested_lock> impl) noexcept
        : impl_(std::move(impl)) {}

    std::shared_ptr<const detail::requested_lock> impl_;
};

/// A request for the exclusive lock of a shared_mutex.
[[gnu::visibility("default")]] [[nodiscard]] lock_request exclusive(const shared_mutex& lock);

/// A request to share the lock of a shared_mutex.
[[gnu::visibility("default")]] [[nodiscard]] lock_request shared(const shared_mutex& lock);

/// A request for so many permits of a semaphore, all or none.
///
/// Errors: throws `system_error` with `errc::bad_argument` when `count` is less than one, or
/// greater than a fixed number of permits.
[[gnu::visibility("default")]] [[nodiscard]] lock_request permits(const semaphore& lock,
                                                                  std::int32_t count = 1);

/// The argument of lock_all(): a vector of mutexes or of requests, or a list of both in braces
/// (with g++ 12 not within a co_await expression, which does not compile). For other locks than
/// mutexes use exclusive(), shared() and permits().
class lock_requests {
public:
    lock_requests(const std::vector<mutex>& mutexes) : all_(mutexes.begin(), mutexes.end()) {}
    lock_requests(std::vector<lock_request> all) : all_(std::move(all)) {}
    lock_requests(std::initializer_list<lock_request> all) : all_(all) {}

    const std::vector<lock_request>& all() const noexcept { return all_; }

private:
    std::vector<lock_request> all_;
};

} // namespace paddock
