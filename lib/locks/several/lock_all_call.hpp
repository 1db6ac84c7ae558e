#pragma once

#include "locks/call/node_call.hpp"
#include "locks/several/hold_set.hpp"
#include "locks/several/requested_lock.hpp"
#include "session/reservation.hpp"

#include <paddock/lock_all.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace paddock::detail {

/// The locks in the order of locking, and the index of each argument in that order.
struct lock_all_plan {
    std::vector<std::shared_ptr<const requested_lock>> locks;
    std::vector<std::size_t> positions;
    /// The clients of the locks, in the order of the reservations. All calls in this process use
    /// the same order, so that two calls cannot wait for each other's reservations.
    std::vector<std::shared_ptr<core>> clients;
};

/// One call of lock_all. It first reserves the bytes of all nodes, then takes one lock after the
/// other: a call that holds a lock and waits for the node budget could wait for a call that waits
/// for that lock. Runs on the strand of the first lock's client.
class lock_all_call final : public node_call<guard_set>, public session_listener {
public:
    lock_all_call(plan_ptr plan, handler<void(error_code, guard_set)>&& h);

    // From the client of the first lock.
    void on_closed(error_code why) override;

private:
    std::shared_ptr<lock_all_call> self() {
        return std::static_pointer_cast<lock_all_call>(shared_from_this());
    }
    void join() override;
    void abandoned() override { release_all(); }
    bool known_blocked() const override { return false; } // current_ knows
    std::string_view lock_path() const override { return {}; }
    const counted_lock* counted() const noexcept override { return nullptr; }
    void on_timeout() override;

    void reserve_next();
    void reserve(reservation& of, reservation::callback done) const;
    void reserve_done(std::uint64_t round, error_code why, bool reserved);
    void lock_next();
    void lock_done(std::uint64_t round, error_code why, guard one);
    void hold_lost(std::uint64_t round, error_code why);
    void deliver();
    void release_all();

    plan_ptr plan_;
    std::uint64_t round_ = 0; ///< results of earlier rounds are ignored
    std::vector<std::shared_ptr<reservation>> reservations_; ///< one per client of the plan
    std::weak_ptr<node_call<guard>> current_;                ///< keeps this call alive
    std::shared_ptr<hold_set> holds_;
    std::vector<guard> guards_;
    bool timed_out_ = false; ///< and current_ must time out
};

} // namespace paddock::detail
