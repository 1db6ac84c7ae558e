#include "sim/witness.hpp"

namespace paddock::test::sim {

/// The library survives an exception of its observer, so this reports later.
void witness::expect(bool condition, const std::string& what) {
    if (!condition && fault_.empty()) fault_ = what;
}

void witness::on_waiting(const observed_lock& lock, std::size_t waiters) {
    auto& here = of(lock);
    ++here.waiting;
    expect(waiters == here.waiting - here.granted - here.not_granted,
           who_ + " counts its waiters wrongly");
}

void witness::on_granted(const observed_lock& lock, boot_clock::duration waited,
                         const fencing_token&) {
    auto& here = of(lock);
    ++here.granted;
    expect(here.granted + here.not_granted <= here.waiting,
           who_ + " is granted what nobody waits for: " + std::string(lock.path));
    expect(waited >= waited.zero(), who_ + " has waited for less than nothing");
}

void witness::on_not_granted(const observed_lock& lock, boot_clock::duration waited, wait_outcome,
                             error_code) {
    auto& here = of(lock);
    ++here.not_granted;
    expect(here.granted + here.not_granted <= here.waiting,
           who_ + " is told twice that a wait has ended: " + std::string(lock.path));
    expect(waited >= waited.zero(), who_ + " has waited for less than nothing");
}

void witness::on_ended(const observed_lock& lock, boot_clock::duration held, error_code why) {
    auto& here = of(lock);
    ++here.ended;
    if (why != errc::released) ++here.lost;
    expect(here.ended <= here.granted,
           who_ + " is told twice that a hold has ended: " + std::string(lock.path));
    expect(held >= held.zero(), who_ + " has held for less than nothing");
    if (why != errc::lease_lapsed) return;
    expect(outages_.contains("") || outages_.contains(std::string(lock.path)),
           who_ + " loses a hold without a warning: " + std::string(lock.path));
}

void witness::on_lease_late(const observed_lock& lock, boot_clock::duration left) {
    ++late_;
    const auto until = time_.now() + left;
    time_.note([&] { return who_ + "'s lease is late " + std::string(lock.path); });
    const auto [last, fresh] = outages_.try_emplace(std::string(lock.path), until);
    expect(fresh || (!lock.path.empty() && until > last->second),
           who_ + " is warned twice in one outage: " + std::string(lock.path));
    last->second = until;
}

void witness::compare(const client_statistics& with) const {
    look();
    std::size_t found = 0;
    for (const auto& one : with.locks) {
        const auto known = all_.find({one.group, one.kind});
        const auto here = known == all_.end() ? seen{} : known->second;
        found += known == all_.end() ? 0 : 1;
        std::size_t refused = 0;
        for (const auto how : {wait_outcome::busy, wait_outcome::timeout, wait_outcome::cancelled,
                               wait_outcome::error})
            refused += one.waited_until(how).count();
        std::size_t losses = 0;
        for (const auto& loss : one.losses)
            losses += loss.count;
        must(one.granted() == here.granted && refused == here.not_granted &&
                 one.waiters == here.waiting - here.granted - here.not_granted &&
                 one.holds == here.granted - here.ended && one.lost.count() == here.lost &&
                 losses == here.lost && one.released.count() == here.ended - here.lost,
             who_ + "'s statistics are wrong: " + one.group);
    }
    must(found == all_.size(), who_ + "'s statistics lack a lock");
    must(with.late_leases == late_, who_ + " counts its late leases wrongly");
}

void witness::look_at_the_end() const {
    look();
    for (const auto& [lock, here] : all_) {
        must(here.waiting == here.granted + here.not_granted,
             who_ + " is not told that a wait has ended: " + lock.first);
        must(here.ended == here.granted,
             who_ + " is not told that a hold has ended: " + lock.first);
    }
}

} // namespace paddock::test::sim
