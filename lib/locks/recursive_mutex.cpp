#include "locks/contenders.hpp"
#include "locks/line_lock.hpp"
#include "locks/ownership.hpp"

#include <paddock/recursive_mutex.hpp>

#include <atomic>
#include <optional>
#include <utility>

namespace paddock {

namespace {

std::atomic<std::uint64_t> last_owner{0};

void launch(detail::handler<void(error_code, guard)>&& h,
            std::shared_ptr<detail::recursive_lock> what, owner who,
            detail::recursive_asking::kind how, std::optional<std::chrono::nanoseconds> limit) {
    std::make_shared<detail::recursive_asking>(std::move(what), who, std::move(h), how)
        ->launch(limit);
}

} // namespace

owner::owner() noexcept : id_(++last_owner) {}

recursive_mutex::recursive_mutex(const client& zk, std::string_view path, mutex_options options)
    : impl_(std::make_shared<detail::recursive_lock>(
          detail::recursive_lock{detail::make_line_lock(zk, path, std::move(options))})) {}

recursive_mutex::recursive_mutex(const client& zk, std::string_view path)
    : recursive_mutex(zk, path, mutex_options()) {}

asio::any_io_executor recursive_mutex::get_executor() const {
    return impl_->terms->client->get_executor();
}

void recursive_mutex::start_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                 owner who) {
    launch(std::move(h), std::move(impl), who, detail::recursive_asking::kind::wait, std::nullopt);
}

void recursive_mutex::start_try_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                     owner who) {
    launch(std::move(h), std::move(impl), who, detail::recursive_asking::kind::only_if_free,
           std::nullopt);
}

void recursive_mutex::start_try_lock_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                         owner who, std::chrono::nanoseconds limit) {
    launch(std::move(h), std::move(impl), who, detail::recursive_asking::kind::wait, limit);
}

void recursive_mutex::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                                       impl_ptr impl) {
    detail::find_contenders(impl->terms, std::move(h));
}

} // namespace paddock
