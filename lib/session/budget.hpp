#pragma once

#include "support/function.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace paddock::detail {

/// What a node with a sequence number takes of the budget of nodes: its path, as a dying session's
/// last transaction has it.
inline std::size_t node_bytes(std::string_view directory, std::string_view prefix) noexcept {
    constexpr std::size_t slash = 1, longest_sequence = 11, length_field = 4;
    return directory.size() + slash + prefix.size() + longest_sequence + length_field;
}

/// A number of bytes that may be in use at one time. Who finds no room waits in a queue, first
/// come, first served. Strand only.
class budget {
public:
    using turn = std::uint64_t; ///< 0: nobody
    explicit budget(std::size_t limit) : limit_(limit) {}

    /// Whether so many bytes fit at all, when nothing else is in use.
    bool possible(std::size_t bytes) const noexcept { return bytes <= limit_; }

    /// Whether there is room, and nobody else waits for it; then it is taken.
    bool take(std::size_t bytes) {
        if (!waiting_.empty() || !fits(bytes)) return false;
        used_ += bytes;
        return true;
    }

    /// Calls `taken` when there is room and this is first in the queue, from within give() or
    /// stop_waiting(). The bytes must be possible(): others wait behind these.
    turn wait(std::size_t bytes, unique_function<void()> taken) {
        waiting_.emplace(++last_, waiter{bytes, std::move(taken)});
        return last_;
    }
    void stop_waiting(turn which) {
        waiting_.erase(which);
        serve();
    }

    void give(std::size_t bytes) {
        used_ -= bytes;
        serve();
    }

    std::size_t used() const noexcept { return used_; }

private:
    struct waiter {
        std::size_t bytes;
        unique_function<void()> taken;
    };
    bool fits(std::size_t bytes) const noexcept { return used_ + bytes <= limit_; }
    void serve() {
        while (!waiting_.empty() && fits(waiting_.begin()->second.bytes)) {
            auto next = std::move(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
            used_ += next.bytes;
            next.taken();
        }
    }

    std::size_t limit_;
    std::size_t used_ = 0;
    turn last_ = 0;
    std::map<turn, waiter> waiting_;
};

} // namespace paddock::detail
