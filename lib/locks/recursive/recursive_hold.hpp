#pragma once

#include "locks/call/node_hold.hpp"
#include "locks/recursive/recursive_call.hpp"
#include "queue/lock_queue.hpp"

#include <memory>
#include <string>
#include <vector>

namespace paddock::detail {

/// One owner's contender for a recursive lock, which all calls and guards of the owner share. It is
/// exclusive while an exclusive call waits, or an exclusive guard exists; the shared guards and
/// calls of that time are part of it. Strand only.
class recursive_hold final : public queue_user,
                             public std::enable_shared_from_this<recursive_hold> {
public:
    using caller = std::shared_ptr<recursive_call>;

    recursive_hold(std::shared_ptr<recursive_lock> of, owner by);

    /// Adds a call: granted at once under a hold, refused if it would wait for its own owner.
    void add(caller call);
    /// Removes a call that was cancelled or timed out; the last one leaves the queue.
    void leave(const recursive_call& call);
    bool held() const noexcept { return granted_; }
    /// Whether another contender blocks this one.
    bool known_blocked() const;

    void granted(const std::string& path, const fencing_token& token) override;
    void given_up() override { not_granted({}); }
    void failed(error_code why) override { not_granted(why); }
    void lost(error_code why) override;
    void revoke_requested() override;
    void downgraded(const std::string& path) override;
    void downgrade_refused(error_code why) override;

private:
    /// What the guards of one role hold.
    struct share final : held_resource {
        explicit share(recursive_hold& part_of) : whole(part_of) {}
        void release() override { whole.release(*this); }
        void when_deleted(unique_function<void(error_code)> deleted) override {
            whole.when_released(*this, std::move(deleted));
        }
        void hold_ended(error_code why) override {
            if (why != errc::released) whole.lost(why);
        }
        recursive_hold& whole;
        std::size_t guards = 0; ///< that are not released
    };

    void check_and_join();
    void join_queue();
    void not_granted(error_code why);
    void refuse_call(recursive_call& call);
    rules::role wanted_role() const;
    void end_unless_valid();
    void add_guard(const caller& call);
    void release(share& of);
    void when_released(const share& of, unique_function<void(error_code)> released);
    void downgrade();
    void downgrade_done(error_code why);
    void complete_downgrade_waits(error_code why);
    void forget();

    std::shared_ptr<recursive_lock> lock_;
    owner owner_;
    std::shared_ptr<lock_queue> queue_;
    rules::contender_key key_ = 0; ///< 0: not in the queue
    rules::role as_ = rules::role::exclusive;
    std::vector<caller> callers_; ///< the waiting calls
    bool immediate_ = false;      ///< all calls lock only if the lock is free
    bool granted_ = false;
    bool ended_ = false; ///< no call can join
    bool revoke_requested_ = false;
    std::string path_;
    fencing_token token_;
    boot_clock::time_point granted_at_;
    share exclusive_{*this}, shared_{*this};
    std::vector<std::weak_ptr<node_hold>> holds_; ///< the holds of the guards
    bool downgrading_ = false;
    /// Of the unlock() of the exclusive guard with which the downgrade began.
    std::vector<unique_function<void(error_code)>> downgrade_waits_;
};

} // namespace paddock::detail
