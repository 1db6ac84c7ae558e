#pragma once

#include "locks/call/waiting_calls.hpp"
#include "session/core.hpp"
#include "support/function.hpp"

#include <paddock/guard.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

/// What a hold is a hold of: a place in a queue, a set of leases, a node. On the strand.
class held_resource {
public:
    virtual ~held_resource() = default;
    /// Gives it back; once.
    virtual void release() = 0;
    /// Calls `gone` when, after release(), the ensemble has nothing of it any more.
    virtual void when_deleted(unique_function<void(error_code)> gone) = 0;
    /// A hold of it has ended, for this reason. The hold may have noticed before the resource did.
    virtual void ended(error_code why) { (void)why; }
    /// Shares it from now on; hold::downgraded() or downgrade_refused() tells of the end. Only
    /// where that is possible. Again before the end: nothing.
    virtual void downgrade() {}
};

/// What a granted contender has; the inside of a guard. On the strand, but for what is said to be
/// for any thread.
class hold final : public returnable, private lease_user {
public:
    hold(std::shared_ptr<core> client, std::shared_ptr<held_resource> what, std::string full_path,
         std::int64_t czxid, bool can_downgrade = false);

    // Any thread.
    bool valid() const noexcept {
        return at_.load(std::memory_order_acquire) != stage::over && term_->alive();
    }
    boot_clock::time_point valid_until() const noexcept {
        return at_.load(std::memory_order_acquire) != stage::over ? term_->until()
                                                                  : boot_clock::time_point();
    }
    std::string_view path() const noexcept;
    const std::string& full_path() const noexcept {
        return shared_.load(std::memory_order_acquire) ? shared_path_ : full_path_;
    }
    /// Another node that must exist for it. Before anybody else knows the hold.
    void add_node(std::string full_path) { others_.push_back(std::move(full_path)); }
    /// What a multi must begin with, in order to be executed only under this hold.
    std::vector<operation> checks() const;
    bool can_downgrade() const noexcept { return can_downgrade_; }
    fencing_token token() const noexcept { return {czxid_, 0}; }
    const std::shared_ptr<core>& client() const noexcept { return core_; }

    /// Ends the hold, for the first reason that is given, and completes the calls that wait for it.
    /// If the lease is about to end it is still valid until then.
    void end(error_code why);
    /// Ends the hold and gives the lock to the next.
    void release();
    /// As held_resource::when_deleted.
    void when_deleted(unique_function<void(error_code)> gone);
    void released_elsewhere() override { release(); }

    bool over() const noexcept { return at_.load(std::memory_order_relaxed) != stage::held; }
    error_code reason() const noexcept { return reason_; }

    /// Told the reason of the end.
    void when_ended(pending_call_ptr<error_code> call);
    /// The same for those who are on the strand.
    void when_ended(unique_function<void(error_code)> tell);
    // Completed with the success of what is waited for, or with the reason of the end.
    void when_revoke_requested(pending_call_ptr<> call);
    void downgrade(pending_call_ptr<> call);

    /// Somebody has asked for the lock.
    void request_revoke();
    /// It is shared from now on, with another node.
    void downgraded(const std::string& full_path);
    /// It is not, and goes on as it was.
    void downgrade_refused(error_code why) { for_downgrade_.complete(why); }

private:
    enum class stage { held, lapsing, over };

    void on_lapse() override { end(errc::lease_lapsed); }

    std::shared_ptr<core> core_;
    std::shared_ptr<const lease_term> term_;
    std::shared_ptr<held_resource> what_;
    bool released_ = false;
    std::string full_path_;
    std::vector<std::string> others_;
    std::int64_t czxid_;
    std::atomic<stage> at_{stage::held};
    error_code reason_;
    bool can_downgrade_;
    bool revoke_requested_ = false;
    std::string shared_path_; ///< since it was downgraded
    std::atomic<bool> shared_{false};
    waiting_calls<error_code> for_end_;
    waiting_calls<> for_revoke_, for_downgrade_;
    std::vector<unique_function<void(error_code)>> at_end_;
};

} // namespace paddock::detail
