#pragma once

#include "support/log.hpp"

#include <paddock/boot_clock.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::rules {

/// Limits the log: of each code one line in ten seconds, and of trouble that lasts fewer and fewer,
/// one in a minute at last. Trouble has ended when nothing came of it for a minute.
class log_limit {
public:
    /// Whether a line may be written now: how many were left out since the last one of its code.
    /// The pauses grow for lines about the same path only, so that trouble at one lock does not
    /// hide that at another.
    std::optional<std::uint64_t> allows(log_code code, std::string_view path,
                                        boot_clock::time_point now) {
        auto& one = of(code);
        const bool begins = !one.written || now - one.seen > longest_pause;
        one.seen = now;
        if (begins || one.path != path) one.pause = first_pause;
        if (one.written && now - *one.written < one.pause) {
            ++one.left_out;
            return std::nullopt;
        }
        one.pause =
            begins ? first_pause : std::min<boot_clock::duration>(2 * one.pause, longest_pause);
        one.written = now;
        one.path = path;
        return std::exchange(one.left_out, 0);
    }

    /// The trouble has ended: its pauses are short again, and what was left out is said elsewhere.
    void end(log_code code) noexcept {
        of(code).pause = first_pause;
        of(code).left_out = 0;
    }

private:
    static constexpr std::chrono::seconds first_pause{10};
    static constexpr std::chrono::minutes longest_pause{1};

    struct lines {
        std::optional<boot_clock::time_point> written; ///< the last one
        boot_clock::time_point seen{};                 ///< likewise, written or not
        boot_clock::duration pause = first_pause;
        std::uint64_t left_out = 0;
        std::string path;
    };

    lines& of(log_code code) noexcept { return lines_[static_cast<std::size_t>(code) - 1]; }

    std::array<lines, log_codes> lines_;
};

/// One outage, from the first trouble to the end. The line about its end belongs to one about its
/// beginning.
class outage {
public:
    /// Trouble that lasts since then; `written` says whether the log has it.
    void trouble(boot_clock::time_point since, bool written) noexcept {
        begin_ = std::min(begin_.value_or(since), since);
        told_ = told_ || written;
        if (!written) ++left_out_;
    }

    struct summary {
        boot_clock::duration lasted{};
        std::uint64_t left_out = 0; ///< lines
    };
    /// Nothing if there was no outage, or no line about it.
    std::optional<summary> end(boot_clock::time_point now) noexcept {
        const auto was = std::exchange(*this, {});
        if (!was.told_) return std::nullopt;
        return summary{now - *was.begin_, was.left_out_};
    }

private:
    std::optional<boot_clock::time_point> begin_;
    bool told_ = false;
    std::uint64_t left_out_ = 0;
};

} // namespace paddock::rules
