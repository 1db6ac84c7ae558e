#include "locks/several/hold_set.hpp"
#include "locks/several/home_report.hpp"
#include "locks/several/lock_all_call.hpp"
#include "support/argument.hpp"

#include <paddock/lock_all.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace paddock {

namespace detail {

namespace {

/// Completes a call when several unlocks have completed.
struct unlock_all_call {
    std::size_t remaining;
    client_call_ptr<> call;
    error_code result{};

    void unlocked(error_code why) {
        if (why == errc::closed) why = errc::lock_lost; // with the client
        if (!result || why == errc::lock_lost) result = why;
        if (--remaining == 0) call->complete(result);
    }
};

/// Releases the locks whose longest time is over.
void release_expired(const std::vector<std::shared_ptr<hold>>& all) {
    for (const auto& held : all)
        held->client()->post([held] {
            if (held->reason() == errc::hold_expired) held->release();
        });
}

} // namespace

plan_ptr plan_lock_all(const lock_requests& locks) {
    const auto& all = locks.all();
    if (all.empty()) throw bad_argument("locks", "is empty");
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<lock_position> positions;
    positions.reserve(all.size());
    for (const auto& one : all)
        positions.push_back(position_of(*access::lock_of(one)));
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return positions[a] < positions[b]; });
    lock_all_plan plan{
        .locks = {}, .positions = std::vector<std::size_t>(all.size()), .clients = {}};
    for (const auto argument : order) {
        const auto& path = std::get<0>(positions[argument]);
        if (!plan.locks.empty() && positions[argument] == position_of(*plan.locks.back()))
            throw bad_argument("locks", path, "is listed twice: the call would wait for itself");
        plan.positions[argument] = plan.locks.size();
        plan.locks.push_back(access::lock_of(all[argument]));
        plan.clients.push_back(plan.locks.back()->client());
    }
    std::sort(plan.clients.begin(), plan.clients.end());
    const auto duplicates = std::unique(plan.clients.begin(), plan.clients.end());
    plan.clients.erase(duplicates, plan.clients.end());
    return std::make_shared<const lock_all_plan>(std::move(plan));
}

asio::any_io_executor executor_of(const plan_ptr& plan) {
    return plan->locks.front()->client()->get_executor();
}

void start_lock_all(handler<void(error_code, guard_set)> h, plan_ptr plan) {
    std::make_shared<lock_all_call>(std::move(plan), std::move(h))->start(std::nullopt);
}

void start_try_lock_all_for(handler<void(error_code, guard_set)> h, plan_ptr plan,
                            std::chrono::nanoseconds limit) {
    std::make_shared<lock_all_call>(std::move(plan), std::move(h))->start(limit);
}

} // namespace detail

guard_set::guard_set(hold_set_ptr holds, std::vector<guard> guards,
                     std::vector<std::size_t> positions) noexcept
    : holds_(std::move(holds)), guards_(std::move(guards)), positions_(std::move(positions)) {}

guard_set& guard_set::operator=(guard_set&& other) noexcept {
    guard_set moved(std::move(other)); // `other` may be this object
    std::swap(holds_, moved.holds_);
    std::swap(guards_, moved.guards_);
    std::swap(positions_, moved.positions_);
    return *this;
}

guard_set::~guard_set() {
    while (!guards_.empty())
        guards_.pop_back();
}

bool guard_set::valid() const noexcept {
    return !guards_.empty() && std::all_of(guards_.begin(), guards_.end(),
                                           [](const guard& one) { return one.valid(); });
}

boot_clock::time_point guard_set::valid_until() const noexcept {
    boot_clock::time_point earliest;
    for (const auto& one : guards_)
        if (&one == &guards_.front() || one.valid_until() < earliest) earliest = one.valid_until();
    return earliest;
}

asio::any_io_executor guard_set::executor() const noexcept {
    return guards_.empty() ? asio::any_io_executor() : holds_->home()->get_executor();
}

std::function<void(error_code)> guard_set::after_run() const {
    std::vector<std::shared_ptr<detail::hold>> all;
    for (const auto& one : guards_)
        all.push_back(detail::access::hold_of(one));
    return [all = std::move(all)](error_code reason) {
        if (reason == errc::hold_expired) detail::release_expired(all);
    };
}

void guard_set::start_lost(detail::handler<void(error_code, error_code)> h, hold_set_ptr all) {
    const auto call = detail::make_pending_call(all->home(), std::move(h));
    call->start([all, call] { all->when_ended(call); });
}

void guard_set::start_unlock(detail::handler<void(error_code)> h, guard_set whole) {
    const auto home = whole.holds_->home();
    const auto call = detail::make_pending_call(home, std::move(h));
    const auto all = std::make_shared<detail::unlock_all_call>(
        detail::unlock_all_call{whole.guards_.size(), call});
    call->start([all, home, whole = std::move(whole)]() mutable {
        for (; !whole.guards_.empty(); whole.guards_.pop_back()) {
            detail::home_report<> done(home, [all](error_code why) { all->unlocked(why); });
            whole.guards_.back().unlock(
                [done = std::move(done)](error_code why) mutable { done(why); });
        }
    });
}

} // namespace paddock
