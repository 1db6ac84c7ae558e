#pragma once

#include "session/pending_call.hpp"

#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace paddock::detail {

/// One call that asks for a lock. Whatever comes first (grant, failure, cancellation, time limit)
/// completes it.
template <typename Result>
class lock_call : public pending_call<Result> {
public:
    enum class kind { wait, only_if_free };

    using pending_call<Result>::client;
    using pending_call<Result>::open;

    /// Any thread, once. With a limit of nothing it asks only for what is free.
    void launch(std::optional<std::chrono::nanoseconds> limit) {
        this->start_open([this, limit] {
            client()->take_returns();
            set_limit(limit);
            begin();
        });
    }

    /// Any thread: as if its time were up.
    void time_out() {
        client()->post([self = this->shared_from_this(), this] { run_out(); });
    }

    /// On the strand: its time is up. An empty result says that the lock was taken. While it is not
    /// connected the client cannot say that, unless it saw so, and its lease has not lapsed since
    /// then.
    virtual void run_out() {
        const bool connected = client()->state() == client_state::connected;
        const bool saw = client()->lease().term()->alive() && sees_it_taken();
        abandon(connected || saw ? error_code() : errc::not_connected);
    }

    bool only_if_free() const noexcept { return kind_ == kind::only_if_free; }

    /// Nothing happens when it was completed before.
    void finish(error_code why, Result result) {
        deadline_.reset();
        this->complete(why, std::move(result));
    }

    void fail(error_code why) { finish(why, Result()); }

protected:
    lock_call(std::shared_ptr<core> client, handler<void(error_code, Result)>&& h, kind how)
        : pending_call<Result>(std::move(client), std::move(h)), kind_(how) {}

    /// The client is open, and has taken what was given back before.
    virtual void begin() = 0;
    /// The call was completed by its time limit or a cancellation.
    virtual void abandoned() = 0;
    /// Whether the latest that is known is that another contender is in the way.
    virtual bool sees_it_taken() const = 0;

    /// Completes the call, unless that was done, without what it asked for.
    void abandon(error_code why) {
        if (!open()) return;
        finish(why, Result());
        abandoned();
    }

private:
    void cancelled() override { abandon(asio::error::operation_aborted); }

    void set_limit(std::optional<std::chrono::nanoseconds> limit) {
        if (limit && limit->count() <= 0) kind_ = kind::only_if_free;
        if (!limit || only_if_free()) return;
        deadline_ = client()->env().make_timer();
        deadline_->arm(client()->env().now() + *limit, [weak = this->weak_from_this(), this] {
            if (const auto self = weak.lock()) run_out();
        });
    }

    kind kind_;
    std::unique_ptr<timer> deadline_;
};

} // namespace paddock::detail
