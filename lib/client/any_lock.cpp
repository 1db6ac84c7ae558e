#include "client/any_lock.hpp"

#include <paddock/any_lock_family.hpp>
#include <paddock/any_mutex.hpp>

#include <utility>

namespace paddock {

using kind = detail::any_lock::kind;

any_mutex::any_mutex(impl_ptr impl) noexcept : impl_(std::move(impl)) {}

any_mutex::executor_type any_mutex::get_executor() const noexcept {
    return impl_ ? impl_->executor() : executor_type();
}

void any_mutex::start_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    impl->start(std::move(h), kind::wait, std::nullopt);
}

void any_mutex::start_try_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    impl->start(std::move(h), kind::immediate, std::nullopt);
}

void any_mutex::start_try_lock_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                   std::chrono::nanoseconds limit) {
    impl->start(std::move(h), kind::wait, limit);
}

any_lock_family::any_lock_family(impl_ptr impl) noexcept : impl_(std::move(impl)) {}

any_lock_family::executor_type any_lock_family::get_executor() const noexcept {
    return impl_ ? impl_->executor() : executor_type();
}

void any_lock_family::start_lock(handler h, impl_ptr impl, std::string key) {
    impl->start(std::move(h), std::move(key), kind::wait, std::nullopt);
}

void any_lock_family::start_try_lock(handler h, impl_ptr impl, std::string key) {
    impl->start(std::move(h), std::move(key), kind::immediate, std::nullopt);
}

void any_lock_family::start_try_lock_for(handler h, impl_ptr impl, std::string key,
                                         std::chrono::nanoseconds limit) {
    impl->start(std::move(h), std::move(key), kind::wait, limit);
}

} // namespace paddock
