#include "locks/hold.hpp"
#include "locks/unlock.hpp"
#include "session/call.hpp"
#include "session/operations.hpp"
#include "support/argument.hpp"

#include <paddock/guard.hpp>

#include <utility>

namespace paddock {

guard::guard(std::shared_ptr<detail::hold> hold) noexcept : hold_(std::move(hold)) {}

guard::~guard() {
    if (!hold_) return;
    auto* const client = hold_->client().get();
    client->give_back(std::move(hold_));
}

guard& guard::operator=(guard&& other) noexcept {
    guard taken(std::move(other)); // which may be this one
    std::swap(hold_, taken.hold_);
    return *this;
}

bool guard::valid() const noexcept { return hold_ && hold_->valid(); }

boot_clock::time_point guard::valid_until() const noexcept {
    return hold_ ? hold_->valid_until() : boot_clock::time_point();
}

std::string_view guard::path() const noexcept { return hold_ ? hold_->path() : std::string_view(); }

fencing_token guard::fencing_token() const noexcept {
    return hold_ ? hold_->token() : paddock::fencing_token{};
}

asio::any_io_executor guard::executor() const {
    if (!hold_) throw bad_argument("guard", "is empty: there is no hold to wait for");
    return hold_->client()->get_executor();
}

namespace {

using hold_ptr = std::shared_ptr<detail::hold>;

void listen(detail::handler<void(error_code)> h, hold_ptr held,
            void (detail::hold::*enter)(detail::listener_ptr)) {
    auto* const client = held->client().get();
    const auto who = detail::make_listener(held->client(), std::move(h));
    client->post([held = std::move(held), who, enter] { ((*held).*enter)(who); });
}

} // namespace

void guard::start_lost(detail::handler<void(error_code)> h, hold_ptr held) {
    listen(std::move(h), std::move(held),
           static_cast<void (detail::hold::*)(detail::listener_ptr)>(&detail::hold::when_over));
}

void guard::start_revoke_requested(detail::handler<void(error_code)> h, hold_ptr held) {
    listen(std::move(h), std::move(held), &detail::hold::when_asked_back);
}

void guard::start_downgrade(detail::handler<void(error_code)> h, hold_ptr held) {
    if (!held->can_downgrade())
        return std::make_shared<detail::call<>>(held->client(), std::move(h))
            ->refuse(errc::bad_argument);
    listen(std::move(h), std::move(held), &detail::hold::downgrade);
}

void guard::start_upgrade(detail::handler<void(error_code)> h, hold_ptr held) {
    std::make_shared<detail::call<>>(held->client(), std::move(h))->refuse(errc::would_deadlock);
}

void guard::start_unlock(detail::handler<void(error_code)> h, guard whole) {
    detail::unlock(std::move(whole.hold_), std::move(h));
}

void guard::start_verify(detail::handler<void(error_code)> h, hold_ptr held) {
    const auto c = std::make_shared<detail::call<>>(held->client(), std::move(h));
    c->repeatable();
    c->asks(detail::answered_by::quorum);
    const auto path = std::make_shared<std::string>();
    c->on_answer = [held, path](const native::reply& r) -> error_code {
        const auto problem = detail::zookeeper_error(r.rc);
        if (problem != zk_errc::no_node) return problem;
        if (*path != held->full_path()) return {}; // the downgrade found it there
        held->end(errc::node_deleted);
        return errc::lock_lost;
    };
    c->launch(
        [held, path](native::calls& table, std::unique_ptr<native::completion> done) {
            *path = held->full_path();
            return table.multi(held->checks(), std::move(done));
        },
        [](const native::reply&) { return std::tuple<>(); },
        [held] { return held->valid() ? error_code() : error_code(errc::lock_lost); });
}

void guard::start_transaction(detail::handler<void(error_code, std::vector<operation_result>)> h,
                              hold_ptr held, std::vector<operation> steps) {
    const auto c =
        std::make_shared<detail::call<std::vector<operation_result>>>(held->client(), std::move(h));
    if (const auto problem = detail::fault(steps)) return c->refuse(problem);
    c->asks(detail::answered_by::quorum);
    const auto& root = held->client()->root();
    steps = detail::below(root, std::move(steps));
    const auto path = held->full_path();
    const auto checks = held->checks();
    const auto first = checks.size(); // of the caller's steps
    steps.insert(steps.begin(), checks.begin(), checks.end());
    c->on_answer = [held, path, first](const native::reply& r) -> error_code {
        const auto problem = detail::zookeeper_error(r.rc);
        const bool ours = r.refused_step >= 0 && static_cast<std::size_t>(r.refused_step) < first;
        if (problem != zk_errc::no_node || !ours) return problem;
        if (path == held->full_path()) held->end(errc::node_deleted);
        return errc::lock_lost;
    };
    c->launch(
        [steps = std::move(steps)](native::calls& table, std::unique_ptr<native::completion> done) {
            return table.multi(steps, std::move(done));
        },
        [held, first](const native::reply& r) {
            return std::tuple(detail::without(held->client()->root(), r.results.subspan(first)));
        },
        [held] { return held->valid() ? error_code() : error_code(errc::lock_lost); });
}

} // namespace paddock
