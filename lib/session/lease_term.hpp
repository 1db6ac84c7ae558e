#pragma once

#include "support/fork.hpp"

#include <paddock/boot_clock.hpp>

#include <atomic>
#include <cstdint>

namespace paddock::detail {

/// A time during which a session was certainly alive without a gap. Its end can be moved away as
/// long as it has not come; when it has, it is over for good, for whoever asks first. In a fork of
/// the process it is over at once: the session stays the parent's.
class lease_term {
public:
    using clock = boot_clock::time_point (*)() noexcept;

    lease_term(clock now, boot_clock::time_point until) noexcept
        : now_(now), until_(count(until)) {}

    // Any thread.

    bool alive() const noexcept {
        if (forks_ != forks.load(std::memory_order_relaxed)) return false;
        auto until = until_.load(std::memory_order_acquire);
        while (count(now_()) >= until)
            if (until == over || until_.compare_exchange_weak(until, over)) return false;
        return true;
    }
    boot_clock::time_point until() const noexcept {
        if (forks_ != forks.load(std::memory_order_relaxed)) return {};
        return boot_clock::time_point(boot_clock::duration(until_.load(std::memory_order_acquire)));
    }

    // The session's strand.

    /// False if it was too late.
    bool extend(boot_clock::time_point until) noexcept {
        auto old = until_.load(std::memory_order_acquire);
        while (count(now_()) < old) {
            if (count(until) <= old) return true;
            if (until_.compare_exchange_weak(old, count(until))) return true;
        }
        return false;
    }
    void end() noexcept { until_.store(over, std::memory_order_release); }

private:
    static constexpr std::int64_t over = 0;
    static std::int64_t count(boot_clock::time_point t) noexcept {
        return t.time_since_epoch().count();
    }

    clock now_;
    std::uint32_t forks_ = forks.load(std::memory_order_relaxed);
    mutable std::atomic<std::int64_t> until_;
};

} // namespace paddock::detail
