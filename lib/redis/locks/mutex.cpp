#include "client/any_lock.hpp"
#include "redis/locks/key_look.hpp"
#include "redis/locks/line_lock.hpp"

#include <paddock/redis/mutex.hpp>
#include <paddock/redis/recursive_mutex.hpp>

#include <memory>
#include <utility>

namespace paddock::redis {

namespace {

using detail::line_call;
using paddock::detail::any_lock;

/// The inside of a mutex.
class key_lock final : public any_lock {
public:
    explicit key_lock(detail::line_lock lock) : lock_(std::move(lock)) {}

    asio::any_io_executor executor() const noexcept override {
        return lock_.client->get_executor();
    }

    void start(paddock::detail::handler<void(error_code, guard)> h, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        lock_.start(std::move(h), how, limit);
    }

private:
    const detail::line_lock lock_;
};

} // namespace

mutex::mutex(lock_ptr lock)
    : any_mutex(std::make_shared<const key_lock>(*lock)), lock_(std::move(lock)) {}

mutex::mutex(const client& servers, std::string_view name, mutex_options options)
    : mutex(std::make_shared<const detail::line_lock>(
          detail::make_line_lock("mutex", servers, name, detail::longest_name, options))) {}

mutex::mutex(const client& servers, std::string_view name)
    : mutex(servers, name, mutex_options()) {}

void mutex::start_holder(paddock::detail::handler<void(error_code, std::optional<held_key>)> h,
                         lock_ptr lock) {
    detail::find_holder(*lock, lock->name, std::move(h));
}

void mutex::start_kick(paddock::detail::handler<void(error_code, bool)> h, lock_ptr lock,
                       held_key target) {
    detail::kick(*lock, lock->name, target, std::move(h));
}

void recursive_mutex::start_holder(
    paddock::detail::handler<void(error_code, std::optional<held_key>)> h, impl_ptr impl) {
    detail::find_holder(*impl, impl->name, std::move(h));
}

void recursive_mutex::start_kick(paddock::detail::handler<void(error_code, bool)> h, impl_ptr impl,
                                 held_key target) {
    detail::kick(*impl, impl->name, target, std::move(h));
}

recursive_mutex::recursive_mutex(const client& servers, std::string_view name,
                                 mutex_options options)
    : impl_(std::make_shared<const detail::line_lock>(
          detail::make_line_lock("recursive_mutex", servers, name, detail::longest_name, options,
                                 lock_kind::recursive_mutex))) {}

recursive_mutex::recursive_mutex(const client& servers, std::string_view name)
    : recursive_mutex(servers, name, mutex_options()) {}

recursive_mutex::executor_type recursive_mutex::get_executor() const noexcept {
    return impl_ ? impl_->client->get_executor() : executor_type();
}

void recursive_mutex::start_lock(paddock::detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                 owner by) {
    impl->start(std::move(h), line_call::kind::wait, std::nullopt, by);
}

void recursive_mutex::start_try_lock(paddock::detail::handler<void(error_code, guard)> h,
                                     impl_ptr impl, owner by) {
    impl->start(std::move(h), line_call::kind::immediate, std::nullopt, by);
}

void recursive_mutex::start_try_lock_for(paddock::detail::handler<void(error_code, guard)> h,
                                         impl_ptr impl, owner by, std::chrono::nanoseconds limit) {
    impl->start(std::move(h), line_call::kind::wait, limit, by);
}

} // namespace paddock::redis
