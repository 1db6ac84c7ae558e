#include "locks/attempt.hpp"
#include "locks/contenders.hpp"
#include "locks/line_lock.hpp"
#include "rules/names.hpp"
#include "rules/paths.hpp"
#include "support/argument.hpp"

#include <paddock/mutex.hpp>

#include <utility>

namespace paddock {

namespace {

void check(std::string_view path, const mutex_options& options) {
    constexpr std::size_t longest =
        512; // of the data, the path of a node must stay far below 1 MiB
    if (const auto fault = rules::path_fault(path); !fault.empty())
        throw bad_argument("mutex path", path, fault);
    if (path == "/" || path == "/zookeeper" || path.starts_with("/zookeeper/"))
        throw bad_argument("mutex path", path, "is reserved by ZooKeeper");
    if (const auto fault = rules::name_fault(options.name); !fault.empty())
        throw bad_argument("mutex_options::name", options.name, fault);
    if (rules::reserved(options.name))
        throw bad_argument("mutex_options::name", options.name,
                           "contains a name that recipes reserve");
    if (path.size() > longest || options.name.size() > longest)
        throw bad_argument("mutex path or name", "is longer than 512 bytes");
    if (options.acl.empty()) throw bad_argument("mutex_options::acl", "is empty");
    if (const auto fault = rules::utf8_fault(options.label); !fault.empty())
        throw bad_argument("mutex_options::label", fault);
    if (options.label.size() > 16 * 1024)
        throw bad_argument("mutex_options::label", "is longer than 16 KiB");
}

std::shared_ptr<const detail::line_lock> make_impl(const client& zk, std::string_view path,
                                                   mutex_options options) {
    check(path, options);
    return std::make_shared<detail::line_lock>(
        detail::line_lock{.client = zk.core(),
                          .directory = rules::below(zk.core()->root(), path),
                          .names = rules::naming(options.name),
                          .data = detail::metadata(options.label),
                          .acl = std::move(options.acl),
                          .persistent_parents = options.persistent_parents,
                          .sync_first = options.sync_first,
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

void mutex::start_contenders(detail::handler<void(error_code, std::vector<contender>)> h,
                             impl_ptr impl) {
    detail::find_contenders(std::move(impl), std::move(h));
}

} // namespace paddock
