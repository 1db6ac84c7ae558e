#pragma once

#include "support/environment.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace paddock::native {

/// Counts the attempts to connect, and limits their time. The C client itself gives each server two
/// thirds of the session timeout, so one server that drops packets costs most of a session's life.
/// The limit is a second at first and doubles with each pass over all servers: an abandoned
/// handshake may still be executed, and would disturb the next one.
class connection_attempts {
public:
    /// The C client got a list of `entries` entries with this many different servers.
    void use_list(std::size_t servers, std::size_t entries) noexcept {
        servers_ = servers;
        entries_ = std::max<std::size_t>(entries, 1);
        failed_ = 0;
        new_list_expected_ = false;
    }

    /// The C client will get a list of this many servers after the present attempt. So no pass ends
    /// before the next use_list(), and the present attempt has a deadline if there are others.
    void expect_list(std::size_t servers) noexcept {
        servers_ = servers;
        new_list_expected_ = true;
    }

    void begin(boot_clock::time_point now) noexcept {
        in_progress_ = true;
        phase_ = 0;
        phase_since_ = now;
    }

    /// `state` of the C client: TCP connect and handshake have a limit each.
    void observe(int state, boot_clock::time_point now) noexcept {
        if (state != phase_) phase_since_ = now;
        phase_ = state;
    }

    /// The event loop did not run, so the time that has passed says nothing about the server.
    void restart_phase(boot_clock::time_point now) noexcept { phase_since_ = now; }

    void succeed() noexcept {
        in_progress_ = false;
        failed_ = 0;
        passes_ = 0;
    }

    /// Returns whether the failed attempt was the last of a pass over all servers.
    bool fail() noexcept {
        in_progress_ = false;
        if (new_list_expected_ || ++failed_ < entries_) return false;
        failed_ = 0;
        ++passes_;
        return true;
    }

    bool in_progress() const noexcept { return in_progress_; }

    /// When to give up; empty if the C client does so earlier, or if there is no other server.
    std::optional<boot_clock::time_point>
    deadline(std::chrono::milliseconds session_timeout) const noexcept {
        if (!in_progress_ || servers_ < 2) return std::nullopt;
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
    bool new_list_expected_ = false;
    bool in_progress_ = false;
    int phase_ = 0;
    boot_clock::time_point phase_since_{};
};

} // namespace paddock::native
