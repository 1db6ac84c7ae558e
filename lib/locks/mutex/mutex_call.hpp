#pragma once

#include "locks/fair/fair_lock.hpp"
#include "locks/fair/queue_call.hpp"
#include "session/reservation.hpp"

#include <paddock/guard.hpp>
#include <paddock/ticket.hpp>

#include <memory>

namespace paddock::detail {

class sticky_lines;

/// One call of lock(), try_lock() or try_lock_for(). It waits in the lock queue, or in the line of
/// a sticky lock; after the grant it connects its entry there with the hold.
class mutex_call final : public queue_call {
public:
    /// With a reservation, the bytes of its node come from that.
    mutex_call(std::shared_ptr<const fair_lock> what, handler<void(error_code, guard)>&& h,
               kind how, rules::role as = rules::role::exclusive,
               std::shared_ptr<reservation> reserved = {});

    void granted(const std::string& path, const fencing_token& token) override;
    void given_up() override { finish({}, {}); }
    void failed(error_code why) override { fail(why); }
    void lost(error_code why) override;
    void revoke_requested() override;
    void downgraded(const std::string& path) override;
    void downgrade_refused(error_code why) override;

    void release() override;
    void downgrade() override;
    void when_deleted(unique_function<void(error_code)> deleted) override;
    void find_holder(handler<void(error_code, std::optional<contender>)> h) const override;

private:
    std::shared_ptr<mutex_call> self() {
        return std::static_pointer_cast<mutex_call>(shared_from_this());
    }
    void join() override;
    bool sticky() const noexcept;
    void end_lingering_of_others();
    sticky_lines& lines() const;
    std::shared_ptr<call_queue> own_queue();
    void join_if_only_sticky();
    void join_in(std::shared_ptr<call_queue> queue, bool immediate);
    void abandoned() override;
    bool known_blocked() const override;
    std::string_view lock_path() const override { return lock_->directory; }
    const counted_lock* counted() const noexcept override { return lock_->counted.get(); }

    std::shared_ptr<const fair_lock> lock_;
    rules::role as_; ///< as asked for
    std::shared_ptr<reservation> reservation_;
    std::shared_ptr<call_queue> waits_in_; ///< null before it has joined
    std::weak_ptr<node_hold> hold_;
};

/// One call of enqueue().
void enqueue(std::shared_ptr<const fair_lock> lock, handler<void(error_code, ticket)> h,
             rules::role as = rules::role::exclusive);

} // namespace paddock::detail
