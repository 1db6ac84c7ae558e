#include "client/any_lock.hpp"
#include "locks/family/keyed_lock.hpp"
#include "locks/mutex/mutex_call.hpp"

#include <paddock/any_lock_family.hpp>
#include <paddock/any_mutex.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>

#include <memory>
#include <utility>

namespace paddock {

namespace {

using detail::any_lock;
using detail::mutex_call;
using lock_ptr = std::shared_ptr<const detail::fair_lock>;

/// The inside of an any_mutex that is a mutex.
class queue_lock final : public any_lock {
public:
    explicit queue_lock(lock_ptr lock) : lock_(std::move(lock)) {}

    asio::any_io_executor executor() const noexcept override {
        return lock_->client->get_executor();
    }
    void start(detail::handler<void(error_code, guard)> h, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        std::make_shared<mutex_call>(lock_, std::move(h), how)->start(limit);
    }

private:
    const lock_ptr lock_;
};

/// The inside of an any_lock_family that is a lock_family.
class queue_family final : public detail::any_family {
public:
    explicit queue_family(lock_ptr family) : family_(std::move(family)) {}

    asio::any_io_executor executor() const noexcept override {
        return family_->client->get_executor();
    }
    void start(detail::handler<void(error_code, guard)> h, std::string key, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        detail::start_with_key(*family_, key, std::move(h), how, rules::role::exclusive, limit);
    }

private:
    const lock_ptr family_;
};

/// Null for an object that was moved from.
template <typename Inside>
std::shared_ptr<const Inside> inside_of(const lock_ptr& lock) {
    return lock ? std::make_shared<const Inside>(lock) : nullptr;
}

} // namespace

any_mutex::any_mutex(const mutex& lock)
    : any_mutex(inside_of<queue_lock>(detail::access::lock_of(lock))) {}

any_lock_family::any_lock_family(const lock_family& locks)
    : any_lock_family(inside_of<queue_family>(detail::access::lock_of(locks))) {}

} // namespace paddock
