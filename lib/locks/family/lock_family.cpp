#include "locks/family/keyed_lock.hpp"
#include "locks/family/keys_in_use.hpp"
#include "support/argument.hpp"

#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>

#include <utility>

namespace paddock {

namespace {

using detail::mutex_call;
using rules::role;

std::shared_ptr<const detail::fair_lock> make_family(const client& zk, std::string_view path,
                                                     mutex_options options) {
    detail::check_family_path("lock_family path", path);
    return detail::make_fair_lock(zk, path, std::move(options));
}

} // namespace

lock_family::lock_family(const client& zk, std::string_view path, mutex_options options)
    : impl_(make_family(zk, path, std::move(options))) {}

lock_family::lock_family(const client& zk, std::string_view path)
    : lock_family(zk, path, mutex_options()) {}

lock_family::executor_type lock_family::get_executor() const noexcept {
    return impl_ ? impl_->client->get_executor() : executor_type();
}

std::string lock_family::path_of(std::string_view key) const {
    if (!impl_) throw bad_argument("lock_family", "was moved from");
    return detail::path_of_key(*impl_, key);
}

void lock_family::start_lock(handler<guard> h, impl_ptr family, std::string key) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::wait, role::exclusive);
}

void lock_family::start_try_lock(handler<guard> h, impl_ptr family, std::string key) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::immediate,
                           role::exclusive);
}

void lock_family::start_try_lock_for(handler<guard> h, impl_ptr family, std::string key,
                                     std::chrono::nanoseconds limit) {
    detail::start_with_key(*family, key, std::move(h), mutex_call::kind::wait, role::exclusive,
                           limit);
}

void lock_family::start_enqueue(handler<ticket> h, impl_ptr family, std::string key) {
    detail::enqueue_with_key(*family, key, std::move(h), role::exclusive);
}

void lock_family::start_contenders(handler<std::vector<contender>> h, impl_ptr family,
                                   std::string key) {
    detail::find_contenders(*family, key, std::move(h));
}

void lock_family::start_keys(handler<std::vector<key_in_use>> h, impl_ptr family) {
    detail::find_keys(std::move(family), std::move(h));
}

void lock_family::start_revoke(detail::handler<void(error_code)> h, impl_ptr family,
                               std::string key, contender whom) {
    detail::request_revoke(*family, key, std::move(h), whom.path);
}

void lock_family::start_kick(detail::handler<void(error_code)> h, impl_ptr family, std::string key,
                             contender whom) {
    detail::kick(*family, key, std::move(h), whom.path);
}

} // namespace paddock
