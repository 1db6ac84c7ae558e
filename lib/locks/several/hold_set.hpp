#pragma once

#include "client/client_base.hpp"
#include "client/hold.hpp"
#include "client/waiting_calls.hpp"

#include <paddock/error.hpp>

#include <memory>

namespace paddock::detail {

/// Several holds, perhaps of several clients, and the first end of one of them. Runs on the strand
/// of one client, `home`.
class hold_set final : public std::enable_shared_from_this<hold_set> {
public:
    /// Calls `on_end` once, when the first hold ends.
    hold_set(std::shared_ptr<client_base> home, unique_function<void(error_code)> on_end)
        : home_(std::move(home)), on_end_(std::move(on_end)) {}

    void add(const std::shared_ptr<hold>& one);
    void when_ended(client_call_ptr<error_code> call);

    const std::shared_ptr<client_base>& home() const noexcept { return home_; } ///< any thread

private:
    void end(error_code why);

    const std::shared_ptr<client_base> home_;
    unique_function<void(error_code)> on_end_;
    error_code reason_; ///< of the first end; no error before
    waiting_calls<error_code> end_calls_;
};

} // namespace paddock::detail
