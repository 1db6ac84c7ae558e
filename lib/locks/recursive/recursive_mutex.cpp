#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/fair/revoke.hpp"
#include "locks/recursive/recursive_call.hpp"
#include "support/argument.hpp"

#include <paddock/recursive_mutex.hpp>

#include <atomic>
#include <optional>
#include <utility>

namespace paddock {

namespace {

std::atomic<std::uint64_t> last_owner{0};

mutex_options not_sticky(mutex_options options) {
    if (options.max_local_handoffs > 0)
        throw bad_argument("mutex_options::max_local_handoffs", "is not for a recursive_mutex");
    if (options.linger.count() != 0)
        throw bad_argument("mutex_options::linger", "is not for a recursive_mutex");
    return options;
}

void start(detail::handler<void(error_code, guard)>&& h,
           std::shared_ptr<detail::recursive_lock> what, owner by, detail::recursive_call::kind how,
           std::optional<std::chrono::nanoseconds> limit) {
    std::make_shared<detail::recursive_call>(std::move(what), by, std::move(h), how)->start(limit);
}

} // namespace

owner::owner() noexcept : id_(++last_owner) {}

recursive_mutex::recursive_mutex(const client& zk, std::string_view path, mutex_options options)
    : impl_(std::make_shared<detail::recursive_lock>(detail::recursive_lock{detail::make_fair_lock(
          zk, path, not_sticky(std::move(options)), lock_kind::recursive_mutex)})) {}

recursive_mutex::recursive_mutex(const client& zk, std::string_view path)
    : recursive_mutex(zk, path, mutex_options()) {}

recursive_mutex::executor_type recursive_mutex::get_executor() const noexcept {
    return impl_ ? impl_->terms->client->get_executor() : executor_type();
}

void recursive_mutex::start_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                 owner by) {
    start(std::move(h), std::move(impl), by, detail::recursive_call::kind::wait, std::nullopt);
}

void recursive_mutex::start_try_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                     owner by) {
    start(std::move(h), std::move(impl), by, detail::recursive_call::kind::immediate, std::nullopt);
}

void recursive_mutex::start_try_lock_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                         owner by, std::chrono::nanoseconds limit) {
    start(std::move(h), std::move(impl), by, detail::recursive_call::kind::wait, limit);
}

void recursive_mutex::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                                       impl_ptr impl) {
    detail::find_contenders(impl->terms, std::move(h));
}

void recursive_mutex::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl,
                                   contender whom) {
    detail::request_revoke(impl->terms, std::move(h), whom.path);
}

void recursive_mutex::start_kick(detail::handler<void(error_code)> h, impl_ptr impl,
                                 contender whom) {
    detail::kick(impl->terms, std::move(h), whom.path);
}

} // namespace paddock
