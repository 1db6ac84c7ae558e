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
using listener_ptr = detail::hold::listener_ptr;

void listen(detail::handler<void(error_code)> h, hold_ptr held,
            void (detail::hold::*enter)(listener_ptr)) {
    auto* const client = held->client().get();
    const auto who = std::make_shared<detail::hold::listener>(
        detail::hold::listener{detail::bridge<error_code>(client->get_executor(), std::move(h))});
    who->user.on_cancel([weak = std::weak_ptr(who), client = held->client()] {
        const auto self = weak.lock();
        if (!self) return;
        client->post([self] {
            if (self->user) self->user.complete(asio::error::operation_aborted);
        });
    });
    client->post([held = std::move(held), who, enter] { ((*held).*enter)(who); });
}

} // namespace

void guard::start_lost(detail::handler<void(error_code)> h, hold_ptr held) {
    listen(std::move(h), std::move(held), &detail::hold::when_over);
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

void guard::start_unlock(detail::handler<void(error_code)> h, guard whole) {
    detail::unlock(std::move(whole.hold_), std::move(h));
}

namespace {

/// What is refused when the hold is lost.
std::vector<operation> checks(const detail::hold& held) {
    std::vector<operation> all{op::check{held.full_path(), any_version}};
    for (const auto& other : held.others())
        all.push_back(op::check{other, any_version});
    return all;
}

} // namespace

void guard::start_verify(detail::handler<void(error_code)> h, hold_ptr held) {
    const auto c = std::make_shared<detail::call<>>(held->client(), std::move(h));
    c->repeatable();
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
            return table.multi(checks(*held), std::move(done));
        },
        [](const native::reply&) { return std::tuple<>(); },
        [held] { return held->over() ? error_code(errc::lock_lost) : error_code(); });
}

void guard::start_transaction(detail::handler<void(error_code, std::vector<operation_result>)> h,
                              hold_ptr held, std::vector<operation> steps) {
    const auto c =
        std::make_shared<detail::call<std::vector<operation_result>>>(held->client(), std::move(h));
    if (const auto problem = detail::fault(steps)) return c->refuse(problem);
    const auto& root = held->client()->root();
    steps = detail::below(root, std::move(steps));
    const auto path = held->full_path();
    const auto first = checks(*held);
    const auto own = first.size();
    steps.insert(steps.begin(), first.begin(), first.end());
    c->on_answer = [held, path, own](const native::reply& r) -> error_code {
        const auto problem = detail::zookeeper_error(r.rc);
        const bool of_hold = r.refused_step >= 0 && r.refused_step < static_cast<int>(own);
        if (problem != zk_errc::no_node || !of_hold) return problem;
        if (path == held->full_path()) held->end(errc::node_deleted);
        return errc::lock_lost;
    };
    c->launch(
        [steps = std::move(steps)](native::calls& table, std::unique_ptr<native::completion> done) {
            return table.multi(steps, std::move(done));
        },
        [held, own](const native::reply& r) {
            return std::tuple(detail::without(held->client()->root(), r.results.subspan(own)));
        },
        [held] { return held->over() ? error_code(errc::lock_lost) : error_code(); });
}

} // namespace paddock
