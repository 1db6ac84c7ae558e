#pragma once

#include "native/calls.hpp"
#include "support/environment.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace paddock::native {

/// What a pass over all servers has shown.
struct failed_pass {
    std::set<std::string> refused; ///< servers that have closed the connection in the handshake
    std::set<std::string> mute;    ///< other servers, that have accepted it, and not answered
    bool by_most = false;          ///< more than half of the servers have refused

    /// A server may be tried twice in a pass: that it has refused says more.
    void add(const std::string& server, bool silent) {
        if (!silent) {
            refused.insert(server);
            mute.erase(server);
        } else if (!refused.contains(server)) {
            mute.insert(server);
        }
    }
};

/// Counts the attempts to connect, and limits their time: the C client itself gives each server two
/// thirds of the session timeout, which may be hours. A limit is a second at first and doubles with
/// each pass in which it was reached, because an abandoned handshake may still be executed, and
/// would disturb the next one. It is a second again once all servers have answered in time, if only
/// by refusing: a server that is about to serve does not answer at all, for a moment.
class connection_attempts {
public:
    static constexpr std::chrono::seconds longest_connect{4};    ///< three SYNs: at 0, 1, 3 s
    static constexpr std::chrono::seconds longest_handshake{30}; ///< each, by an overloaded server

    /// The C client got a list of `entries` entries with this many different servers.
    void use_list(std::size_t servers, std::size_t entries) noexcept {
        servers_ = servers;
        entries_ = std::max<std::size_t>(entries, 1);
        begin_pass();
        new_list_expected_ = false;
    }

    /// The C client will get another list after the present attempt. So no pass ends before the
    /// next use_list().
    void expect_list() noexcept { new_list_expected_ = true; }

    void begin(std::string server, boot_clock::time_point now) {
        in_progress_ = true;
        given_up_ = false;
        server_ = std::move(server);
        phase_ = 0;
        phase_since_ = now;
    }

    /// calls::phase(): TCP connect and each handshake have a limit.
    void observe(int at, boot_clock::time_point now) noexcept {
        const bool phase =
            at == state::connecting || at == state::securing || at == state::associating;
        if (!phase || at == phase_) return;
        phase_ = at;
        phase_since_ = now;
    }

    /// The event loop did not run, so the time that has passed says nothing about the server.
    void restart_phase(boot_clock::time_point now) noexcept { phase_since_ = now; }

    /// The limit of the present attempt was reached, or that of the C client.
    void give_up() noexcept { given_up_ = slow_ = true; }

    void succeed() noexcept {
        end();
        slow_passes_ = 0;
        begin_pass();
    }

    /// The attempt has failed. Returns what the pass over all servers has shown, if it was its
    /// last.
    std::optional<failed_pass> fail() {
        const bool silent = given_up_;
        // Whoever refuses TLS's handshake may still serve the session.
        const bool accepted = phase_ == state::associating || (silent && phase_ == state::securing);
        end();
        if (new_list_expected_) return std::nullopt;
        if (accepted) shown_.add(server_, silent);
        if (++failed_ < entries_) return std::nullopt;
        slow_passes_ = slow_ ? std::min(slow_passes_ + 1, 5) : 0;
        auto shown = std::exchange(shown_, {});
        shown.by_most = shown.refused.size() * 2 > servers_;
        begin_pass();
        return shown;
    }

    bool in_progress() const noexcept { return in_progress_; }
    const std::string& server() const noexcept { return server_; }

    /// When to give up, if the C client does not do so earlier.
    std::optional<boot_clock::time_point> deadline() const noexcept {
        if (!in_progress_) return std::nullopt;
        const bool connected = phase_ == state::securing || phase_ == state::associating;
        const auto longest = connected ? longest_handshake : longest_connect;
        return phase_since_ + std::min(std::chrono::seconds(1 << slow_passes_), longest);
    }

private:
    /// The next attempt may fail before it has a socket, and so before begin().
    void end() noexcept {
        in_progress_ = given_up_ = false;
        phase_ = 0;
    }
    void begin_pass() noexcept {
        failed_ = 0;
        shown_ = {};
        slow_ = false;
    }

    std::size_t servers_ = 0;
    std::size_t entries_ = 1;
    std::size_t failed_ = 0; ///< attempts of this pass
    failed_pass shown_;      ///< by them
    bool slow_ = false;      ///< an attempt of this pass was given up
    int slow_passes_ = 0;    ///< one after the other
    bool new_list_expected_ = false;
    bool in_progress_ = false;
    bool given_up_ = false; ///< the present attempt, at its limit
    std::string server_;    ///< of the present attempt
    int phase_ = 0;
    boot_clock::time_point phase_since_{};
};

} // namespace paddock::native
