#pragma once

#include "client/call_kind.hpp"
#include "client/pending_call.hpp"
#include "observation/lock_series.hpp"

#include <paddock/detail/access.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace paddock::detail {

/// One call of lock() or a similar operation. The first of grant, failure, cancellation and time
/// limit completes it.
template <typename Client, typename Result>
class lock_call : public pending_call<Client, Result>, private draining::caller {
public:
    using kind = call_kind;

    using pending_call<Client, Result>::client;
    using pending_call<Client, Result>::open;

    /// Any thread, once. With a limit of zero or less the call locks only if the lock is free.
    void start(std::optional<std::chrono::nanoseconds> limit) {
        this->start_open([this, limit] { begin(limit); });
    }

    /// Any thread: as if the time limit had passed.
    void time_out() {
        client()->post([self = this->shared_from_this(), this] { on_timeout(); });
    }

    /// The time limit has passed; strand only.
    virtual void on_timeout() { abandon(why_not_in_time()); }

    bool immediate() const noexcept { return kind_ == kind::immediate; }

    /// No effect if the call was completed before.
    void finish(error_code why, Result result) {
        deadline_.reset();
        draining::remove(*this);
        end_wait(why, result);
        this->complete(why, std::move(result));
    }

    void fail(error_code why) { finish(why, Result()); }

    /// Completes the call without a result, unless it was completed before.
    void abandon(error_code why) {
        if (!open()) return;
        finish(why, Result());
        abandoned();
    }

protected:
    lock_call(std::shared_ptr<Client> client, handler<void(error_code, Result)>&& h, kind how)
        : pending_call<Client, Result>(std::move(client), std::move(h)), kind_(how) {}

    /// As start(), on the strand of an open client.
    void begin(std::optional<std::chrono::nanoseconds> limit) {
        client()->run_pending_releases();
        begin_wait();
        if (client()->draining().begun() && !admitted_while_draining()) return fail(errc::draining);
        client()->draining().add(*this);
        set_limit(limit);
        join();
    }

    /// The time limit passes after so much time.
    void end_after(std::chrono::nanoseconds limit) {
        deadline_ = client()->env().make_timer();
        deadline_->arm(client()->env().now() + limit, [weak = this->weak_from_this(), this] {
            if (const auto self = weak.lock()) on_timeout();
        });
    }

    /// Called when the client is open and all earlier releases are done.
    virtual void join() = 0;
    /// Of its lock, as the log has it; empty if calls of other locks are its parts.
    virtual std::string_view lock_path() const = 0;
    /// Its lock, as the statistics have it; null if calls of other locks are its parts.
    virtual const counted_lock* counted() const noexcept = 0;
    /// Whether the caller holds the lock already, and takes it once more.
    virtual bool admitted_while_draining() const { return false; }
    /// Called when the time limit or a cancellation has completed the call.
    virtual void abandoned() = 0;
    /// The error of a call whose time limit passes now; none, and thus an empty result, if the
    /// client knows that the lock is taken.
    virtual error_code why_not_in_time() const = 0;

private:
    void turn_away() override {
        const auto self = this->shared_from_this();
        abandon(errc::draining);
    }
    void cancelled() override { abandon(asio::error::operation_aborted); }

    void set_limit(std::optional<std::chrono::nanoseconds> limit) {
        if (limit && limit->count() <= 0) kind_ = kind::immediate;
        if (limit && !immediate()) end_after(*limit);
    }

    void begin_wait() {
        const auto* const lock = counted();
        if (!lock) return;
        waits_since_ = client()->env().now();
        client()->observers().wait_begins(*lock, lock_path());
    }

    void end_wait(error_code why, const Result& result) {
        const auto since = std::exchange(waits_since_, no_wait);
        if (since == no_wait) return;
        const auto waited = client()->env().now() - since;
        auto& all = client()->observers();
        if constexpr (std::is_same_v<Result, guard>)
            if (access::hold_of(result))
                return all.granted(*counted(), lock_path(), waited, result.fencing_token());
        all.not_granted(*counted(), lock_path(), waited, outcome_of(why), why);
    }

    wait_outcome outcome_of(error_code why) const noexcept {
        if (!why) return immediate() ? wait_outcome::busy : wait_outcome::timeout;
        return why == asio::error::operation_aborted ? wait_outcome::cancelled
                                                     : wait_outcome::error;
    }

    static constexpr auto no_wait = boot_clock::time_point::min();

    kind kind_;
    boot_clock::time_point waits_since_ = no_wait;
    std::unique_ptr<timer> deadline_;
};

} // namespace paddock::detail
