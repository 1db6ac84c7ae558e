#include "client/count_lock.hpp"
#include "locks/call/arguments.hpp"
#include "locks/fair/contenders.hpp"
#include "locks/fair/fair_lock.hpp"
#include "locks/fair/next_leader.hpp"
#include "locks/fair/revoke.hpp"
#include "locks/mutex/mutex_call.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/core_of.hpp"
#include "support/argument.hpp"

#include <paddock/election.hpp>

#include <utility>

namespace paddock {

using detail::mutex_call;

namespace {

/// A leader that restores such an id would ask itself to resign again and again.
constexpr std::string_view is_a_request = "is what a request to release writes";

std::shared_ptr<const detail::fair_lock> make_impl(const client& zk, std::string_view path,
                                                   election_options options) {
    const auto& core = detail::core_of(zk);
    detail::check_path("election path", path);
    detail::check_acl(*core, "election_options::acl", options.acl);
    detail::check_text("election_options::id", options.id);
    if (options.id == rules::revoke_message)
        throw bad_argument("election_options::id", options.id, is_a_request);
    detail::check_choices("election_options", options.on_expiry, options.on_over_budget);
    detail::check_hold_limit("election_options", options.hold_limit);
    const auto directory = rules::below(core->root(), path);
    auto counted = detail::count_lock(*core, "election_options", options.group, directory,
                                      lock_kind::election, options.id);
    return std::make_shared<detail::fair_lock>(
        detail::fair_lock{.client = core,
                          .directory = directory,
                          .names = rules::naming::of_election(),
                          .nodes = std::make_shared<const detail::node_terms>(
                              detail::metadata::verbatim(std::move(options.id)),
                              std::move(options.acl), options.persistent_parents),
                          .revocable = options.revocable,
                          .on_expiry = options.on_expiry,
                          .on_over_budget = options.on_over_budget,
                          .hold_limit = options.hold_limit,
                          .counted = std::move(counted)});
}

} // namespace

election::election(const client& zk, std::string_view path, election_options options)
    : impl_(make_impl(zk, path, std::move(options))) {}

election::election(const client& zk, std::string_view path)
    : election(zk, path, election_options()) {}

election::executor_type election::get_executor() const noexcept {
    return impl_ ? impl_->client->get_executor() : executor_type();
}

void election::start_campaign(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), mutex_call::kind::wait)
        ->start(std::nullopt);
}

void election::start_try_campaign(detail::handler<void(error_code, guard)> h, impl_ptr impl) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), mutex_call::kind::immediate)
        ->start(std::nullopt);
}

void election::start_try_campaign_for(detail::handler<void(error_code, guard)> h, impl_ptr impl,
                                      std::chrono::nanoseconds limit) {
    std::make_shared<mutex_call>(std::move(impl), std::move(h), mutex_call::kind::wait)
        ->start(limit);
}

void election::start_set_id(detail::handler<void(error_code)> h, impl_ptr impl, hold_ptr of,
                            std::string id) {
    const auto held = std::dynamic_pointer_cast<detail::node_hold>(std::move(of));
    const auto c = std::make_shared<detail::call<>>(impl->client, std::move(h));
    const bool here = held && held->client() == impl->client &&
                      rules::parent(held->full_path()) == impl->directory &&
                      impl->names.read(rules::name_of(held->full_path()));
    if (!here) return c->refuse(refused_argument("guard", "is not of this election"));
    if (const auto why = rules::utf8_fault(id); !why.empty())
        return c->refuse(refused_argument("id", rules::without_place(why)));
    if (id.size() > detail::longest_text)
        return c->refuse(refused_argument("id", "is longer than 16 KiB"));
    if (id == rules::revoke_message) return c->refuse(refused_argument("id", is_a_request));
    c->on_answer = [held, impl, id](const native::reply& r) -> error_code {
        const auto problem = detail::zookeeper_error(r.rc);
        if (!problem) detail::queue_of(*impl)->data_changed(held->full_path(), id);
        if (problem != zk_errc::no_node) return problem;
        held->end(errc::node_deleted);
        return errc::lock_lost;
    };
    c->start(
        detail::requests::set{held->full_path(), id},
        [](const native::reply&) { return std::tuple<>(); },
        [held] { return held->valid() ? error_code() : error_code(errc::lock_lost); });
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

void election::start_revoke(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::request_revoke(std::move(impl), std::move(h), whom.path);
}

void election::start_kick(detail::handler<void(error_code)> h, impl_ptr impl, contender whom) {
    detail::kick(std::move(impl), std::move(h), whom.path);
}

} // namespace paddock
