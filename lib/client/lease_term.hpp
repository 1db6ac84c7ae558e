#pragma once

#include "support/fork.hpp"

#include <paddock/boot_clock.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace paddock::detail {

/// A period in which a session is certainly alive without a gap. extend() can move its end as long
/// as it has not passed. A passed end is final: the first call that sees it ends the term for all
/// threads. In a fork of the process the term has ended, because the session stays the parent's.
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
            if (until <= 0 || until_.compare_exchange_weak(until, -until)) return false;
        return true;
    }
    boot_clock::time_point until() const noexcept {
        if (forks_ != forks.load(std::memory_order_relaxed)) return {};
        return time(std::max(until_.load(std::memory_order_acquire), std::int64_t{0}));
    }
    /// The same, but also after it has ended.
    boot_clock::time_point last_until() const noexcept {
        return time(std::abs(until_.load(std::memory_order_acquire)));
    }

    /// Whether a time has come, by the clock of this term.
    bool passed(boot_clock::time_point when) const noexcept { return now_() >= when; }

    // The session's strand.

    /// False if the term has ended.
    bool extend(boot_clock::time_point until) noexcept {
        auto old = until_.load(std::memory_order_acquire);
        while (count(now_()) < old) {
            if (count(until) <= old) return true;
            if (until_.compare_exchange_weak(old, count(until))) return true;
        }
        return false;
    }
    void end() noexcept {
        auto old = until_.load(std::memory_order_acquire);
        while (old > 0 && !until_.compare_exchange_weak(old, -old)) {
        }
    }

private:
    static std::int64_t count(boot_clock::time_point t) noexcept {
        return t.time_since_epoch().count();
    }
    static boot_clock::time_point time(std::int64_t count) noexcept {
        return boot_clock::time_point(boot_clock::duration(count));
    }

    clock now_;
    std::uint32_t forks_ = forks.load(std::memory_order_relaxed);
    mutable std::atomic<std::int64_t> until_; ///< negative once the term has ended
};

} // namespace paddock::detail
