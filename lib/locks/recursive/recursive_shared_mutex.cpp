#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/fair/revoke.hpp"
#include "locks/recursive/recursive_call.hpp"

#include <paddock/recursive_shared_mutex.hpp>

#include <optional>
#include <utility>

namespace paddock {

namespace {

using detail::recursive_call;
using rules::role;

void start(detail::handler<void(error_code, guard)>&& h,
           std::shared_ptr<detail::recursive_lock>&& what, owner by, recursive_call::kind how,
           role as, std::optional<std::chrono::nanoseconds> limit = std::nullopt) {
    std::make_shared<recursive_call>(std::move(what), by, std::move(h), how, as)->start(limit);
}

} // namespace

recursive_shared_mutex::recursive_shared_mutex(const client& zk, std::string_view path,
                                               shared_mutex_options options)
    : impl_(std::make_shared<detail::recursive_lock>(detail::recursive_lock{detail::make_fair_lock(
          zk, path, std::move(options), lock_kind::recursive_shared_mutex)})) {}

recursive_shared_mutex::recursive_shared_mutex(const client& zk, std::string_view path)
    : recursive_shared_mutex(zk, path, shared_mutex_options()) {}

recursive_shared_mutex::executor_type recursive_shared_mutex::get_executor() const noexcept {
    return impl_ ? impl_->terms->client->get_executor() : executor_type();
}

void recursive_shared_mutex::start_lock(handler h, impl_ptr impl, owner by) {
    start(std::move(h), std::move(impl), by, recursive_call::kind::wait, role::exclusive);
}

void recursive_shared_mutex::start_try_lock(handler h, impl_ptr impl, owner by) {
    start(std::move(h), std::move(impl), by, recursive_call::kind::immediate, role::exclusive);
}

void recursive_shared_mutex::start_try_lock_for(handler h, impl_ptr impl, owner by,
                                                std::chrono::nanoseconds limit) {
    start(std::move(h), std::move(impl), by, recursive_call::kind::wait, role::exclusive, limit);
}

void recursive_shared_mutex::start_lock_shared(handler h, impl_ptr impl, owner by) {
    start(std::move(h), std::move(impl), by, recursive_call::kind::wait, role::shared);
}

void recursive_shared_mutex::start_try_lock_shared(handler h, impl_ptr impl, owner by) {
    start(std::move(h), std::move(impl), by, recursive_call::kind::immediate, role::shared);
}

void recursive_shared_mutex::start_try_lock_shared_for(handler h, impl_ptr impl, owner by,
                                                       std::chrono::nanoseconds limit) {
    start(std::move(h), std::move(impl), by, recursive_call::kind::wait, role::shared, limit);
}

void recursive_shared_mutex::start_contenders(
    detail::handler<void(error_code, std::vector<contender>)> h, impl_ptr impl) {
    detail::find_contenders(impl->terms, std::move(h));
}

void recursive_shared_mutex::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl,
                                          contender whom) {
    detail::request_revoke(impl->terms, std::move(h), whom.path);
}

void recursive_shared_mutex::start_kick(detail::handler<void(error_code)> h, impl_ptr impl,
                                        contender whom) {
    detail::kick(impl->terms, std::move(h), whom.path);
}

} // namespace paddock
