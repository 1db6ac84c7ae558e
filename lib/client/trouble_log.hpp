#pragma once

#include "observation/observers.hpp"
#include "rules/log_limit.hpp"

#include <paddock/log.hpp>

#include <string_view>

namespace paddock::detail {

/// Writes the lines of the log. Strand only.
class trouble_log {
public:
    explicit trouble_log(observers& outside) : observers_(outside) {}

    /// Returns whether it was written: lines that come too often are left out, and counted by the
    /// next one. `path` is that of the lock, if the line is about one.
    bool write(log_code code, std::string_view text, boot_clock::time_point now,
               std::string_view path = {}) noexcept {
        return write(code, text, now, path, limit_);
    }
    /// With a limit of its own, for one server of several.
    bool write(log_code code, std::string_view text, boot_clock::time_point now,
               std::string_view path, rules::log_limit& limit) noexcept;

    /// Without a limit.
    void write_now(log_code code, std::string_view text, std::string_view path = {}) noexcept;

    /// The end of an outage, if the log has its beginning: `text` says what is well again.
    void write_recovery(std::string_view text, rules::outage& over, boot_clock::time_point now,
                        rules::log_limit& limit) noexcept;
    void write_recovery(std::string_view text, rules::outage& over,
                        boot_clock::time_point now) noexcept {
        write_recovery(text, over, now, limit_);
    }

private:
    observers& observers_;
    rules::log_limit limit_;
};

} // namespace paddock::detail
