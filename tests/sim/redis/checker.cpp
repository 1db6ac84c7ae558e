#include "sim/redis/checker.hpp"

#include "sim/violation.hpp"

#include <algorithm>

namespace paddock::test::sim {

void redis_checker::waits(const std::string& lock) {
    if (queues_[lock].waiters++ == 0) queues_[lock].free_since = time_.now();
}

void redis_checker::waits_no_more(const std::string& lock) { --queues_[lock].waiters; }

void redis_checker::look_at_waiters() {
    for (auto& [lock, one] : queues_) {
        const bool held = std::any_of(all_.begin(), all_.end(), [&](const holding& each) {
            return each.until > time_.now() && each.held->path() == lock;
        });
        if (held || one.waiters == 0) one.free_since = time_.now();
        if (time_.now() - one.free_since > promised_.longest_gap)
            throw violation("the lock " + lock + " is free, and nothing happens");
    }
}

void redis_checker::granted(const redis_process& to, const guard& held, const std::string& call) {
    if (!held.valid()) return;
    time_.note([&] { return call + " holds " + std::string(held.path()); });
    all_.push_back({&to, &held, call, held.valid_until()});
    auto& last = tokens_[std::string(held.path())];
    const auto token = held.fencing_token();
    if (promised_.growing_tokens && token <= last)
        throw violation("the token of " + call + ", " + std::to_string(token.zxid) +
                        ", is not above " + std::to_string(last.zxid));
    last = std::max(last, token);
    look();
}

void redis_checker::released(const guard& held) {
    std::erase_if(all_, [&](const holding& one) { return one.held == &held; });
}

void redis_checker::forget(const redis_process& where) {
    std::erase_if(all_, [&](const holding& one) { return one.where == &where; });
}

void redis_checker::look() {
    if (promised_.longest_gap != duration::max()) look_at_waiters();
    for (auto one = all_.begin(); one != all_.end(); ++one) {
        const auto until = one->held->valid_until();
        if (until <= time_.now()) continue;
        if (until < one->until)
            throw violation("the validity of " + one->call + " becomes shorter");
        one->until = until;
        if (!promised_.exclusion) continue;
        for (auto other = all_.begin(); other != one; ++other)
            if (other->held->path() == one->held->path() && other->held->valid() &&
                one->held->valid())
                throw violation(other->call + " and " + one->call + " hold the lock");
    }
}

} // namespace paddock::test::sim
