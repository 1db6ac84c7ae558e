#pragma once

#include "locks/call/lock_call.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/mutex/mutex_call.hpp"
#include "locks/several/joint.hpp"
#include "session/reservation.hpp"

#include <paddock/lock_all.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace paddock::detail {

/// Which locks, in the order in which they are taken, and where each stands among the arguments.
struct lock_all_plan {
    std::vector<std::shared_ptr<const fair_lock>> locks;
    std::vector<std::size_t> positions;
    /// Whose locks they are, in the order in which their budgets are asked. It is the same for all
    /// calls in this process: two that ask the same budgets do not wait for each other.
    std::vector<std::shared_ptr<core>> clients;
};

/// One call of lock_all: room for all nodes, and then one ordinary attempt after the other. Who
/// holds a lock waits for no room, which another may have who waits for the lock. On the strand of
/// the first lock's client.
class lock_all_call final : public lock_call<guard_set> {
public:
    lock_all_call(plan_ptr plan, handler<void(error_code, guard_set)>&& h);

private:
    std::shared_ptr<lock_all_call> self() {
        return std::static_pointer_cast<lock_all_call>(shared_from_this());
    }
    void begin() override;
    void abandoned() override { drop_all(); }
    bool sees_it_taken() const override { return false; } // the one that is waited for sees it
    void run_out() override;

    void reserve_next();
    void ask(reservation& of, reservation::told done) const;
    void reserved(std::uint64_t round, error_code why, bool there);
    void take_next();
    void answered(std::uint64_t round, error_code why, guard one);
    void lost_one(std::uint64_t round, error_code why);
    void deliver();
    void drop_all();

    plan_ptr plan_;
    std::uint64_t round_ = 0; ///< what belongs to an earlier one does not count
    std::vector<std::shared_ptr<reservation>> room_; ///< one for each of the plan's clients
    std::weak_ptr<mutex_call> current_;              ///< which keeps this one alive
    std::shared_ptr<joint> joint_;
    std::vector<guard> taken_;
    bool late_ = false; ///< its time is up, and the present one is told so
};

} // namespace paddock::detail
