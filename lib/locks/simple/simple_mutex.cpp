#include "client/count_lock.hpp"
#include "client/metadata.hpp"
#include "locks/call/arguments.hpp"
#include "locks/simple/simple_holder.hpp"
#include "locks/simple/simple_lock.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/core_of.hpp"
#include "support/argument.hpp"

#include <paddock/simple_mutex.hpp>

#include <utility>

namespace paddock {

namespace {

std::shared_ptr<detail::simple_lock> make_impl(const client& zk, std::string_view path,
                                               simple_mutex_options options) {
    const auto& core = detail::core_of(zk);
    detail::check_path("simple_mutex path", path);
    if (rules::name_of(path).starts_with("_c_"))
        throw bad_argument("simple_mutex path", path, "ends in a name that markers have");
    detail::check_node(*core, "simple_mutex_options", options.acl, options.label);
    detail::check_choices("simple_mutex_options", options.on_expiry, options.on_over_budget);
    detail::check_hold_limit("simple_mutex_options", options.hold_limit);
    const auto full = rules::below(core->root(), path);
    return std::make_shared<detail::simple_lock>(detail::simple_lock_settings{
        .client = core,
        .directory = std::string(rules::parent(full)),
        .path = full,
        .data = detail::metadata(core->process(), options.label),
        .acl = std::move(options.acl),
        .persistent_parents = options.persistent_parents,
        .sync_first = options.sync_first,
        .revocable = options.revocable,
        .on_expiry = options.on_expiry,
        .on_over_budget = options.on_over_budget,
        .hold_limit = options.hold_limit,
        .counted = detail::count_lock(*core, "simple_mutex_options", options.group, full,
                                      lock_kind::simple_mutex, options.label)});
}

using detail::simple_call;

std::optional<contender> holder_in(const native::reply& r, std::string path) {
    if (r.rc != 0 || !r.stat) return std::nullopt;
    contender one;
    one.path = std::move(path);
    one.holder = true;
    one.token = {r.stat->czxid, 0};
    detail::read_node(r.value, *r.stat, one);
    return one;
}

} // namespace

simple_mutex::simple_mutex(const client& zk, std::string_view path, simple_mutex_options options)
    : impl_(make_impl(zk, path, std::move(options))) {}

simple_mutex::simple_mutex(const client& zk, std::string_view path)
    : simple_mutex(zk, path, simple_mutex_options()) {}

simple_mutex::executor_type simple_mutex::get_executor() const noexcept {
    return impl_ ? impl_->settings().client->get_executor() : executor_type();
}

void simple_mutex::start_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<simple_call>(std::move(impl), std::move(h), simple_call::kind::wait)
        ->start(std::nullopt);
}

void simple_mutex::start_try_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<simple_call>(std::move(impl), std::move(h), simple_call::kind::immediate)
        ->start(std::nullopt);
}

void simple_mutex::start_try_lock_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                      std::chrono::nanoseconds limit) {
    std::make_shared<simple_call>(std::move(impl), std::move(h), simple_call::kind::wait)
        ->start(limit);
}

void simple_mutex::start_holder(detail::handler<void(error_code, std::optional<contender>)> h,
                                impl_ptr impl) {
    const auto& terms = impl->settings();
    const auto c =
        std::make_shared<detail::call<std::optional<contender>>>(terms.client, std::move(h));
    c->repeatable();
    c->on_answer = [](const native::reply& r) -> error_code {
        const auto problem = detail::zookeeper_error(r.rc);
        return problem == zk_errc::no_node ? error_code() : problem;
    };
    c->start(detail::requests::get{terms.path}, [impl](const native::reply& r) {
        const auto& t = impl->settings();
        return std::tuple(holder_in(r, rules::without(t.client->root(), t.path)));
    });
}

void simple_mutex::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl,
                                contender whom) {
    detail::change_holder(impl, std::move(h), whom, detail::holder_change::revoke);
}

void simple_mutex::start_kick(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::change_holder(impl, std::move(h), whom, detail::holder_change::kick);
}

} // namespace paddock
