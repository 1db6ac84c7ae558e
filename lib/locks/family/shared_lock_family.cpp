#include "locks/family/keyed_lock.hpp"
#include "locks/family/keys_in_use.hpp"
#include "support/argument.hpp"

#include <paddock/shared_lock_family.hpp>

#include <utility>

namespace paddock {

namespace {

using detail::mutex_call;
using rules::role;

std::shared_ptr<const detail::fair_lock> make_family(const client& zk, std::string_view path,
                                                     shared_mutex_options options) {
    detail::check_family_path("shared_lock_family path", path);
    return detail::make_fair_lock(zk, path, std::move(options));
}

} // namespace

shared_lock_family::shared_lock_family(const client& zk, std::string_view path,
                                       shared_mutex_options options)
    : impl_(make_family(zk, path, std::move(options))) {}

shared_lock_family::shared_lock_family(const client& zk, std::string_view path)
    : shared_lock_family(zk, path, shared_mutex_options()) {}

shared_lock_family::executor_type shared_lock_family::get_executor() const noexcept {
    return impl_ ? impl_->client->get_executor() : executor_type();
}

std::string shared_lock_family::path_of(std::string_view key) const {
    if (!impl_) throw bad_argument("shared_lock_family", "was moved from");
    return detail::path_of_key(*impl_, key);
}

void shared_lock_family::start_lock(handler<guard> h, impl_ptr family, std::string key) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::wait, role::exclusive);
}

void shared_lock_family::start_try_lock(handler<guard> h, impl_ptr family, std::string key) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::immediate,
                           role::exclusive);
}

void shared_lock_family::start_try_lock_for(handler<guard> h, impl_ptr family, std::string key,
                                            std::chrono::nanoseconds limit) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::wait, role::exclusive,
                           limit);
}

void shared_lock_family::start_lock_shared(handler<guard> h, impl_ptr family, std::string key) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::wait, role::shared);
}

void shared_lock_family::start_try_lock_shared(handler<guard> h, impl_ptr family, std::string key) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::immediate, role::shared);
}

void shared_lock_family::start_try_lock_shared_for(handler<guard> h, impl_ptr family,
                                                   std::string key,
                                                   std::chrono::nanoseconds limit) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::wait, role::shared, limit);
}

void shared_lock_family::start_enqueue(handler<ticket> h, impl_ptr family, std::string key) {
    detail::enqueue_with_key(*family, key, std::move(h), role::exclusive);
}

void shared_lock_family::start_enqueue_shared(handler<ticket> h, impl_ptr family, std::string key) {
    detail::enqueue_with_key(*family, key, std::move(h), role::shared);
}

void shared_lock_family::start_contenders(handler<std::vector<contender>> h, impl_ptr family,
                                          std::string key) {
    detail::find_contenders(*family, key, std::move(h));
}

void shared_lock_family::start_keys(handler<std::vector<key_in_use>> h, impl_ptr family) {
    detail::find_keys(std::move(family), std::move(h));
}

void shared_lock_family::start_revoke(detail::handler<void(error_code)> h, impl_ptr family,
                                      std::string key, contender whom) {
    detail::request_revoke(*family, key, std::move(h), whom.path);
}

void shared_lock_family::start_kick(detail::handler<void(error_code)> h, impl_ptr family,
                                    std::string key, contender whom) {
    detail::kick(*family, key, std::move(h), whom.path);
}

} // namespace paddock
