#include "client/hold.hpp"
#include "client/pending_call.hpp"
#include "support/argument.hpp"

#include <paddock/guard.hpp>

#include <utility>

namespace paddock {

guard::guard(hold_ptr hold) noexcept : hold_(std::move(hold)) {}

guard::~guard() {
    if (!hold_) return;
    const auto client = hold_->client(); // another thread may destroy the hold at once
    client->release_later(std::move(hold_));
}

guard& guard::operator=(guard&& other) noexcept {
    guard moved(std::move(other)); // `other` may be this guard
    std::swap(hold_, moved.hold_);
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

bool guard::has_token() const noexcept { return fencing_token().zxid != 0; }

asio::any_io_executor guard::executor() const noexcept {
    return hold_ ? hold_->client()->get_executor() : asio::any_io_executor();
}

namespace {

using hold_ptr = std::shared_ptr<detail::hold>;

template <typename... Result>
void start_wait(detail::handler<void(error_code, Result...)> h, hold_ptr held,
                void (detail::hold::*wait)(detail::client_call_ptr<Result...>)) {
    const auto call = detail::make_pending_call(held->client(), std::move(h));
    call->start([held = std::move(held), call, wait] { ((*held).*wait)(call); });
}

} // namespace

void guard::release(const hold_ptr& held) {
    held->client()->post([held] { held->release(); });
}

void guard::start_lost(detail::handler<void(error_code, error_code)> h, hold_ptr held) {
    start_wait<error_code>(std::move(h), std::move(held), &detail::hold::when_ended);
}

void guard::start_revoke_requested(detail::handler<void(error_code)> h, hold_ptr held) {
    start_wait<>(std::move(h), std::move(held), &detail::hold::when_revoke_requested);
}

void guard::start_downgrade(detail::handler<void(error_code)> h, hold_ptr held) {
    if (!held->can_downgrade())
        return detail::make_pending_call(held->client(), std::move(h))
            ->fail(refused_argument("guard", "is not the exclusive hold of a shared_mutex"));
    start_wait<>(std::move(h), std::move(held), &detail::hold::downgrade);
}

void guard::start_upgrade(detail::handler<void(error_code)> h, hold_ptr held) {
    detail::make_pending_call(held->client(), std::move(h))->fail(errc::would_deadlock);
}

void guard::start_unlock(detail::handler<void(error_code)> h, guard whole) {
    const auto call = detail::make_pending_call(whole.hold_->client(), std::move(h));
    // If the call is cancelled before that, the destruction of the work releases its guard.
    call->start([call, whole = std::move(whole)]() mutable {
        call->client()->run_pending_releases(); // an earlier release comes first
        const auto held = std::move(whole.hold_);
        const bool was_lost = held->ended() || !held->valid();
        const bool lease_alive = held->lease_alive();
        call->client()->draining().release_begins();
        held->give_up();
        const auto finish = [call](error_code why) {
            call->complete(why);
            call->client()->draining().release_ends();
        };
        const error_code lost = was_lost ? errc::lock_lost : error_code();
        if (!lease_alive) return finish(errc::lock_lost);
        held->when_deleted([finish, lost](error_code why) {
            if (why == errc::node_deleted) why = errc::lock_lost;
            finish(lost ? lost : why);
        });
    });
}

void guard::start_verify(detail::handler<void(error_code)> h, hold_ptr held) {
    held->start_verify(std::move(h));
}

void guard::start_transaction(detail::handler<void(error_code, std::vector<operation_result>)> h,
                              hold_ptr held, std::vector<operation> steps) {
    held->start_transaction(std::move(h), std::move(steps));
}

} // namespace paddock
