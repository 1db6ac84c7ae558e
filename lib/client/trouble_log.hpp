#pragma once

#include "rules/trouble_limit.hpp"
#include "support/trouble.hpp"

#include <functional>
#include <string_view>
#include <utility>

namespace paddock::detail {

/// Writes problems to the user's log, or to std::clog if there is none.
class trouble_log {
public:
    using function = std::function<void(std::string_view)>;

    explicit trouble_log(function user_log) : user_log_(std::move(user_log)) {}

    /// Returns whether it was written: lines that come too often are not.
    bool write(trouble_kind kind, std::string_view what, boot_clock::time_point now) noexcept {
        return write(kind, what, now, limit_);
    }
    /// With a limit of its own, for one server of several.
    bool write(trouble_kind kind, std::string_view what, boot_clock::time_point now,
               rules::trouble_limit& limit) noexcept;

private:
    bool write_to_user(std::string_view what) noexcept;

    function user_log_;
    rules::trouble_limit limit_;
};

} // namespace paddock::detail
