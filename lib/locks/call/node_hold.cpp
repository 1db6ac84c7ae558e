#include "locks/call/node_hold.hpp"

#include "session/call.hpp"
#include "session/operations.hpp"

#include <utility>

namespace paddock::detail {

node_hold::node_hold(std::shared_ptr<core> client, std::shared_ptr<held_resource> resource,
                     std::shared_ptr<const counted_lock> counted, std::string full_path,
                     std::size_t lock_size, const fencing_token& token, bool can_downgrade)
    : hold(client, client->lease().term(), std::move(resource), std::move(counted), token,
           can_downgrade)
    , core_(std::move(client))
    , full_path_(std::move(full_path))
    , lock_size_(lock_size) {
    core_->lease().keep(*this);
}

std::string_view node_hold::path() const noexcept {
    return std::string_view(full_path()).substr(core_->root().size());
}

void node_hold::on_end() {
    unlink();
    if (reason() == errc::lease_lapsed) core_->lease().explain_lapse();
}

std::vector<operation> node_hold::checks() const {
    std::vector<operation> steps{op::check{full_path(), any_version}};
    for (const auto& other : more_nodes_)
        steps.emplace_back(op::check{other, any_version});
    return steps;
}

void node_hold::downgraded(const std::string& full_path) {
    shared_path_ = full_path;
    hold::downgraded();
}

void node_hold::start_verify(handler<void(error_code)> h) {
    const auto held = self();
    const auto c = std::make_shared<call<>>(core_, std::move(h));
    c->repeatable();
    const auto path = std::make_shared<std::string>();
    const auto what = std::make_shared<request>();
    c->on_answer = [held, path](const native::reply& r) -> error_code {
        const auto problem = zookeeper_error(r.rc);
        if (problem != zk_errc::no_node) return problem;
        if (*path != held->full_path()) return {}; // a downgrade has replaced the node
        held->end(errc::node_deleted);
        return errc::lock_lost;
    };
    c->start(
        what, [](const native::reply&) { return std::tuple<>(); },
        [held, path, what] {
            if (!held->valid()) return error_code(errc::lock_lost);
            *path = held->full_path();
            *what = requests::multi{held->checks()};
            // A semaphore's hold may have thousands of nodes.
            return fault(*held->core_, *what);
        });
}

void node_hold::start_transaction(handler<void(error_code, std::vector<operation_result>)> h,
                                  std::vector<operation> steps) {
    const auto c = std::make_shared<call<std::vector<operation_result>>>(core_, std::move(h));
    if (const auto problem = fault(*core_, steps)) return c->refuse(problem);
    const auto& root = core_->root();
    steps = below(root, std::move(steps));
    const auto held = self();
    const auto path = full_path();
    const auto checks = this->checks();
    const auto first = checks.size(); // the index of the caller's first step
    steps.insert(steps.begin(), checks.begin(), checks.end());
    const request what = requests::multi{std::move(steps)};
    if (const auto problem = fault(*core_, what)) return c->refuse(problem);
    c->on_answer = [held, path, first](const native::reply& r) -> error_code {
        --held->unsettled_;
        const auto problem = zookeeper_error(r.rc);
        const bool ours = r.refused_step >= 0 && static_cast<std::size_t>(r.refused_step) < first;
        if (problem != zk_errc::no_node || !ours) return problem;
        if (path == held->full_path()) held->end(errc::node_deleted);
        return errc::lock_lost;
    };
    c->start(
        what,
        [held, first](const native::reply& r) {
            return std::tuple(without(held->core_->root(), r.results.subspan(first)));
        },
        [held] {
            if (!held->valid()) return error_code(errc::lock_lost);
            ++held->unsettled_; // until an answer comes, which a lost connection may prevent
            return error_code();
        });
}

} // namespace paddock::detail
