#include "locks/call/arguments.hpp"
#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/fair/next_leader.hpp"
#include "locks/mutex/mutex_call.hpp"
#include "rules/paths.hpp"

#include <paddock/election.hpp>

#include <utility>

namespace paddock {

namespace {

std::shared_ptr<const detail::fair_lock> make_impl(const client& zk, std::string_view path,
                                                   election_options options) {
    detail::check_path("election path", path);
    detail::check_acl("election_options::acl", options.acl);
    detail::check_text("election_options::id", options.id);
    const auto& core = detail::access::core_of(zk);
    return std::make_shared<detail::fair_lock>(
        detail::fair_lock{.client = core,
                          .directory = rules::below(core->root(), path),
                          .names = rules::naming::of_election(),
                          .data = detail::metadata::verbatim(std::move(options.id)),
                          .acl = std::move(options.acl),
                          .persistent_parents = options.persistent_parents,
                          .on_expiry = options.on_expiry,
                          .on_over_budget = options.on_over_budget});
}

} // namespace

election::election(const client& zk, std::string_view path, election_options options)
    : impl_(make_impl(zk, path, std::move(options))) {}

election::election(const client& zk, std::string_view path)
    : election(zk, path, election_options()) {}

asio::any_io_executor election::get_executor() const { return impl_->client->get_executor(); }

void election::start_campaign(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<detail::mutex_call>(std::move(impl), std::move(h),
                                         detail::mutex_call::kind::wait)
        ->start(std::nullopt);
}

void election::start_leader(detail::handler<void(error_code, std::optional<contender>)> h,
                            impl_ptr impl) {
    detail::find_holder(std::move(impl), std::move(h));
}

void election::start_participants(detail::handler<void(error_code, std::vector<contender>)> h,
                                  impl_ptr impl) {
    detail::find_contenders(std::move(impl), std::move(h));
}

void election::start_next_leader(detail::handler<void(error_code, std::optional<contender>)> h,
                                 impl_ptr impl, fencing_token seen) {
    detail::find_next_leader(std::move(impl), std::move(h), seen);
}

} // namespace paddock
