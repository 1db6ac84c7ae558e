#pragma once

#include "support/environment.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace paddock::native {

/// Counts the attempts to connect, and says when one has taken too long. The C client itself gives
/// each server two thirds of the session timeout, so that one that swallows packets costs most of a
/// session. Never less than a second, though, and twice as long with each pass over all servers: an
/// abandoned handshake may still be executed, and gets in the way of the next one.
class attempts {
public:
    /// From now on there are so many different servers, in a list of so many entries.
    void use_list(std::size_t servers, std::size_t entries) noexcept {
        servers_ = servers;
        entries_ = std::max<std::size_t>(entries, 1);
        failed_ = 0;
    }

    void begin(boot_clock::time_point now) noexcept {
        under_way_ = true;
        phase_ = 0;
        phase_since_ = now;
    }

    /// The connection's state: reaching the server and shaking hands are timed separately.
    void observe(int state, boot_clock::time_point now) noexcept {
        if (state != phase_) phase_since_ = now;
        phase_ = state;
    }

    /// The event loop did not run: nobody can say whether the server was slow.
    void excuse(boot_clock::time_point now) noexcept { phase_since_ = now; }

    void succeed() noexcept {
        under_way_ = false;
        failed_ = 0;
        passes_ = 0;
    }

    /// Whether this was the last one of a pass over all servers.
    bool fail() noexcept {
        under_way_ = false;
        if (++failed_ < entries_) return false;
        failed_ = 0;
        ++passes_;
        return true;
    }

    bool under_way() const noexcept { return under_way_; }

    /// When to give up, if before the C client does. With one server there is nowhere else to go.
    std::optional<boot_clock::time_point>
    deadline(std::chrono::milliseconds session_timeout) const noexcept {
        if (!under_way_ || servers_ < 2) return std::nullopt;
        const std::chrono::milliseconds cap =
            std::chrono::seconds(1) * (1 << std::min(passes_, 16));
        if (cap >= session_timeout * 2 / 3) return std::nullopt;
        return phase_since_ + cap;
    }

private:
    std::size_t servers_ = 0;
    std::size_t entries_ = 1;
    std::size_t failed_ = 0;
    int passes_ = 0;
    bool under_way_ = false;
    int phase_ = 0;
    boot_clock::time_point phase_since_{};
};

} // namespace paddock::native
