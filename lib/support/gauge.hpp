#pragma once

#include <atomic>
#include <cstddef>

namespace paddock::detail {

/// A number that one strand changes, and any thread reads.
class gauge {
public:
    operator std::size_t() const noexcept { return value_.load(std::memory_order_relaxed); }
    gauge& operator=(std::size_t value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }
    gauge& operator+=(std::size_t more) noexcept { return *this = *this + more; }
    gauge& operator-=(std::size_t less) noexcept { return *this = *this - less; }
    gauge& operator++() noexcept { return *this += 1; }
    gauge& operator--() noexcept { return *this -= 1; }

private:
    std::atomic<std::size_t> value_{0};
};

} // namespace paddock::detail
