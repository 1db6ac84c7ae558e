#pragma once

#include "locks/call/node_call.hpp"
#include "locks/call/node_hold.hpp"
#include "locks/fair/fair_lock.hpp"
#include "queue/lock_queue.hpp"

#include <paddock/contender.hpp>
#include <paddock/guard.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace paddock::detail {

/// Follows a call instead of a user's handler. Strand only.
class call_follower {
public:
    virtual ~call_follower() = default;
    /// The number of contenders before this one; called again whenever the queue changes.
    virtual void position_known(std::size_t ahead) = 0;
    /// The call has completed, and reports nothing more.
    virtual void completed(error_code why, guard granted) = 0;
};

/// A lock call that waits in a queue as one contender, and after the grant the resource of its
/// hold. It reports either to a user's handler or, without one, to a follower. A derived class,
/// when it is granted, prepares the client's releases, makes a node_hold of which it is the
/// resource, keeps that weakly, limits it, and finishes.
class queue_call : public queue_user, public held_resource, public node_call<guard> {
public:
    /// Begins a call without a handler; on the strand of an open client, instead of start().
    void follow(std::shared_ptr<call_follower> by);
    /// As lock_queue::watch_first(), on behalf of the follower.
    void watch_first(bool on) { queue_->watch_first(on); }
    /// Finds the holder of the lock; the first one if there are several. Any thread.
    virtual void find_holder(handler<void(error_code, std::optional<contender>)> h) const = 0;

    bool open() const noexcept override { return follower_ || node_call::open(); }
    void complete(error_code why, guard granted) override;
    void queue_changed() override;

protected:
    using node_call::node_call;

    bool is_followed() const noexcept { return follower_ != nullptr; }
    /// Of a call that joins the lock queue itself, before it does.
    void enter(const fair_lock& lock);

    std::shared_ptr<lock_queue> queue_; ///< null if it waits in the line of a sticky lock
    rules::contender_key key_ = 0;      ///< 0: not in the queue

private:
    std::shared_ptr<call_follower> follower_; ///< until the call completes
};

} // namespace paddock::detail
