#include "locks/several/hold_set.hpp"
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

std::vector<std::string> servers_of(const core& client) {
    std::vector<std::string> all;
    for (const auto& one : client.servers())
        all.push_back(one.host + ':' + std::to_string(one.port));
    std::sort(all.begin(), all.end());
    return all;
}

/// The sort key of a lock: the same order in all processes, and equal keys for the same lock.
auto position_of(const fair_lock& lock) {
    return std::tuple(lock.directory, lock.names.marker(), servers_of(*lock.client));
}

/// Completes a call when several unlocks have completed. Runs on the strand of `home`.
struct unlock_all_call {
    std::shared_ptr<core> home;
    std::size_t remaining;
    pending_call_ptr<> call;
    error_code result{};

    void unlocked(error_code why) {
        if (!result || why == errc::lock_lost) result = why;
        if (--remaining == 0) call->complete(result);
    }
};

} // namespace

plan_ptr plan_lock_all(const std::vector<mutex>& mutexes) {
    if (mutexes.empty()) throw bad_argument("mutexes", "is empty");
    std::vector<std::size_t> order(mutexes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<decltype(position_of(*access::lock_of(mutexes.front())))> positions;
    positions.reserve(mutexes.size());
    for (const auto& one : mutexes)
        positions.push_back(position_of(*access::lock_of(one)));
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return positions[a] < positions[b]; });
    lock_all_plan plan{
        .locks = {}, .positions = std::vector<std::size_t>(mutexes.size()), .clients = {}};
    for (const auto argument : order) {
        const auto& path = std::get<0>(positions[argument]);
        if (!plan.locks.empty() && positions[argument] == position_of(*plan.locks.back()))
            throw bad_argument("mutexes", path, "is listed twice: the call would wait for itself");
        plan.positions[argument] = plan.locks.size();
        plan.locks.push_back(access::lock_of(mutexes[argument]));
        plan.clients.push_back(plan.locks.back()->client);
    }
    std::sort(plan.clients.begin(), plan.clients.end());
    const auto duplicates = std::unique(plan.clients.begin(), plan.clients.end());
    plan.clients.erase(duplicates, plan.clients.end());
    return std::make_shared<const lock_all_plan>(std::move(plan));
}

asio::any_io_executor executor_of(const plan_ptr& plan) {
    return plan->locks.front()->client->get_executor();
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

asio::any_io_executor guard_set::executor() const {
    if (guards_.empty()) throw bad_argument("guard_set", "is empty: there is no hold to wait for");
    return holds_->home()->get_executor();
}

void guard_set::start_lost(detail::handler<void(error_code, error_code)> h, hold_set_ptr all) {
    const auto call = detail::make_pending_call(all->home(), std::move(h));
    call->start([all, call] { all->when_ended(call); });
}

void guard_set::start_unlock(detail::handler<void(error_code)> h, guard_set whole) {
    const auto home = whole.holds_->home();
    const auto call = detail::make_pending_call(home, std::move(h));
    const auto all = std::make_shared<detail::unlock_all_call>(
        detail::unlock_all_call{home, whole.guards_.size(), call});
    call->start([all, whole = std::move(whole)]() mutable {
        for (; !whole.guards_.empty(); whole.guards_.pop_back())
            whole.guards_.back().unlock(
                [all](error_code why) { all->home->post([all, why] { all->unlocked(why); }); });
    });
}

} // namespace paddock
