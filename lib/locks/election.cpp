#include "locks/arguments.hpp"
#include "locks/attempt.hpp"
#include "locks/contenders.hpp"
#include "locks/leader_watch.hpp"
#include "locks/line_lock.hpp"
#include "rules/paths.hpp"

#include <paddock/election.hpp>

#include <utility>

namespace paddock {

namespace {

std::shared_ptr<const detail::line_lock> make_impl(const client& zk, std::string_view path,
                                                   election_options options) {
    detail::check_path("election path", path);
    detail::check_acl("election_options::acl", options.acl);
    detail::check_text("election_options::id", options.id);
    return std::make_shared<detail::line_lock>(
        detail::line_lock{.client = zk.core(),
                          .directory = rules::below(zk.core()->root(), path),
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
    std::make_shared<detail::attempt>(std::move(impl), std::move(h), detail::attempt::kind::wait)
        ->launch(std::nullopt);
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
