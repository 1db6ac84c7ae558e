#include "locks/contenders.hpp"
#include "locks/queued.hpp"
#include "support/argument.hpp"

#include <paddock/ticket.hpp>

#include <utility>

namespace paddock {

ticket::ticket(std::shared_ptr<detail::queued> place) noexcept : queued_(std::move(place)) {}

ticket::~ticket() {
    if (!queued_) return;
    auto* const client = queued_->lock()->client.get();
    client->give_back(std::move(queued_));
}

ticket& ticket::operator=(ticket&& other) noexcept {
    ticket taken(std::move(other)); // which may be this one
    std::swap(queued_, taken.queued_);
    return *this;
}

std::size_t ticket::position() const noexcept { return queued_ ? queued_->position() : 0; }

asio::any_io_executor ticket::executor() const {
    if (!queued_) throw bad_argument("ticket", "is empty: it has no place in a line");
    return queued_->lock()->client->get_executor();
}

void ticket::start_holder(detail::handler<void(error_code, std::optional<contender>)> h,
                          queued_ptr place) {
    detail::find_holder(place->lock(), std::move(h));
}

void ticket::start_next_change(detail::handler<void(error_code, std::size_t)> h, queued_ptr place) {
    const auto& client = place->lock()->client;
    const auto who = std::make_shared<detail::queued::watcher>(
        detail::queued::watcher{{client->get_executor(), std::move(h)}});
    who->user.on_cancel([weak = std::weak_ptr(who), place, client] {
        if (const auto self = weak.lock()) client->post([place, self] { place->forget(self); });
    });
    client->post([place, who, seen = place->position()] { place->when_changed(who, seen); });
}

void ticket::start_acquired(detail::handler<void(error_code, guard)> h, ticket whole) {
    const auto place = std::move(whole.queued_);
    const auto& client = place->lock()->client;
    detail::bridge<error_code, guard> user(client->get_executor(), std::move(h));
    user.on_cancel([weak = std::weak_ptr(place)] {
        const auto self = weak.lock();
        if (!self) return;
        self->lock()->client->post([self] { self->leave(asio::error::operation_aborted); });
    });
    client->post([place, user = std::move(user)]() mutable { place->deliver(std::move(user)); });
}

} // namespace paddock
