#include "client/any_lock.hpp"
#include "locks/mutex/mutex_call.hpp"

#include <paddock/any_mutex.hpp>
#include <paddock/mutex.hpp>

#include <memory>
#include <utility>

namespace paddock {

namespace {

using detail::mutex_call;

/// The inside of an any_mutex that is a mutex.
class queue_lock final : public detail::any_lock {
public:
    explicit queue_lock(std::shared_ptr<const detail::fair_lock> lock) : lock_(std::move(lock)) {}

    asio::any_io_executor executor() const noexcept override {
        return lock_->client->get_executor();
    }

    void start(detail::handler<void(error_code, guard)> h, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        const auto as =
            how == kind::immediate ? mutex_call::kind::immediate : mutex_call::kind::wait;
        std::make_shared<mutex_call>(lock_, std::move(h), as)->start(limit);
    }

private:
    const std::shared_ptr<const detail::fair_lock> lock_;
};

std::shared_ptr<const detail::any_lock> inside_of(const mutex& lock) {
    const auto& inside = detail::access::lock_of(lock);
    return inside ? std::make_shared<const queue_lock>(inside) : nullptr;
}

} // namespace

any_mutex::any_mutex(const mutex& lock) : any_mutex(inside_of(lock)) {}

} // namespace paddock
