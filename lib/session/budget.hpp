#pragma once

#include "support/function.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace paddock::detail {

/// The bytes of the node budget that a sequential node uses: its path, as the transaction that ends
/// its session contains it.
inline std::size_t node_bytes(std::string_view directory, std::string_view prefix) noexcept {
    constexpr std::size_t slash = 1, longest_sequence = 11, length_field = 4;
    return directory.size() + slash + prefix.size() + longest_sequence + length_field;
}

/// Limits the bytes in use at one time. Reservations without room wait in FIFO order. Strand only.
class budget {
public:
    using waiter_id = std::uint64_t; ///< 0: none
    explicit budget(std::size_t limit) : limit_(limit) {}

    /// Whether so many bytes fit when no others are in use.
    bool can_fit(std::size_t bytes) const noexcept { return bytes <= limit_; }

    /// Reserves the bytes if there is room and no other reservation waits.
    bool reserve(std::size_t bytes) {
        if (!waiting_.empty() || !fits(bytes)) return false;
        used_ += bytes;
        return true;
    }

    /// Calls `reserved` from within release() or stop_waiting(), once there is room and all earlier
    /// waiters are served. Requires can_fit(bytes), or all later waiters would wait for ever.
    waiter_id wait(std::size_t bytes, unique_function<void()> reserved) {
        waiting_.emplace(++last_id_, waiter{bytes, std::move(reserved)});
        return last_id_;
    }
    void stop_waiting(waiter_id id) {
        waiting_.erase(id);
        serve();
    }

    void release(std::size_t bytes) {
        used_ -= bytes;
        serve();
    }

    /// The client has closed: no waiter is called any more.
    void close() { waiting_.clear(); }

    std::size_t used() const noexcept { return used_; }

private:
    struct waiter {
        std::size_t bytes;
        unique_function<void()> reserved;
    };
    bool fits(std::size_t bytes) const noexcept { return used_ + bytes <= limit_; }
    void serve() {
        while (!waiting_.empty() && fits(waiting_.begin()->second.bytes)) {
            auto next = std::move(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
            used_ += next.bytes;
            next.reserved();
        }
    }

    std::size_t limit_;
    std::size_t used_ = 0;
    waiter_id last_id_ = 0;
    std::map<waiter_id, waiter> waiting_;
};

} // namespace paddock::detail
