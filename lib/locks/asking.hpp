#pragma once

#include "session/core.hpp"
#include "support/bridge.hpp"

#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace paddock::detail {

/// One call that asks for a lock, from its start to its completion. Whoever comes first (grant,
/// failure, cancellation, time limit) completes it; all of them come on the strand.
template <typename Result>
class asking : public std::enable_shared_from_this<asking<Result>> {
public:
    enum class kind { wait, only_if_free };

    virtual ~asking() = default;

    /// Any thread, once. With a limit of nothing it asks only whether the lock is free.
    void launch(std::optional<std::chrono::nanoseconds> limit) {
        user_.on_cancel([weak = this->weak_from_this()] {
            if (const auto self = weak.lock()) self->stop();
        });
        client_->post([self = this->shared_from_this(), limit] { self->start(limit); });
    }

    /// Any thread: as if the caller had cancelled it.
    void stop() {
        client_->post(
            [self = this->shared_from_this()] { self->abandon(asio::error::operation_aborted); });
    }

    bool only_if_free() const noexcept { return kind_ == kind::only_if_free; }

    /// Nothing happens when it was completed before.
    void finish(error_code why, Result result) {
        deadline_.reset();
        if (user_) user_.complete(why, std::move(result));
    }

    void fail(error_code why, on_over_budget wish) {
        // A limit of nothing asks whether the lock is to be had now: without a connection it is
        // not.
        const bool offline = limited_ && why == errc::not_connected;
        const bool would_wait =
            only_if_free() && wish == on_over_budget::wait && why == errc::over_budget;
        finish(offline || would_wait ? error_code() : why, Result());
    }

protected:
    asking(std::shared_ptr<core> client, handler<void(error_code, Result)>&& h, kind how)
        : client_(std::move(client)), user_(client_->get_executor(), std::move(h)), kind_(how) {}

    /// The client is open, and what was given back before has been taken.
    virtual void begin() = 0;
    /// Nobody waits any more: out of time, or cancelled. The call was completed.
    virtual void abandoned() = 0;

    /// Whether somebody still waits.
    bool open() const noexcept { return static_cast<bool>(user_); }
    const std::shared_ptr<core>& client() const noexcept { return client_; }

private:
    void start(std::optional<std::chrono::nanoseconds> limit) {
        if (!user_) return;
        if (client_->closed()) return finish(client_->close_reason(), Result());
        client_->start();
        client_->take_returns();
        limited_ = limit.has_value();
        if (limited_ && limit->count() <= 0) kind_ = kind::only_if_free;
        if (limited_ && !only_if_free()) {
            deadline_ = client_->env().make_timer();
            deadline_->arm(client_->env().now() + *limit, [weak = this->weak_from_this()] {
                if (const auto self = weak.lock()) self->abandon({});
            });
        }
        begin();
    }

    void abandon(error_code why) {
        if (!user_) return;
        finish(why, Result());
        abandoned();
    }

    std::shared_ptr<core> client_;
    bridge<error_code, Result> user_;
    kind kind_;
    bool limited_ = false;
    std::unique_ptr<timer> deadline_;
};

} // namespace paddock::detail
