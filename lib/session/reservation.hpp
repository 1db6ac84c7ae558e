#pragma once

#include "session/core.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>

#include <cstddef>
#include <memory>

namespace paddock::detail {

/// Reserves the bytes of several nodes in the node budget of one client, all at once: callers that
/// hold a part of theirs while they wait for the rest could deadlock. On that client's strand.
class reservation final : public session_listener,
                          public std::enable_shared_from_this<reservation> {
public:
    /// Receives whether the bytes are reserved, and the error if they are not.
    using callback = unique_function<void(error_code, bool reserved)>;
    /// Without room: wait for it, complete without an error, or fail with errc::over_budget. Bytes
    /// that exceed the whole budget always fail.
    enum class if_full { wait, give_up, fail };

    explicit reservation(std::shared_ptr<core> client) : core_(std::move(client)) {}

    /// Call once. Calls `done` once, perhaps from within, but not after release().
    void reserve(std::size_t bytes, if_full how, callback done);
    /// Hands a part over to the caller, which will release it. Returns whether so much is left.
    bool take(std::size_t bytes) noexcept;
    /// Releases what is left, and stops waiting.
    void release();

    const std::shared_ptr<core>& client() const noexcept { return core_; } ///< any thread

    void on_closed(error_code why) override;

private:
    void complete(error_code why, bool reserved = false);

    const std::shared_ptr<core> core_;
    std::size_t bytes_ = 0;        ///< reserved and not yet taken
    budget::waiter_id waiter_ = 0; ///< in the budget
    callback done_;
};

} // namespace paddock::detail
