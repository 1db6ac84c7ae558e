#pragma once

#include "rules/trouble_limit.hpp"
#include "support/trouble.hpp"

#include <functional>
#include <string_view>
#include <utility>

namespace paddock::detail {

/// Where trouble is told: to the user's log, and to std::clog if there is none.
class trouble_log {
public:
    using function = std::function<void(std::string_view)>;

    explicit trouble_log(function of_user) : of_user_(std::move(of_user)) {}

    void tell(trouble_kind kind, std::string_view what, boot_clock::time_point now) noexcept;

private:
    bool tell_user(std::string_view what) noexcept;

    function of_user_;
    rules::trouble_limit limit_;
};

} // namespace paddock::detail
