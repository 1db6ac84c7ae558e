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
#include <utility>

namespace paddock::rules {

/// Limits the log: of each code one line in ten seconds, about locks one for each of three, and of
/// trouble that lasts fewer and fewer, one in a minute at last. Trouble has ended when nothing came
/// of it for a minute.
class log_limit {
public:
    /// Between two lines of trouble that begins, and that lasts. A trade: shorter pauses fill the
    /// log, longer ones hide the trouble from those who begin to read.
    static constexpr std::chrono::seconds first_pause{10};
    static constexpr std::chrono::minutes longest_pause{1};

    /// Whether a line may be written now: how many of its code were left out since the last one.
    std::optional<std::uint64_t> allows(log_code code, std::string_view path,
                                        boot_clock::time_point now) {
        auto& all = of(code);
        auto* const one = subject_of(all, path, now);
        if (!one || !one->allows(now)) {
            ++all.left_out;
            return std::nullopt;
        }
        one->path = path;
        return std::exchange(all.left_out, 0);
    }

    /// The trouble has ended: its pauses are short again, and what was left out is said elsewhere.
    void end(log_code code) noexcept {
        for (auto& one : of(code).subjects)
            one.pause = first_pause;
        of(code).left_out = 0;
    }

private:
    static constexpr std::size_t most_subjects = 3; ///< locks with pauses of their own; a trade

    /// What the lines are about: one lock, or the client.
    struct subject {
        std::string path;
        std::optional<boot_clock::time_point> written; ///< the last line
        boot_clock::time_point seen{};                 ///< likewise, written or not
        boot_clock::duration pause = first_pause;

        bool rests(boot_clock::time_point now) const noexcept {
            return !written || now - *written >= first_pause;
        }
        bool allows(boot_clock::time_point now) noexcept {
            const bool begins = !written || now - seen > longest_pause;
            seen = now;
            if (begins) pause = first_pause;
            if (written && now - *written < pause) return false;
            if (!begins) pause = std::min<boot_clock::duration>(2 * pause, longest_pause);
            written = now;
            return true;
        }
    };
    struct lines {
        std::array<subject, most_subjects> subjects;
        std::uint64_t left_out = 0;
    };

    lines& of(log_code code) noexcept { return lines_[static_cast<std::size_t>(code) - 1]; }

    /// That of the path; else the one that was seen first, if it can be another's.
    static subject* subject_of(lines& all, std::string_view path, boot_clock::time_point now) {
        auto& any = all.subjects;
        const auto known = std::find_if(any.begin(), any.end(), [&](const subject& one) {
            return one.written && one.path == path;
        });
        if (known != any.end()) return &*known;
        const auto oldest = std::min_element(
            any.begin(), any.end(), [](const auto& a, const auto& b) { return a.seen < b.seen; });
        if (!oldest->rests(now)) return nullptr;
        *oldest = {};
        return &*oldest;
    }

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
