#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace paddock::detail {

/// Numbers that one strand changes, and that any thread copies as they were at one moment, without
/// making the strand wait: a sequence lock, whose readers try again when a change came between.
template <std::size_t Size>
class counts {
public:
    /// Several numbers change together. Strand only, and without calling anybody meanwhile.
    class change {
    public:
        explicit change(counts& of) noexcept : of_(of) { of_.step(); }
        change(const change&) = delete;
        change& operator=(const change&) = delete;
        ~change() { of_.step(); }

        void add(std::size_t which, std::uint64_t by = 1) noexcept {
            auto& number = of_.numbers_[which];
            number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_release);
        }
        void subtract(std::size_t which) noexcept { add(which, ~std::uint64_t{0}); }

    private:
        counts& of_;
    };

    /// Strand only.
    std::uint64_t now(std::size_t which) const noexcept {
        return numbers_[which].load(std::memory_order_relaxed);
    }

    /// Any thread.
    std::array<std::uint64_t, Size> copy() const noexcept {
        std::array<std::uint64_t, Size> all;
        for (;;) {
            const auto before = changes_.load(std::memory_order_acquire);
            for (std::size_t n = 0; n < Size; ++n)
                all[n] = numbers_[n].load(std::memory_order_acquire);
            if (before % 2 == 0 && changes_.load(std::memory_order_relaxed) == before) return all;
        }
    }

private:
    /// The number is odd during a change. Who reads a number of a change reads this one later.
    void step() noexcept {
        changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    std::atomic<std::uint64_t> changes_{0};
    std::array<std::atomic<std::uint64_t>, Size> numbers_{};
};

} // namespace paddock::detail
