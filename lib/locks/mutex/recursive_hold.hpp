#pragma once

#include "locks/call/hold.hpp"
#include "locks/call/lock_call.hpp"
#include "locks/fair/fair_lock.hpp"
#include "queue/lock_queue.hpp"

#include <paddock/recursive_mutex.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::detail {

class recursive_hold;

/// The state that a recursive_mutex and its copies share.
struct recursive_lock {
    std::shared_ptr<const fair_lock> terms;
    /// The owners that hold the lock or wait for it. Strand only.
    std::map<owner, std::shared_ptr<recursive_hold>> owners{};
};

/// One call of a recursive_mutex.
class recursive_call final : public lock_call<guard> {
public:
    recursive_call(std::shared_ptr<recursive_lock> what, owner by,
                   handler<void(error_code, guard)>&& h, kind how);

private:
    void join() override;
    void abandoned() override;
    bool known_taken() const override;

    std::shared_ptr<recursive_lock> lock_;
    owner owner_;
    std::shared_ptr<recursive_hold> hold_;
};

/// One owner's contender for a recursive mutex, which all calls and guards of the owner share.
/// Strand only.
class recursive_hold final : public queue_user,
                             public held_resource,
                             public std::enable_shared_from_this<recursive_hold> {
public:
    using caller = std::shared_ptr<recursive_call>;

    recursive_hold(std::shared_ptr<recursive_lock> of, owner by);

    /// Adds a call: granted at once under a hold, refused if the hold has lapsed or was revoked.
    void add(caller call);
    /// Removes a call that was cancelled or timed out; the last one leaves the queue.
    void leave(const recursive_call& call);
    /// Whether another contender blocks this one.
    bool known_taken() const;

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override { not_granted({}); }
    void failed(error_code why) override { not_granted(why); }
    void lost(error_code why) override;
    void revoke_requested() override;

    void release() override;
    void when_deleted(unique_function<void(error_code)> deleted) override;
    void hold_ended(error_code why) override;

private:
    void check_and_join();
    void join_queue();
    void not_granted(error_code why);
    void refuse_call(recursive_call& call);
    bool any_guard_valid() const;
    void add_guard(const caller& call);
    void forget();

    std::shared_ptr<recursive_lock> lock_;
    owner owner_;
    std::shared_ptr<lock_queue> queue_;
    rules::contender_key key_ = 0; ///< 0: not in the queue
    std::vector<caller> callers_;  ///< the waiting calls
    bool immediate_ = false;       ///< all calls lock only if the lock is free
    bool granted_ = false;
    bool ended_ = false; ///< no call can join
    bool revoke_requested_ = false;
    std::string path_;
    std::int64_t czxid_ = 0;
    std::size_t guards_ = 0;                 ///< guards that are not released
    std::vector<std::weak_ptr<hold>> holds_; ///< the holds of the guards
};

} // namespace paddock::detail
