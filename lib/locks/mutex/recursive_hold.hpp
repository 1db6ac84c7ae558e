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

/// A recursive_mutex and its copies.
struct recursive_lock {
    std::shared_ptr<const fair_lock> terms;
    std::map<owner, std::shared_ptr<recursive_hold>>
        owners{}; ///< who hold it or wait. On the strand
};

/// One call of a recursive_mutex.
class recursive_call final : public lock_call<guard> {
public:
    recursive_call(std::shared_ptr<recursive_lock> what, owner by,
                   handler<void(error_code, guard)>&& h, kind how);

private:
    void begin() override;
    void abandoned() override;
    bool sees_it_taken() const override;

    std::shared_ptr<recursive_lock> lock_;
    owner owner_;
    std::shared_ptr<recursive_hold> mine_;
};

/// What one owner has of a recursive mutex, or waits for: one place in the queue, which all its
/// calls and guards share. Strand only.
class recursive_hold final : public queue_user,
                             public held_resource,
                             public std::enable_shared_from_this<recursive_hold> {
public:
    using caller = std::shared_ptr<recursive_call>;

    recursive_hold(std::shared_ptr<recursive_lock> of, owner by);

    /// One more call: granted at once under a hold, refused if that has lapsed or was revoked.
    void join(caller call);
    /// Nobody waits for this call's outcome any more.
    void leave(const recursive_call& call);
    /// Whether another is in the way.
    bool sees_it_taken() const;

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override { refused({}); }
    void failed(error_code why) override { refused(why); }
    void lost(error_code why) override;
    void revoke_requested() override;

    void release() override;
    void when_deleted(unique_function<void(error_code)> gone) override;
    void ended(error_code why) override;

private:
    void begin();
    void enter();
    void refused(error_code why);
    void turn_away(recursive_call& call);
    bool alive() const;
    void give_another(const caller& call);
    void forget();

    std::shared_ptr<recursive_lock> lock_;
    owner owner_;
    std::shared_ptr<lock_queue> queue_;
    rules::contender_key key_ = 0; ///< 0: not in the queue
    std::vector<caller> callers_;  ///< who wait
    bool only_if_free_ = false;    ///< the attempt under way
    bool granted_ = false;
    bool over_ = false; ///< no call joins any more
    bool revoke_requested_ = false;
    std::string path_;
    std::int64_t czxid_ = 0;
    std::size_t guards_ = 0;                 ///< that have not been given back
    std::vector<std::weak_ptr<hold>> holds_; ///< theirs
};

} // namespace paddock::detail
