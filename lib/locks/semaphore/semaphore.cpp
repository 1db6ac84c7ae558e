#include "client/count_lock.hpp"
#include "locks/call/arguments.hpp"
#include "locks/fair/revoke.hpp"
#include "locks/fair/ticket_state.hpp"
#include "locks/semaphore/permit_counter.hpp"
#include "locks/semaphore/semaphore_call.hpp"
#include "locks/semaphore/semaphore_state.hpp"
#include "rules/paths.hpp"
#include "session/core_of.hpp"
#include "support/argument.hpp"

#include <paddock/semaphore.hpp>

#include <string>
#include <utility>

namespace paddock {

namespace {

/// The counter has data, so it cannot be one of the directories, which have none.
void check_counter(std::string_view path, const std::string& counter) {
    constexpr std::string_view name = "semaphore_options::counter";
    detail::check_path(name, counter);
    const auto is_in = [](std::string_view node, const std::string& directory) {
        return node == directory || node.starts_with(directory + '/');
    };
    const std::string own(path);
    if (is_in(path, counter) || is_in(counter, own + "/leases") || is_in(counter, own + "/locks"))
        throw bad_argument(name, counter, "is one of the semaphore's own directories");
}

void check(const detail::core& client, std::string_view path, std::int32_t permits,
           const semaphore_options& options) {
    detail::check_path("semaphore path", path);
    if (permits < 1)
        throw bad_argument("semaphore permits", std::to_string(permits), "is less than one");
    if (!options.counter.empty()) check_counter(path, options.counter);
    detail::check_node(client, "semaphore_options", options.acl, options.label);
    detail::check_choices("semaphore_options", options.on_expiry, options.on_over_budget);
    detail::check_hold_limit("semaphore_options", options.hold_limit);
}

std::shared_ptr<const detail::semaphore_lock> make_impl(const client& zk, std::string_view path,
                                                        std::int32_t permits,
                                                        semaphore_options options) {
    const auto& core = detail::core_of(zk);
    check(*core, path, permits, options);
    const auto& root = core->root();
    const auto directory = rules::below(root, path);
    return std::make_shared<detail::semaphore_lock>(detail::semaphore_lock{
        .queue = {.client = core,
                  .directory = rules::child(directory, "locks"),
                  .names = rules::naming("lock"),
                  .nodes = detail::make_node_terms(*core, options),
                  .sync_first = options.sync_first,
                  .revocable = options.revocable,
                  .on_expiry = options.on_expiry,
                  .on_over_budget = options.on_over_budget,
                  .hold_limit = options.hold_limit,
                  .turn_only = true,
                  .counted = detail::count_lock(*core, "semaphore_options", options.group,
                                                directory, lock_kind::semaphore, options.label)},
        .directory = rules::child(directory, "leases"),
        .permits = permits,
        .counter = options.counter.empty() ? "" : rules::below(root, options.counter)});
}

/// The node of a permit, or of a contender that waits; empty for another.
std::string node_of(const detail::semaphore_lock& lock, const contender& one) {
    auto permit = detail::node_in(detail::permit_nodes(lock), one.path);
    return permit.empty() ? detail::node_in(detail::query_of(lock.queue), one.path) : permit;
}

using detail::semaphore_call;

std::shared_ptr<semaphore_call> make_call(detail::handler<void(error_code, guard)>&& h,
                                          std::shared_ptr<const detail::semaphore_lock>&& impl,
                                          std::int32_t count, semaphore_call::kind how) {
    return std::make_shared<semaphore_call>(std::move(impl), static_cast<std::size_t>(count),
                                            std::move(h), how);
}

} // namespace

semaphore::semaphore(const client& zk, std::string_view path, std::int32_t permits,
                     semaphore_options options)
    : impl_(make_impl(zk, path, permits, std::move(options))) {}

semaphore::semaphore(const client& zk, std::string_view path, std::int32_t permits)
    : semaphore(zk, path, permits, semaphore_options()) {}

semaphore::executor_type semaphore::get_executor() const noexcept {
    return impl_ ? impl_->queue.client->get_executor() : executor_type();
}

asio::any_io_executor semaphore::executor_for(std::int32_t count) const {
    if (!impl_) return {};
    detail::check_count(*impl_, count);
    return get_executor();
}

asio::any_io_executor semaphore::executor_for_setting(std::int32_t permits) const {
    if (!impl_) return {};
    if (permits < 0)
        throw bad_argument("semaphore permits", std::to_string(permits), "is negative");
    if (impl_->fixed())
        throw bad_argument("semaphore permits",
                           "cannot be set: semaphore_options::counter is empty");
    return get_executor();
}

void semaphore::start_acquire(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                              std::int32_t count) {
    make_call(std::move(h), std::move(impl), count, semaphore_call::kind::wait)
        ->start(std::nullopt);
}

void semaphore::start_try_acquire(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                  std::int32_t count) {
    make_call(std::move(h), std::move(impl), count, semaphore_call::kind::immediate)
        ->start(std::nullopt);
}

void semaphore::start_try_acquire_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                      std::int32_t count, std::chrono::nanoseconds limit) {
    make_call(std::move(h), std::move(impl), count, semaphore_call::kind::wait)->start(limit);
}

void semaphore::start_enqueue(detail::handler<void(error_code, ticket)> h, impl_ptr impl,
                              std::int32_t count) {
    detail::enqueue(make_call(nullptr, std::move(impl), count, semaphore_call::kind::wait),
                    std::move(h));
}

void semaphore::start_set_permits(detail::handler<void(error_code)> h, impl_ptr impl,
                                  std::int32_t permits) {
    detail::set_permits(std::move(impl), permits, std::move(h));
}

void semaphore::start_state(detail::handler<void(error_code, semaphore_state)> h, impl_ptr impl) {
    detail::find_state(std::move(impl), std::move(h));
}

void semaphore::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                                 impl_ptr impl) {
    detail::find_contenders(std::move(impl), std::move(h));
}

void semaphore::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::revoke_node(impl->queue.client, std::move(h), node_of(*impl, whom));
}

void semaphore::start_kick(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::kick_node(impl->queue.client, std::move(h), node_of(*impl, whom));
}

} // namespace paddock
