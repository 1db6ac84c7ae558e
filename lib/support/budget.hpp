#pragma once

#include "support/function.hpp"
#include "support/gauge.hpp"

#include <paddock/statistics.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace paddock::detail {

/// Limits what is in use at one time: bytes, or requests. Reservations without room wait in FIFO
/// order. Strand only.
class budget {
public:
    using waiter_id = std::uint64_t; ///< 0: none
    explicit budget(std::size_t limit) : limit_(limit) {}

    /// Whether so much fits when nothing else is in use.
    bool can_fit(std::size_t amount) const noexcept { return amount <= limit_; }

    /// Reserves so much if there is room and no other reservation waits.
    bool reserve(std::size_t amount) {
        if (!waiting_.empty() || !fits(amount)) return false;
        used_ += amount;
        return true;
    }

    /// Calls `reserved` from within release() or stop_waiting(), once there is room and all earlier
    /// waiters are served. Requires can_fit(amount), or all later waiters would wait for ever.
    waiter_id wait(std::size_t amount, unique_function<void()> reserved) {
        ++waits_;
        waiting_.emplace(++last_id_, waiter{amount, std::move(reserved)});
        if (waiting_.size() == 1 && on_awaited_) on_awaited_();
        return last_id_;
    }
    void stop_waiting(waiter_id id) {
        waiting_.erase(id);
        serve();
    }

    void release(std::size_t amount) {
        if (closed_) return;
        used_ -= amount;
        serve();
    }

    /// The client has closed: no waiter is called any more, and nothing is in use.
    void close() {
        closed_ = true;
        waiting_.clear();
        used_ = 0;
    }

    /// Calls `awaited` whenever a first reservation waits: what can be spared should be released.
    void when_awaited(unique_function<void()> awaited) { on_awaited_ = std::move(awaited); }

    std::size_t used() const noexcept { return used_; }
    budget_statistics statistics() const noexcept {
        return {used_, limit_, waits_};
    } ///< any thread
    bool half_used() const noexcept { return used_ > limit_ / 2; }
    bool awaited() const noexcept { return !waiting_.empty(); }

private:
    struct waiter {
        std::size_t amount;
        unique_function<void()> reserved;
    };
    bool fits(std::size_t amount) const noexcept { return used_ + amount <= limit_; }
    /// A waiter that gives its part back at once does not serve the next one from within.
    void serve() {
        if (std::exchange(serving_, true)) return;
        while (!waiting_.empty() && fits(waiting_.begin()->second.amount)) {
            auto next = std::move(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
            used_ += next.amount;
            next.reserved();
        }
        serving_ = false;
    }

    const std::size_t limit_;
    gauge used_, waits_;
    bool serving_ = false;
    bool closed_ = false;
    waiter_id last_id_ = 0;
    std::map<waiter_id, waiter> waiting_;
    unique_function<void()> on_awaited_;
};

} // namespace paddock::detail
