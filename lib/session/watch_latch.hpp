#pragma once

#include "session/pending_call.hpp"

#include <paddock/watch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::detail {

/// The inside of a paddock::watch: keeps the one event until somebody takes it. On the strand, but
/// for happened().
class watch_latch final : public std::enable_shared_from_this<watch_latch> {
public:
    using outcome = std::pair<error_code, watch_event>;

    explicit watch_latch(std::shared_ptr<core> client) : core_(std::move(client)) {}

    const std::shared_ptr<core>& client() const noexcept { return core_; }
    bool happened() const noexcept { return happened_.load(std::memory_order_acquire); }

    /// Before the read is sent. Fails if it was used before, or there is no room for a watch.
    error_code use(const std::string& path, watch_kind kind);
    /// The read was answered, and has set a watch.
    void armed();
    /// The read failed: no event will come.
    void read_failed(error_code why);
    /// Likewise for a read that is never sent; of no importance if there was another before.
    void read_refused(error_code why);
    /// Completes the call with the outcome, now or when there is one.
    void take(pending_call_ptr<watch_event> call);
    void stop_waiting();
    void disarm();

private:
    void settle(error_code why, watch_event what);
    void enter_table(const std::string& path, watch_kind kind);

    std::shared_ptr<core> core_;
    std::string path_; ///< empty before a read
    watch_table::waiter waiter_ = 0;
    bool used_ = false;
    std::optional<outcome> outcome_;
    std::atomic<bool> happened_{false};
    pending_call_ptr<watch_event> call_;
};

} // namespace paddock::detail
