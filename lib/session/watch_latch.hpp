#pragma once

#include "session/session_call.hpp"

#include <paddock/watch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::detail {

/// The inside of a paddock::watch: keeps the one event until a call takes it. Strand only, except
/// happened().
class watch_latch final : public std::enable_shared_from_this<watch_latch> {
public:
    using outcome = std::pair<error_code, watch_event>;

    explicit watch_latch(std::shared_ptr<core> client) : core_(std::move(client)) {}

    const std::shared_ptr<core>& client() const noexcept { return core_; }
    bool happened() const noexcept { return happened_.load(std::memory_order_acquire); }

    /// Call before the read is sent. Fails if it was used before, or if the budget of watched paths
    /// has no room.
    error_code use(const std::string& path, watch_kind kind);
    /// The answer to the read has come, and the watch is set.
    void armed();
    /// The read failed: no event will come.
    void read_failed(error_code why);
    /// As read_failed(), for a read that is not sent; no effect if use() was called before.
    void read_refused(error_code why);
    /// Completes the call with the outcome, at once or when there is one.
    void take(session_call_ptr<watch_event> call);
    void stop_waiting();
    void disarm();

private:
    void end_with(error_code why, watch_event what);
    void enter_table(const std::string& path, watch_kind kind);

    std::shared_ptr<core> core_;
    std::string path_; ///< empty before use()
    watch_table::waiter_id waiter_ = 0;
    bool used_ = false;
    std::optional<outcome> outcome_;
    std::atomic<bool> happened_{false};
    session_call_ptr<watch_event> call_;
};

} // namespace paddock::detail
