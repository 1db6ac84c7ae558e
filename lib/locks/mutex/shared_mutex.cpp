#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/fair/revoke.hpp"
#include "locks/mutex/mutex_call.hpp"

#include <paddock/shared_mutex.hpp>

#include <optional>
#include <utility>

namespace paddock {

namespace {

using detail::mutex_call;
using rules::role;

void start(detail::handler<void(error_code, guard)> h,
           std::shared_ptr<const detail::fair_lock> impl, mutex_call::kind how, role as,
           std::optional<std::chrono::nanoseconds> limit = std::nullopt) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), how, as)->start(limit);
}

} // namespace

shared_mutex::shared_mutex(const client& zk, std::string_view path, shared_mutex_options options)
    : impl_(detail::make_fair_lock(zk, path, std::move(options))) {}

shared_mutex::shared_mutex(const client& zk, std::string_view path)
    : shared_mutex(zk, path, shared_mutex_options()) {}

shared_mutex::executor_type shared_mutex::get_executor() const noexcept {
    return impl_ ? impl_->client->get_executor() : executor_type();
}

void shared_mutex::start_lock(handler h, impl_ptr impl) {
    start(std::move(h), std::move(impl), mutex_call::kind::wait, role::exclusive);
}

void shared_mutex::start_try_lock(handler h, impl_ptr impl) {
    start(std::move(h), std::move(impl), mutex_call::kind::immediate, role::exclusive);
}

void shared_mutex::start_try_lock_for(handler h, impl_ptr impl, std::chrono::nanoseconds limit) {
    start(std::move(h), std::move(impl), mutex_call::kind::wait, role::exclusive, limit);
}

void shared_mutex::start_lock_shared(handler h, impl_ptr impl) {
    start(std::move(h), std::move(impl), mutex_call::kind::wait, role::shared);
}

void shared_mutex::start_try_lock_shared(handler h, impl_ptr impl) {
    start(std::move(h), std::move(impl), mutex_call::kind::immediate, role::shared);
}

void shared_mutex::start_try_lock_shared_for(handler h, impl_ptr impl,
                                             std::chrono::nanoseconds limit) {
    start(std::move(h), std::move(impl), mutex_call::kind::wait, role::shared, limit);
}

void shared_mutex::start_enqueue(detail::handler<void(error_code, ticket)> h, impl_ptr impl) {
    detail::enqueue(std::move(impl), std::move(h));
}

void shared_mutex::start_enqueue_shared(detail::handler<void(error_code, ticket)> h,
                                        impl_ptr impl) {
    detail::enqueue(std::move(impl), std::move(h), role::shared);
}

void shared_mutex::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                                    impl_ptr impl) {
    detail::find_contenders(std::move(impl), std::move(h));
}

void shared_mutex::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl,
                                contender whom) {
    detail::request_revoke(std::move(impl), std::move(h), whom.path);
}

void shared_mutex::start_kick(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::kick(std::move(impl), std::move(h), whom.path);
}

} // namespace paddock
