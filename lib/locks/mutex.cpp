#include "locks/attempt.hpp"
#include "locks/check.hpp"
#include "locks/contenders.hpp"
#include "locks/line_lock.hpp"
#include "locks/queued.hpp"
#include "locks/revoke.hpp"
#include "rules/names.hpp"
#include "rules/paths.hpp"
#include "support/argument.hpp"

#include <paddock/mutex.hpp>

#include <utility>

namespace paddock {

namespace {

void check(std::string_view path, const mutex_options& options) {
    detail::check_lock_path("mutex path", path);
    if (const auto fault = rules::name_fault(options.name); !fault.empty())
        throw bad_argument("mutex_options::name", options.name, fault);
    if (rules::reserved(options.name))
        throw bad_argument("mutex_options::name", options.name,
                           "contains a name that recipes reserve");
    if (options.name.size() > 512)
        throw bad_argument("mutex_options::name", "is longer than 512 bytes");
    if (options.naming != naming::curator && options.name != "lock")
        throw bad_argument("mutex_options::naming", "is for the name 'lock' only");
    detail::check_acl("mutex_options::acl", options.acl);
    detail::check_text("mutex_options::label", options.label);
}

std::shared_ptr<const detail::line_lock> make_impl(const client& zk, std::string_view path,
                                                   mutex_options options) {
    check(path, options);
    const bool kazoo = options.naming == naming::kazoo;
    return std::make_shared<detail::line_lock>(
        detail::line_lock{.client = zk.core(),
                          .directory = rules::below(zk.core()->root(), path),
                          .names = rules::naming(options.name),
                          .style = kazoo ? rules::style::kazoo : rules::style::curator,
                          .data = detail::metadata(options.label),
                          .acl = std::move(options.acl),
                          .persistent_parents = options.persistent_parents,
                          .sync_first = options.sync_first,
                          .revocable = options.revocable,
                          .on_expiry = options.on_expiry,
                          .on_over_budget = options.on_over_budget});
}

using detail::attempt;

} // namespace

mutex::mutex(const client& zk, std::string_view path, mutex_options options)
    : impl_(make_impl(zk, path, std::move(options))) {}

mutex::mutex(const client& zk, std::string_view path) : mutex(zk, path, mutex_options()) {}

asio::any_io_executor mutex::get_executor() const { return impl_->client->get_executor(); }

void mutex::start_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<attempt>(std::move(impl), std::move(h), attempt::kind::wait)
        ->launch(std::nullopt);
}

void mutex::start_try_lock(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<attempt>(std::move(impl), std::move(h), attempt::kind::only_if_free)
        ->launch(std::nullopt);
}

void mutex::start_try_lock_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                               std::chrono::nanoseconds limit) {
    std::make_shared<attempt>(std::move(impl), std::move(h), attempt::kind::wait)->launch(limit);
}

void mutex::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::ask_back(std::move(impl), std::move(h), std::move(whom.path));
}

void mutex::start_kick(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::kick(std::move(impl), std::move(h), std::move(whom.path));
}

void mutex::start_enqueue(detail::handler<void(error_code, ticket)> h, impl_ptr impl) {
    detail::enqueue(std::move(impl), std::move(h));
}

void mutex::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                             impl_ptr impl) {
    detail::find_contenders(std::move(impl), std::move(h));
}

} // namespace paddock
