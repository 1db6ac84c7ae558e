#pragma once

#include "client/client_base.hpp"
#include "client/hold_deadlines.hpp"
#include "client/lease_term.hpp"
#include "client/waiting_calls.hpp"
#include "observation/lock_series.hpp"
#include "support/function.hpp"

#include <paddock/detail/initiate.hpp>
#include <paddock/fencing_token.hpp>
#include <paddock/options.hpp>
#include <paddock/znode.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

/// What a hold holds: nodes of ZooKeeper, or keys of Redis. Strand only.
class held_resource {
public:
    virtual ~held_resource() = default;
    /// Releases the resource; called once.
    virtual void release() = 0;
    /// Calls `deleted` when, after release(), the servers have deleted it.
    virtual void when_deleted(unique_function<void(error_code)> deleted) = 0;
    /// A hold of the resource has ended, for this reason; the hold may learn of it first.
    virtual void hold_ended(error_code why) { (void)why; }
    /// Starts to share the lock; hold::downgraded() or downgrade_refused() reports the result. Only
    /// if hold::can_downgrade(). No effect while a downgrade is in progress.
    virtual void downgrade() {}
};

/// What a granted contender has; the inside of a guard. Strand only, unless marked "any thread".
/// Derived classes know how the servers store the hold.
class hold : public releasable,
             public std::enable_shared_from_this<hold>,
             private draining::holder {
public:
    /// `term` is the time in which the servers certainly keep the resource; `counted` is null for a
    /// hold that no statistics have.
    hold(std::shared_ptr<client_base> client, std::shared_ptr<const lease_term> term,
         std::shared_ptr<held_resource> resource, std::shared_ptr<const counted_lock> counted,
         const fencing_token& token, bool can_downgrade = false);

    // Any thread.
    bool valid() const noexcept {
        return stage_.load(std::memory_order_acquire) != stage::ended && term_->alive() &&
               (ends_at_ == no_end || !term_->passed(ends_at_));
    }
    boot_clock::time_point valid_until() const noexcept {
        return stage_.load(std::memory_order_acquire) != stage::ended
                   ? std::min(term_->until(), ends_at_)
                   : boot_clock::time_point();
    }
    /// Whether the servers certainly keep the resource, though the hold may be lost.
    bool lease_alive() const noexcept { return term_->alive(); }
    virtual std::string_view path() const noexcept = 0;
    /// Of the lock, as its servers know it: with the client's root.
    virtual std::string_view lock_path() const noexcept = 0;
    /// Limits the time of the hold, which was granted at `since`. Once, and only before other
    /// threads can use the hold.
    void limit(const hold_limit& limit, boot_clock::time_point since);
    // The guard's operations that ask the servers.
    virtual void start_verify(handler<void(error_code)> h) = 0;
    virtual void start_transaction(handler<void(error_code, std::vector<operation_result>)> h,
                                   std::vector<operation> steps) = 0;
    /// Whether there are transactions; else start_transaction() fails.
    virtual bool has_transactions() const noexcept = 0;
    bool can_downgrade() const noexcept { return can_downgrade_; }
    fencing_token token() const noexcept { return token_; }
    boot_clock::time_point granted_at() const noexcept { return granted_at_; }
    const std::shared_ptr<client_base>& client() const noexcept { return client_; }

    /// Ends the hold and completes the calls that wait for its end. The first reason counts. With
    /// errc::lease_lapsed the hold stays valid until the lease ends.
    void end(error_code why);
    /// Ends the hold and releases the resource.
    void release();
    /// The same, of a guard that is there no more.
    void give_up();
    /// As held_resource::when_deleted().
    void when_deleted(unique_function<void(error_code)> deleted);
    void release_on_strand() override { give_up(); }
    /// See hold_deadlines.
    void on_deadline();

    bool ended() const noexcept { return stage_.load(std::memory_order_relaxed) != stage::held; }
    error_code reason() const noexcept { return reason_; }
    /// The reason of a hold that is not valid, though it may not have been told.
    error_code loss() const noexcept {
        if (ended()) return reason_;
        return term_->alive() ? errc::hold_expired : errc::lease_lapsed;
    }

    /// Completes the call with the reason when the hold ends.
    void when_ended(client_call_ptr<error_code> call);
    /// Calls back with the reason, on the strand.
    void when_ended(unique_function<void(error_code)> callback);
    // Complete the call when the event happens, or fail it with the reason when the hold ends.
    void when_revoke_requested(client_call_ptr<> call);
    void downgrade(client_call_ptr<> call);

    /// Another client asks for the lock back.
    void request_revoke();
    /// The hold shares the lock from now on.
    void downgraded();
    /// The hold stays exclusive.
    void downgrade_refused(error_code why) {
        downgrade_wanted_ = false;
        downgrade_calls_.complete(why);
    }

protected:
    bool is_shared() const noexcept { return shared_.load(std::memory_order_acquire); }

private:
    enum class stage { held, lapsing, ended };

    static constexpr auto no_end = boot_clock::time_point::max();

    /// The hold has ended: nothing renews it any more.
    virtual void on_end() {}
    /// After a pause of the process the deletion of the node may be reported first, although the
    /// lease ended before it.
    virtual error_code first_reason(error_code why) const noexcept {
        return why == errc::node_deleted && !term_->alive() ? errc::lease_lapsed : why;
    }
    void tell_end() const;

    std::shared_ptr<client_base> client_;
    std::shared_ptr<const lease_term> term_;
    std::shared_ptr<held_resource> resource_;
    std::shared_ptr<const counted_lock> counted_;
    bool released_ = false;
    fencing_token token_;
    boot_clock::time_point granted_at_;
    std::atomic<stage> stage_{stage::held};
    error_code reason_;
    boot_clock::time_point ends_at_ = no_end; ///< see hold_limit::longest
    boot_clock::duration grace_{0};
    hold_deadlines::key deadline_{};
    bool can_downgrade_;
    bool downgrade_wanted_ = false;
    bool revoke_requested_ = false;
    std::atomic<bool> shared_{false}; ///< after a downgrade
    waiting_calls<error_code> end_calls_;
    waiting_calls<> revoke_calls_, downgrade_calls_;
    std::vector<unique_function<void(error_code)>> end_callbacks_;
};

} // namespace paddock::detail
