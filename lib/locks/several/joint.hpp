#pragma once

#include "locks/call/hold.hpp"
#include "locks/call/waiting_calls.hpp"

#include <paddock/error.hpp>

#include <memory>

namespace paddock::detail {

/// Several holds, perhaps of several clients, of which the first that ends counts. On the strand of
/// one client, `home`.
class joint final : public std::enable_shared_from_this<joint> {
public:
    /// `tell` hears of the first end, once.
    joint(std::shared_ptr<core> home, unique_function<void(error_code)> tell)
        : home_(std::move(home)), tell_(std::move(tell)) {}

    void add(const std::shared_ptr<hold>& one);
    void when_ended(pending_call_ptr<error_code> call);

    const std::shared_ptr<core>& home() const noexcept { return home_; } ///< any thread

private:
    void end(error_code why);

    const std::shared_ptr<core> home_;
    unique_function<void(error_code)> tell_;
    error_code reason_; ///< no error: none has ended
    waiting_calls<error_code> waiting_;
};

} // namespace paddock::detail
