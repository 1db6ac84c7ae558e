#pragma once

#include "locks/asking.hpp"
#include "locks/attempt.hpp"
#include "locks/joint.hpp"
#include "locks/line_lock.hpp"

#include <paddock/lock_all.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace paddock::detail {

/// Which locks, in the order in which they are taken, and where each stands among the arguments.
struct joint_plan {
    std::vector<std::shared_ptr<const line_lock>> locks;
    std::vector<std::size_t> places;
};

/// One call of lock_all: one ordinary attempt after the other. On the strand of the first lock's
/// client.
class joint_asking final : public asking<guard_set> {
public:
    joint_asking(plan_ptr plan, handler<void(error_code, guard_set)>&& h);

private:
    std::shared_ptr<joint_asking> self() {
        return std::static_pointer_cast<joint_asking>(shared_from_this());
    }
    void begin() override;
    void abandoned() override { drop_all(); }

    void take_next();
    void answered(std::uint64_t round, error_code why, guard one);
    void lost_one(std::uint64_t round, error_code why);
    void deliver();
    void drop_all();

    plan_ptr plan_;
    std::uint64_t round_ = 0;        ///< what belongs to an earlier one does not count
    std::weak_ptr<attempt> current_; ///< which keeps this one alive
    std::shared_ptr<joint> joint_;
    std::vector<guard> taken_;
};

} // namespace paddock::detail
