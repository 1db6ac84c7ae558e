#pragma once

#include "rules/kinds_in_use.hpp"
#include "session/core.hpp"

#include <paddock/error.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace paddock::detail {

/// That locks of one kind use a path: those of another kind are refused there as long as it lasts,
/// because they would not exclude each other. Strand only.
class path_use {
public:
    explicit path_use(core& client) : core_(client) {}
    ~path_use();
    path_use(const path_use&) = delete;
    path_use& operator=(const path_use&) = delete;

    /// Always of the same path. A refusal is in the log, and is errc::bad_argument. No effect
    /// without a kind, which is that of a lock with a name of the user's, nor if it has begun.
    error_code begin(std::string_view path, std::optional<rules::lock_kind> kind);
    /// No effect if it has not begun.
    void end();

private:
    error_code refuse(std::string_view path, rules::lock_kind kind, rules::lock_kind other) const;

    core& core_;
    std::shared_ptr<rules::kinds_in_use> kinds_; ///< null before the first use
    rules::kinds_in_use::place at_;
    bool begun_ = false;
};

} // namespace paddock::detail
