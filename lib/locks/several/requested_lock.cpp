#include "locks/several/requested_lock.hpp"

#include "locks/mutex/mutex_call.hpp"
#include "locks/semaphore/semaphore_call.hpp"
#include "support/argument.hpp"

#include <paddock/lock_request.hpp>

#include <algorithm>
#include <utility>

namespace paddock {

namespace detail {

namespace {

std::vector<std::string> servers_of(const core& client) {
    std::vector<std::string> all;
    for (const auto& one : client.first_servers())
        all.push_back(one.host + ':' + std::to_string(one.port));
    std::sort(all.begin(), all.end());
    return all;
}

template <typename Lock>
const auto& inside_of(const Lock& lock) {
    const auto& impl = access::lock_of(lock);
    if (!impl) throw bad_argument("lock_request", "is for a lock that was moved from");
    return impl;
}

lock_request request_of(requested_lock what) {
    return access::make<lock_request>(std::make_shared<const requested_lock>(std::move(what)));
}

} // namespace

lock_position position_of(const requested_lock& one) {
    auto servers = servers_of(*one.client());
    const auto& directory = one.lock->directory;
    if (one.permits_of) // no other lock has an empty name
        return {directory.substr(0, directory.rfind('/')), "", std::move(servers)};
    return {directory, one.lock->names.marker(), std::move(servers)};
}

std::size_t bytes_of(const requested_lock& one) {
    if (one.permits_of) return acquire_bytes(*one.permits_of, one.permits);
    return entry_bytes(*one.lock, one.as);
}

std::shared_ptr<node_call<guard>> make_call(const requested_lock& one,
                                            handler<void(error_code, guard)>&& done, bool immediate,
                                            std::shared_ptr<reservation> reserved) {
    const auto how = immediate ? node_call<guard>::kind::immediate : node_call<guard>::kind::wait;
    if (one.permits_of)
        return std::make_shared<semaphore_call>(one.permits_of, one.permits, std::move(done), how,
                                                std::move(reserved));
    return std::make_shared<mutex_call>(one.lock, std::move(done), how, one.as,
                                        std::move(reserved));
}

} // namespace detail

lock_request::lock_request(const mutex& lock)
    : impl_(std::make_shared<const detail::requested_lock>(
          detail::requested_lock{.lock = detail::inside_of(lock)})) {}

lock_request exclusive(const shared_mutex& lock) {
    return detail::request_of({.lock = detail::inside_of(lock)});
}

lock_request shared(const shared_mutex& lock) {
    return detail::request_of({.lock = detail::inside_of(lock), .as = rules::role::shared});
}

lock_request permits(const semaphore& lock, std::int32_t count) {
    const auto& impl = detail::inside_of(lock);
    detail::check_count(*impl, count);
    return detail::request_of({.lock = std::shared_ptr<const detail::fair_lock>(impl, &impl->queue),
                               .permits_of = impl,
                               .permits = static_cast<std::size_t>(count)});
}

} // namespace paddock
