#pragma once

#include "session/core.hpp"
#include "support/bridge.hpp"

#include <paddock/guard.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace paddock::detail {

/// One call that waits for a guard, from its start to its completion. Whoever comes first (guard,
/// failure, cancellation, time limit) completes it; all of them come on the strand.
class lock_call {
public:
    /// Any thread, once.
    void launch(std::optional<std::chrono::nanoseconds> limit);

protected:
    lock_call(std::shared_ptr<core> client, handler<void(error_code, guard)>&& h);
    ~lock_call() = default;

    virtual std::shared_ptr<lock_call> self() = 0;
    /// On the strand. `ask_only`: there is no time to wait for anything.
    virtual void begin(bool ask_only) = 0;
    /// Nobody waits any more: out of time, or cancelled. The caller has been told.
    virtual void abandoned() = 0;

    core& client() const noexcept { return *client_; }
    const std::shared_ptr<core>& shared_client() const noexcept { return client_; }
    bool waited_for() const noexcept { return static_cast<bool>(user_); }
    bool limited() const noexcept { return limited_; }
    void finish(error_code why, guard result);

private:
    void start(std::optional<std::chrono::nanoseconds> limit);
    void abandon(error_code why);

    std::shared_ptr<core> client_;
    bridge<error_code, guard> user_;
    bool limited_ = false;
    std::unique_ptr<timer> deadline_;
};

} // namespace paddock::detail
