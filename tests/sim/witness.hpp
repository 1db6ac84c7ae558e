#pragma once

#include "sim/timeline.hpp"
#include "sim/violation.hpp"

#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace paddock::test::sim {

/// The observer of one simulated client: checks that every event comes when it must, and once.
class witness final : public observer {
public:
    witness(std::string who, timeline& time) : who_(std::move(who)), time_(time) {}

    void on_waiting(const observed_lock& lock, std::size_t waiters) override;
    void on_granted(const observed_lock& lock, boot_clock::duration waited,
                    const fencing_token& token) override;
    void on_not_granted(const observed_lock& lock, boot_clock::duration waited, wait_outcome how,
                        error_code why) override;
    void on_ended(const observed_lock& lock, boot_clock::duration held, error_code why) override;
    void on_lease_late(const observed_lock& lock, boot_clock::duration left) override;

    /// Throws what was wrong until now.
    void look() const { must(fault_.empty(), fault_); }
    /// The session's lease is healthy: the next time that it is late is another outage.
    void healthy() { outages_.erase(""); }
    /// Whether the statistics say what was observed; any time.
    void compare(const client_statistics& with) const;
    /// When no call waits, and no hold has a guard any more.
    void look_at_the_end() const;
    std::size_t late() const noexcept { return late_; }

private:
    struct seen {
        std::size_t waiting = 0, granted = 0, not_granted = 0, ended = 0, lost = 0;
    };
    using key = std::pair<std::string, lock_kind>; ///< group and kind

    void expect(bool condition, const std::string& what);
    seen& of(const observed_lock& lock) { return all_[{std::string(lock.group), lock.kind}]; }

    const std::string who_;
    timeline& time_;
    std::string fault_;
    std::map<key, seen> all_;
    std::size_t late_ = 0;
    /// Until when the lease was to last when it was late, by the lock that has one of its own.
    std::map<std::string, time_point> outages_;
};

} // namespace paddock::test::sim
