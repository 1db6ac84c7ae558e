#pragma once

#include "rules/kinds.hpp"
#include "session/core.hpp"

#include <paddock/error.hpp>

#include <memory>
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

    /// Always of the same path. No effect if it has begun already.
    error_code begin(std::string_view path, rules::lock_kind kind);
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
