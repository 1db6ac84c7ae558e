#pragma once

#include <paddock/boot_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace paddock::detail {

/// The pauses after which the locks of one client ask the ensemble again: for what it has refused
/// for the moment, or what the client may not watch. Of thousands that pause at one time each waits
/// longer, so that the client makes no more than ten thousand attempts a second; and those pauses
/// end together, forty times a second, so that one packet has many requests: one by one, 4600 of
/// them cost twice the processor time. Strand only.
class retry_pauses {
public:
    /// So late a lock notices what it may not watch; less costs each such lock more requests.
    static constexpr std::chrono::milliseconds shortest{250};
    static constexpr std::chrono::microseconds apart{100};   ///< ten thousand attempts a second
    static constexpr std::chrono::milliseconds together{25}; ///< up to 250 attempts in one packet

    /// One pause under way.
    class one {
    public:
        explicit one(retry_pauses& all) : all_(&all) { ++all.under_way_; }
        one(one&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}
        one& operator=(one&& other) noexcept {
            std::swap(all_, other.all_);
            return *this;
        }
        ~one() {
            if (all_) --all_->under_way_;
        }

    private:
        retry_pauses* all_;
    };

    /// When a pause ends that begins now.
    boot_clock::time_point end(boot_clock::time_point now) const noexcept {
        const boot_clock::duration crowded = under_way_ * apart;
        if (crowded < shortest) return now + shortest;
        const auto since_epoch = (now + crowded).time_since_epoch();
        return boot_clock::time_point((since_epoch / together + 1) * together);
    }

private:
    std::int64_t under_way_ = 0;
};

} // namespace paddock::detail
