#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/fair/revoke.hpp"
#include "locks/mutex/mutex_call.hpp"

#include <paddock/mutex.hpp>

#include <utility>

namespace paddock {

using detail::mutex_call;

mutex::mutex(const client& zk, std::string_view path, mutex_options options)
    : impl_(detail::make_fair_lock(zk, path, std::move(options))) {}

mutex::mutex(const client& zk, std::string_view path) : mutex(zk, path, mutex_options()) {}

mutex::executor_type mutex::get_executor() const noexcept {
    return impl_ ? impl_->client->get_executor() : executor_type();
}

void mutex::start_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), mutex_call::kind::wait)
        ->start(std::nullopt);
}

void mutex::start_try_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), mutex_call::kind::immediate)
        ->start(std::nullopt);
}

void mutex::start_try_lock_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                               std::chrono::nanoseconds limit) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), mutex_call::kind::wait)
        ->start(limit);
}

void mutex::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::request_revoke(std::move(impl), std::move(h), whom.path);
}

void mutex::start_kick(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::kick(std::move(impl), std::move(h), whom.path);
}

void mutex::start_enqueue(detail::handler<void(error_code, ticket)> h, impl_ptr impl) {
    detail::enqueue(std::move(impl), std::move(h));
}

void mutex::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                             impl_ptr impl) {
    detail::find_contenders(std::move(impl), std::move(h));
}

} // namespace paddock
